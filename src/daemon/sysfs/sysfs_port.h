/* SPDX-License-Identifier: Apache-2.0 */
/* The sysfs files of one port. */
#ifndef SOFTIB_DAEMON_SYSFS_SYSFS_PORT_H
#define SOFTIB_DAEMON_SYSFS_SYSFS_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

struct port;

enum { SYSFS_COUNTER_FILES = 21 };

/* What the files of a port contain now, so that unchanged files are not written again. */
struct sysfs_port_shown {
	bool has_counters;
	uint64_t counters[SYSFS_COUNTER_FILES];
	unsigned hash_count;
	uint64_t hashes[]; /* of each file's text, in the order of writing */
};

/* Writes below `folder` (.../ports/N), which exists. Returns the first error; the other files are
 * written anyway. */
MUST_USE int sysfs_port_create(const char *folder, const struct port *port,
			       struct sysfs_port_shown **shown);
MUST_USE int sysfs_port_write(const char *folder, const struct port *port,
			      struct sysfs_port_shown *shown);
MUST_USE int sysfs_port_write_counters(const char *folder, const struct port *port,
				       struct sysfs_port_shown *shown);

#endif
