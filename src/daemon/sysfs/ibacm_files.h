/* SPDX-License-Identifier: Apache-2.0 */
/* The files that rdma-core's ibacm reads and writes on a host. */
#ifndef SOFTIB_DAEMON_SYSFS_IBACM_FILES_H
#define SOFTIB_DAEMON_SYSFS_IBACM_FILES_H

#include "base/attributes.h"

struct host;

/* Writes etc/rdma/ibacm_addr.cfg and ibacm_opts.cfg below the host's tree, and makes the folders of
 * ibacm's socket, lock file and log. 0 or -errno. */
MUST_USE int ibacm_files_write(const struct host *host, const char *root);

#endif
