/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the payload of arriving packets into the consumer's memory, with L_Key checks. (RMA,
 * which needs no packets: runtime/rma/rma.h.) */
#ifndef SOFTIB_NET_TRANSPORT_PAYLOAD_SCATTER_H
#define SOFTIB_NET_TRANSPORT_PAYLOAD_SCATTER_H

#include <stdint.h>
#include "base/attributes.h"
#include "net/memory/memory.h"
#include "net/transport/work_request.h"
#include "wire/packet.h"

/* The sum of the SGEs' lengths. */
uint64_t sges_bytes(const struct sge *sges, uint32_t sge_count);

/*
 * Copies payload bytes [from, from + byte_count) into the SGEs, from offset on. Each SGE that is
 * touched is checked right before: nothing is written to memory that is not registered now. The
 * SGEs must have room. Not MEMORY_OK: part of the payload may have been written.
 */
MUST_USE enum memory_verdict payload_scatter(const struct memory *memory,
					     const struct protection_domain *pd,
					     const struct sge *sges, uint32_t sge_count,
					     uint64_t offset, const struct payload *payload,
					     size_t from, size_t byte_count);

/* Copies into one contiguous range, the last bytes after all others: programs wait for an RDMA
 * WRITE by watching its last bytes. */
void payload_write(const struct payload *payload, size_t from, size_t byte_count,
		   uint8_t *ret_bytes);
/* The same from one contiguous range; byte_count is not 0. */
void bytes_write(const uint8_t *bytes, size_t byte_count, uint8_t *ret_bytes);

#endif
