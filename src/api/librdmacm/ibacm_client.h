/* SPDX-License-Identifier: Apache-2.0 */
/* Asks rdma-core's ibacm for path records, if it runs on this host. */
#ifndef SOFTIB_API_LIBRDMACM_IBACM_CLIENT_H
#define SOFTIB_API_LIBRDMACM_IBACM_CLIENT_H

#include <infiniband/sa.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/attributes.h"

/* An answer that takes longer is not awaited: subnet administration gives the path then. */
enum { IBACM_WAIT_MS = 1000, IBACM_PATHS_MAX = 8 };

/* The first paths from source to destination (AF_INET, AF_INET6). tree: the host's files, with
 * ibacm's port or socket in run/. is_cached_only: ibacm is to look in its cache only. Returns the
 * count, 0 if ibacm is not there, knows no path, is late or answers with garbage. */
MUST_USE unsigned ibacm_find_paths(const char *tree, const struct sockaddr *source,
				   const struct sockaddr *destination, bool is_cached_only,
				   struct ibv_path_data ret_paths[static IBACM_PATHS_MAX]);

#endif
