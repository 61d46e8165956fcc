/* SPDX-License-Identifier: Apache-2.0 */
/* Putting the payload of packets into the consumer's memory, under its keys, when they arrive.
 * (What goes there without packets is runtime/rma/rma.h's.) */
#ifndef SOFTIB_NET_TRANSPORT_PAYLOAD_SCATTER_H
#define SOFTIB_NET_TRANSPORT_PAYLOAD_SCATTER_H

#include <stdint.h>
#include "base/attributes.h"
#include "net/memory/memory.h"
#include "net/transport/work_request.h"
#include "wire/packet.h"

/* Bytes that the SGEs hold together. */
uint64_t sges_bytes(const struct sge *sges, uint32_t sge_count);

/*
 * Copies payload bytes [from, from + byte_count) to the place that begins offset bytes into the
 * SGEs. Every SGE touched is checked just before: nothing is written to memory that is not
 * registered now. The SGEs must have room. Not MEMORY_OK: some of it may have been written.
 */
MUST_USE enum memory_verdict payload_scatter(const struct memory *memory,
					     const struct protection_domain *pd,
					     const struct sge *sges, uint32_t sge_count,
					     uint64_t offset, const struct payload *payload,
					     size_t from, size_t byte_count);

/* Copies like payload_copy, but in a way of its own. */
typedef void payload_copier(const struct payload *payload, size_t from, size_t byte_count,
			    uint8_t *ret_bytes);

/* The same by another way of copying. */
MUST_USE enum memory_verdict payload_scatter_by(payload_copier *copy, const struct memory *memory,
						const struct protection_domain *pd,
						const struct sge *sges, uint32_t sge_count,
						uint64_t offset, const struct payload *payload,
						size_t from, size_t byte_count);

/* The same into one run of bytes, the last ones after all others: programs wait for an RDMA WRITE
 * by watching its last bytes. */
void payload_write(const struct payload *payload, size_t from, size_t byte_count,
		   uint8_t *ret_bytes);
/* The same from one run of bytes; byte_count is not 0. */
void bytes_write(const uint8_t *bytes, size_t byte_count, uint8_t *ret_bytes);

#endif
