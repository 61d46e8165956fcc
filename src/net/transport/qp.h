/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue pair: requester and responder of one service (vol 1, chapters 9 to 11).
 *
 * Posted work, packets and time go in; packets come out of qp_transmit, completions and events go
 * to the environment. A queue pair has one owner, which serialises all calls.
 */
#ifndef SOFTIB_NET_TRANSPORT_QP_H
#define SOFTIB_NET_TRANSPORT_QP_H

#include "net/transport/qp_error.h"
#include "net/transport/qp_state.h"

/* An XRC target takes no capabilities and no pd: those of the XRC SRQs that requests name are used.
 */
MUST_USE int qp_init(struct qp *qp, struct qp_environment *environment, enum qp_type type,
		     uint32_t qpn, struct protection_domain *pd,
		     const struct qp_capabilities *capabilities, struct receive_queue *shared_queue,
		     bool signal_all);
void qp_release(struct qp *qp);

/* An XRC SRQ is being destroyed: a message that holds one of its requests can't be finished. */
void qp_forget_receive_queue(struct qp *qp, const struct receive_queue *queue);

/* Checks the state machine's table and the values (transport 6.1); -EINVAL changes nothing. */
MUST_USE int qp_modify(struct qp *qp, time_ns now, const struct qp_ports *ports,
		       const struct qp_attributes *attributes, uint32_t mask);
void qp_query(const struct qp *qp, struct qp_attributes *ret_attributes);

/* -EINVAL: state, opcode, SGE count or inline size not allowed; -ENOMEM: queue full. */
MUST_USE int qp_post_send(struct qp *qp, time_ns now, const struct send_request *request);
/* Removes the newest requests, posted since the last qp_transmit. Requests that a queue pair in an
 * error state has flushed meanwhile stay flushed. */
void qp_retract_sends(struct qp *qp, uint32_t request_count);
MUST_USE int qp_post_receive(struct qp *qp, time_ns now, const struct receive_request *request);

/* A packet whose DestQP is this queue pair: admission checks, then requester or responder. */
void qp_receive(struct qp *qp, time_ns now, const struct packet *packet);

/* The route of the next packet; false when there is nothing to transmit now. */
bool qp_next_route(const struct qp *qp, time_ns now, struct qp_route *ret_route);

/* Fills up to packets_max packets, all with the route that qp_next_route gave, trains of up to
 * train_bytes_max payload bytes (at least one packet each). Payloads refer to the consumer's memory
 * or to the queue pair's; they are valid until the next call on this queue pair. */
unsigned qp_transmit(struct qp *qp, time_ns now, unsigned packets_max, uint32_t train_bytes_max,
		     struct packet ret_packets[]);

/* When qp_expire must be called; the environment's timer queue has the same deadline. */
time_ns qp_deadline(const struct qp *qp);
void qp_expire(struct qp *qp, time_ns now);

#endif
