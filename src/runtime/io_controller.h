/* SPDX-License-Identifier: Apache-2.0 */
/* An I/O controller in a slot of this program's adapter (management 6.3). Other nodes find it by
 * device management; it is pulled when the program ends. */
#ifndef SOFTIB_RUNTIME_IO_CONTROLLER_H
#define SOFTIB_RUNTIME_IO_CONTROLLER_H

#include <stdint.h>
#include "base/attributes.h"
#include "wire/device_management.h"

struct io_controller_description {
	const char *adapter; /* NULL: the first of the host */
	unsigned slot;	     /* 0: the first free one */
	/* GUID 0: made of the node's GUID and the slot. service_entries is not read. */
	struct io_controller_profile profile;
	const char *id_string;
	const struct io_service_entry *services;
	unsigned service_count;
};

/* -ENODEV: no such adapter; -EBUSY: the slot is taken; -ENOSPC: no slot is free; -EEXIST: the GUID
 * is taken; -EADDRINUSE: a service ID of the unit occurs twice; -EINVAL: no such slot, or a name
 * that is too long, empty, used twice or not printable. */
MUST_USE int io_controller_plug(const struct io_controller_description *description,
				unsigned *ret_slot, uint64_t *ret_guid);
/* -ENOENT: there is no controller in this slot of the adapter; NULL: the first adapter. */
MUST_USE int io_controller_pull(const char *adapter, unsigned slot);

#endif
