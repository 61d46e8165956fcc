/* SPDX-License-Identifier: Apache-2.0 */
/* QP0 and QP1 of one port of a host, for the MADs of this process. */
#ifndef SOFTIB_CLI_HOST_PORT_H
#define SOFTIB_CLI_HOST_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "runtime/mad_port.h"

struct host_port {
	const char *user; /* the subcommand, for messages */
	int socket;
	uint64_t port_guid;
	uint8_t port_number;
	char adapter[20]; /* softib0 */
	char name[64];	  /* h1 softib0:1 */
	char folder[400]; /* of the fabric */
	char tree[400];	  /* of the host's files */
};

/* user: the subcommand, for messages. port_guid 0: the first port. Prints the error and returns
 * -errno. */
MUST_USE int host_port_open(const char *user, const char *fabric, const char *host,
			    uint64_t port_guid, struct host_port *ret_port);
void host_port_close(struct host_port *port);

/* The first line of a file, at most byte_count - 1 bytes; empty if there is none. */
void host_port_read_text(const char *path, char *ret_text, int byte_count);

/* PortInfo.MasterSMLID and MasterSMSL of the port now; LID 0: no SM yet. */
void host_port_find_sa(const struct host_port *port, uint16_t *ret_lid, uint8_t *ret_sl);
/* The port's LID now; 0: none yet. */
uint16_t host_port_lid(const struct host_port *port);
/* The port's first GID. */
struct gid host_port_gid(const struct host_port *port);
/* The port's own key of this partition: the full one if it has both. false: it has none. */
MUST_USE bool host_port_own_pkey(const struct host_port *port, uint16_t pkey, uint16_t *ret_own);

#endif
