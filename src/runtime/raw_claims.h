/* SPDX-License-Identifier: Apache-2.0 */
/* The right to a port's raw queue pair, which one process of the host has at a time. */
#ifndef SOFTIB_RUNTIME_RAW_CLAIMS_H
#define SOFTIB_RUNTIME_RAW_CLAIMS_H

#include <stdint.h>
#include "base/attributes.h"
#include "wire/raw_packet.h"

struct adapter;

/* Before the queue pair is made. The adapter's lock is not held. -EBUSY: the port has one; -EINVAL:
 * no such port. */
MUST_USE int adapter_raw_claim(struct adapter *adapter, uint8_t port_number, enum raw_kind kind);

/* The queue pair is gone. The lock is held. */
void adapter_raw_release(struct adapter *adapter, uint8_t port_number, enum raw_kind kind);
/* Returns when other processes can have the right that was released. The lock is not held. */
void adapter_raw_settle(struct adapter *adapter);

#endif
