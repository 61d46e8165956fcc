/* SPDX-License-Identifier: Apache-2.0 */
/* The files of one port in the rendered tree. */
#ifndef SOFTIB_DAEMON_SYSFS_SYSFS_PORT_H
#define SOFTIB_DAEMON_SYSFS_SYSFS_PORT_H

#include <stdint.h>
#include "base/attributes.h"

struct port;

/* What the files of a port say, so that only those are written that would say something else. */
struct sysfs_port_shown {
	unsigned hash_count;
	uint64_t hashes[]; /* of each file's text, in the order of writing */
};

/* Below `folder` (.../ports/N), which exists. The first error is returned, the rest is still
 * written. */
MUST_USE int sysfs_port_create(const char *folder, const struct port *port,
			       struct sysfs_port_shown **shown);
MUST_USE int sysfs_port_write(const char *folder, const struct port *port,
			      struct sysfs_port_shown *shown);
MUST_USE int sysfs_port_write_counters(const char *folder, const struct port *port);

#endif
