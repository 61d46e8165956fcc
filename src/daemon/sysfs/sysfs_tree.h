/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a host that programs read behind the libraries' back: sys/class/infiniband...,
 * dev/infiniband... */
#ifndef SOFTIB_DAEMON_SYSFS_SYSFS_TREE_H
#define SOFTIB_DAEMON_SYSFS_SYSFS_TREE_H

#include "base/attributes.h"
#include "host/control.h"

struct daemon;
struct endpoint;
struct host;

enum { SYSFS_PATH_BYTES = CONTROL_PATH_BYTES + 256 };

/* <runtime>/<fabric>/hosts/<host>. */
void sysfs_tree_path(const struct daemon *daemon, const struct host *host,
	       char ret_path[static SYSFS_PATH_BYTES]);

/* Renders a host's files if they are not there. -errno: nothing half done stays. */
MUST_USE int sysfs_tree_render(struct daemon *daemon, struct host *host);

/* Writes what PortInfo and the tables say now, where the files are rendered. */
void sysfs_tree_update_port(struct daemon *daemon, struct endpoint *endpoint);

/* Writes the counters of a host's ports. */
void sysfs_tree_update_counters(struct daemon *daemon, const struct host *host);

#endif
