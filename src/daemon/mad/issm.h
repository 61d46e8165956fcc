/* SPDX-License-Identifier: Apache-2.0 */
/* IsSM is set in a port's capability mask for as long as a subnet manager on its host holds the
 * port's issm device open (vol 1, chapter 14; management 8.3; abi 8.4). */
#ifndef SOFTIB_DAEMON_MAD_ISSM_H
#define SOFTIB_DAEMON_MAD_ISSM_H

#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "daemon/core/host_table.h"

struct daemon_core;
struct issm_watches;

/* On error subnet managers of hosts are not noticed. */
MUST_USE int issm_start(struct daemon_core *core, struct issm_watches **ret_watches);
void issm_stop(struct issm_watches *watches);

/* Watches the issm device of this port, which exists at this path now. Called again when the host's
 * files are made again. */
void issm_watch_port(struct issm_watches *watches, struct endpoint *endpoint, const char *path);

/* Counts the managers of a port: the first sets IsSM, the last clears it. */
void issm_hold(struct daemon_core *core, struct endpoint *endpoint);
void issm_release(struct daemon_core *core, struct endpoint *endpoint);

#endif
