/* SPDX-License-Identifier: Apache-2.0 */
/* A host's ports as connection management sees them: finding one, its GID, P_Key and SA. */
#ifndef SOFTIB_DAEMON_CM_CM_PORT_H
#define SOFTIB_DAEMON_CM_CM_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "daemon/cm/cm_objects.h"

/* Marks the host as one with something to send, or with a new deadline. */
void cm_host_wake(struct cm_host *host);
time_ns cm_host_now(const struct cm_host *host);

/* The host's port with this endpoint, or with this GID; NULL: none. */
struct cm_port *cm_host_find_port(const struct cm_host *host, const struct endpoint *endpoint);
struct cm_port *cm_host_find_gid(const struct cm_host *host, const struct gid *gid);
/* The first Active port, or else the first port. */
struct cm_port *cm_host_first_port(const struct cm_host *host);

/* The SA client, with the SA's address and the port's GID as PortInfo has them now. */
struct sa_client *cm_port_sa(struct cm_port *port);
struct gid cm_port_gid(const struct cm_port *port);
/* The P_Key that connections use: of the default partition if the port is in it. */
uint16_t cm_port_pkey(const struct cm_port *port);
/* The index of this partition in the port's P_Key table; of the full membership if the table has
 * both. */
MUST_USE bool cm_port_pkey_index(const struct cm_port *port, uint16_t pkey, uint16_t *ret_index);

#endif
