/* SPDX-License-Identifier: Apache-2.0 */
/* The VPD memories of a baseboard: one of the module, one of the chassis. They are EEPROMs on the
 * IB-ML bus, reached by ReadVPD and WriteVPD or by raw bus transfers (management 6.2). */
#ifndef SOFTIB_MGMT_AGENTS_BASEBOARD_VPD_H
#define SOFTIB_MGMT_AGENTS_BASEBOARD_VPD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "wire/baseboard.h"

struct node;

enum { VPD_BYTES = 512, VPD_COUNT = 2 };

/* The memory is busy that long after a write. */
#define VPD_WRITE_TIME MILLISECONDS(5)

struct vpd {
	bool is_protected;
	uint16_t pointer; /* where a raw transfer goes on */
	time_ns busy_until;
	char bytes[VPD_BYTES];
};

/* The first contents: lines KEY=VALUE about the node. */
void vpd_init_module(struct vpd *vpd, const struct node *node);
void vpd_init_chassis(struct vpd *vpd, const struct node *node);

/* 1 to bytes_max bytes. Changes nothing unless it returns BASEBOARD_OK. */
MUST_USE enum baseboard_status vpd_read(struct vpd *vpd, time_ns now, size_t offset, size_t count,
					size_t bytes_max, uint8_t *ret_bytes);
MUST_USE enum baseboard_status vpd_write(struct vpd *vpd, time_ns now, size_t offset, size_t count,
					 size_t bytes_max, const uint8_t *bytes);

#endif
