/* SPDX-License-Identifier: Apache-2.0 */
/* The sysfs tree that softib renders for a host, as libibumad reads it. */
#ifndef SOFTIB_API_LIBIBUMAD_UMAD_SYSFS_H
#define SOFTIB_API_LIBIBUMAD_UMAD_SYSFS_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

enum { UMAD_SYSFS_TEXT_BYTES = 64 };

/* Root of the tree: root + "/sys/class/infiniband" is the list of adapters. SOFTIB_TREE, else what
 * the fabric of this process says. */
const char *umad_sysfs_root(void);

/* First line of <root>/sys/class/<path>, the path made as by printf. 0 or -errno; an unreadable
 * file gives "". */
__attribute__((format(printf, 2, 3))) int umad_sysfs_read_text(char ret_text[static UMAD_SYSFS_TEXT_BYTES],
							 const char *format, ...);

/* The number that a line starts with ("0x1f", "4: ACTIVE", "2.5 Gb/sec"); 0 where there is none. */
uint64_t umad_sysfs_number(const char *text);

/* Sixteen-bit hexadecimal groups parted by colons, as GUIDs and GIDs are written; 0 or -EINVAL. */
MUST_USE int umad_sysfs_parse_groups(const char *text, size_t group_count, uint16_t ret_groups[]);

#endif
