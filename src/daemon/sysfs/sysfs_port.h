/* SPDX-License-Identifier: Apache-2.0 */
/* The sysfs files of one port. */
#ifndef SOFTIB_DAEMON_SYSFS_SYSFS_PORT_H
#define SOFTIB_DAEMON_SYSFS_SYSFS_PORT_H

#include <stdint.h>
#include "base/attributes.h"

struct port;

/* What the files of a port contain now, so that unchanged files are not written again. */
struct sysfs_port_shown {
	unsigned hash_count;
	uint64_t hashes[]; /* of each file's text, in the order of writing */
};

/* Writes below `folder` (.../ports/N), which exists. Returns the first error; the other files are
 * written anyway. */
MUST_USE int sysfs_port_create(const char *folder, const struct port *port,
			       struct sysfs_port_shown **shown);
MUST_USE int sysfs_port_write(const char *folder, const struct port *port,
			      struct sysfs_port_shown *shown);
MUST_USE int sysfs_port_write_counters(const char *folder, const struct port *port);

#endif
