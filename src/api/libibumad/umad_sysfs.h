/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the sysfs tree that softib writes for a host. */
#ifndef SOFTIB_API_LIBIBUMAD_UMAD_SYSFS_H
#define SOFTIB_API_LIBIBUMAD_UMAD_SYSFS_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

enum { UMAD_SYSFS_TEXT_BYTES = 64 };

/* The folder above sys/class/infiniband: SOFTIB_TREE, else the tree of this process's host in its
 * fabric. */
const char *umad_sysfs_root(void);

/* Reads the first line of <root>/sys/class/<path>, with the path formatted as by printf. 0, or
 * -errno and an empty string. */
__attribute__((format(printf, 2, 3))) int
umad_sysfs_read_text(char ret_text[static UMAD_SYSFS_TEXT_BYTES], const char *format, ...);

/* The number at the start of a line ("0x1f", "4: ACTIVE", "2.5 Gb/sec"); 0: none. */
uint64_t umad_sysfs_number(const char *text);

/* Parses 16-bit hexadecimal groups separated by colons, as in GUIDs and GIDs. 0 or -EINVAL. */
MUST_USE int umad_sysfs_parse_groups(const char *text, size_t group_count, uint16_t ret_groups[]);

#endif
