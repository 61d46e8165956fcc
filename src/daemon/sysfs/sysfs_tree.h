/* SPDX-License-Identifier: Apache-2.0 */
/* The sysfs and device files of a host, which programs read without going through the libraries:
 * sys/class/infiniband..., dev/infiniband... (abi 7.1). */
#ifndef SOFTIB_DAEMON_SYSFS_SYSFS_TREE_H
#define SOFTIB_DAEMON_SYSFS_SYSFS_TREE_H

#include <stdint.h>
#include "base/attributes.h"
#include "daemon/sysfs/sysfs_file.h"

struct endpoint;
struct host;
struct issm_watches;

struct sysfs_tree {
	const char *folder;	   /* <runtime>/<fabric> */
	struct issm_watches *issm; /* NULL: subnet managers of hosts go unnoticed */
	uint32_t rendered_count;   /* hosts whose files exist */
};

/* <runtime>/<fabric>/hosts/<host>. */
void sysfs_tree_path(const struct sysfs_tree *tree, const struct host *host,
		     char ret_path[static SYSFS_PATH_BYTES]);

/* Writes a host's files if they do not exist yet. On error nothing of them stays. */
MUST_USE int sysfs_tree_render(struct sysfs_tree *tree, struct host *host);

/* Writes the present PortInfo and tables of a port, if its host's files exist. */
void sysfs_tree_update_port(struct sysfs_tree *tree, struct endpoint *endpoint);

/* Writes the counters of a host's ports that have changed. */
void sysfs_tree_update_counters(struct sysfs_tree *tree, const struct host *host);

#endif
