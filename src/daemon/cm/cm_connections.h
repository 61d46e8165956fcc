/* SPDX-License-Identifier: Apache-2.0 */
/* What programs do with connections, and what the engine tells of them. */
#ifndef SOFTIB_DAEMON_CM_CM_CONNECTIONS_H
#define SOFTIB_DAEMON_CM_CM_CONNECTIONS_H

#include "base/attributes.h"
#include "daemon/cm/cm_ids.h"

/* The engine's callback (cm_answers.c); the context is the host. */
void cm_connection_event(void *context, struct cm_connection *connection,
			 const struct cm_event *event);

/* -EINVAL: not in this state, or too much private data. */
MUST_USE int cm_id_connect(struct cm_id *id, const struct cm_parameters *parameters,
			   struct cm_private_data private_data);
MUST_USE int cm_id_accept(struct cm_id *id, const struct cm_parameters *parameters,
			  struct cm_private_data private_data);
MUST_USE int cm_id_establish(struct cm_id *id);
/* Reason 0: the consumer's own. */
MUST_USE int cm_id_reject(struct cm_id *id, uint32_t reason, struct cm_private_data private_data);
MUST_USE int cm_id_disconnect(struct cm_id *id);
MUST_USE int cm_id_notify(struct cm_id *id);

/* In cm_requests.c: a peer calls. */

/* The 5-bit time for which a peer is asked to be patient with a slow program: 69 s. */
enum { CM_MRA_SERVICE_TIMEOUT = 24 };

/* The same for the time to answer REQ and LAP, 4.3 s, and for that of our adapters to acknowledge:
 * 134 us. */
enum { CM_RESPONSE_TIMEOUT = 20, CM_ACK_DELAY = 15 };

void cm_connection_request(struct cm_host *host, struct cm_connection *connection,
			   const struct cm_event *event);

/* In cm_datagrams.c: the same without connections, by service id resolution. */

MUST_USE int cm_id_resolve_service(struct cm_id *id, struct cm_private_data private_data);
MUST_USE int cm_id_answer_service(struct cm_id *id, const struct cm_parameters *parameters,
				  enum cm_sidr_status status, struct cm_private_data private_data);
void cm_datagram_request(struct cm_host *host, struct cm_connection *connection,
			 const struct cm_event *event);
void cm_datagram_reply(struct cm_id *id, const struct cm_event *event);

/* In both. */

/* The IP header, if the id's addresses are IP, and what the program adds. Returns the bytes in all;
 * 0 and false: too long. */
MUST_USE bool cm_request_private(const struct cm_id *id, size_t room,
				 struct cm_private_data private_data, uint8_t *ret_bytes,
				 size_t *ret_byte_count);
/* A new id for what called this service, or NULL after saying no to it. */
struct cm_id *cm_request_admit(struct cm_host *host, const struct cm_event *event,
			       enum cm_qp_type qp_type, struct cm_connection *connection);
/* An event with the private data of a message. */
void cm_id_tell_message(struct cm_id *id, enum cm_program_event kind, int status,
			const struct cm_parameters *parameters,
			struct cm_private_data private_data);
/* What the program asked for, or enough for there and back on this path, with the time that the
 * adapter there takes to answer. */
uint8_t cm_ack_timeout(const struct cm_id *id, const struct path_record *path, uint8_t ack_delay);
struct mad_address cm_path_address(const struct cm_route *route);
struct cm_vector cm_path_vector(const struct cm_port *port, const struct path_record *path);

#endif
