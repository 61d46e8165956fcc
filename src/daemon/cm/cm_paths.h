/* SPDX-License-Identifier: Apache-2.0 */
/* Path records as connections use them: addresses, address vectors, timeouts, and the IP addresses
 * in private data. */
#ifndef SOFTIB_DAEMON_CM_CM_PATHS_H
#define SOFTIB_DAEMON_CM_CM_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "daemon/cm/cm_objects.h"

/* 5-bit times: for an MRA, which asks a peer to wait for a slow program (69 s); to answer REQ and
 * LAP (4.3 s); and for our adapters to acknowledge (134 us). */
enum { CM_MRA_SERVICE_TIMEOUT = 24, CM_RESPONSE_TIMEOUT = 20, CM_ACK_DELAY = 15 };

/* The timeout that the program asked for, or else enough for the way there and back on this path,
 * and the delay with which the peer's adapter acknowledges. */
uint8_t cm_ack_timeout(const struct cm_id *id, const struct path_record *path, uint8_t ack_delay);
struct mad_address cm_path_address(const struct cm_route *route);
/* The primary path of the id's REQ. */
struct cm_path cm_path_of_req(const struct cm_id *id);
struct cm_vector cm_path_vector(const struct cm_port *port, const struct path_record *path);

/* Private data of a request: the IP header, if the id's addresses are IP, then the program's bytes.
 * Returns false if there are more than `room`. */
MUST_USE bool cm_request_private(const struct cm_id *id, size_t room,
				 struct cm_private_data private_data, uint8_t *ret_bytes,
				 size_t *ret_byte_count);

/* The id uses this port from now on. */
void cm_id_use_port(struct cm_id *id, struct cm_port *port);

#endif
