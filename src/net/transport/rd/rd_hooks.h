/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of Reliable Datagram that the engine calls.
 *
 * An EE context is a queue pair of type QP_EEC that carries the messages of RD queue pairs, by the
 * engine of a reliable connection (ee_context.h). The engine calls these hooks where it ends or
 * refuses such a message. rd_service.c fills them in; the engine does not include anything else of
 * rd/, so that RD is built on the engine and not the other way round.
 */
#ifndef SOFTIB_NET_TRANSPORT_RD_RD_HOOKS_H
#define SOFTIB_NET_TRANSPORT_RD_RD_HOOKS_H

#include "base/time.h"
#include "net/transport/completion.h"
#include "net/transport/rd/rd_state.h"
#include "net/transport/verdict.h"

struct packet;
struct protection_domain;

struct rd_hooks {
	/* Requests that the channel of an EE context carries: ee_context.h. */
	void (*request_done)(struct qp *channel, time_ns now);
	void (*request_failed)(struct qp *channel, time_ns now, enum completion_status status);
	void (*request_not_ready)(struct qp *channel, time_ns now, time_ns pause);
	void (*address_request)(const struct qp *channel, struct packet *packet);
	void (*settle)(struct qp *channel, time_ns now);
	/* A queue pair or an EE context goes to Error or Reset. */
	void (*stop)(struct qp *qp, time_ns now);
	/* Requests that come in by an EE context: rd_responder.h. */
	enum verdict (*check_destination)(struct qp *channel, const struct inbound *inbound);
	enum verdict (*choose_destination)(struct qp *channel, const struct inbound *inbound);
	void (*refuse)(struct qp *channel, uint8_t syndrome);
	void (*refuse_again)(struct qp *channel);
	void (*fault)(struct qp *channel, time_ns now, const struct inbound *inbound,
		      enum verdict verdict, unsigned nak_code);
	const struct protection_domain *(*saved_domain)(const struct qp *channel, uint32_t qpn);
};

#endif
