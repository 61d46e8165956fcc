/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of datagram rsockets. Each has one UD QP. A sender asks the connection manager for the
 * QPN of an address (SIDR). A header in front of every datagram carries the source address and QPN,
 * so that a reply needs no SIDR exchange.
 */
#ifndef SOFTIB_API_LIBRDMACM_RSOCKET_RSOCKET_DATAGRAM_H
#define SOFTIB_API_LIBRDMACM_RSOCKET_RSOCKET_DATAGRAM_H

#include "api/librdmacm/rsocket/rsocket.h"

enum {
	DATAGRAM_RECEIVES = 128,
	DATAGRAM_SENDS = 64,
	DATAGRAM_GRH_BYTES = 40,
	DATAGRAM_MTU = 4096,
	DATAGRAM_SLOT_BYTES = DATAGRAM_GRH_BYTES + DATAGRAM_MTU,
};

struct destination {
	struct destination *next;
	struct sockaddr_storage address;
	struct ibv_ah *ah;
	uint32_t qpn, qkey;
};

struct rsocket_datagrams {
	struct rsocket *socket;
	struct rsocket_datagrams *next; /* list of the service thread */
	struct ibv_pd *pd;
	struct ibv_qp *qp;
	uint8_t *slots; /* receives, then sends */
	struct ibv_mr *mr;
	bool has_name;
	struct sockaddr_storage name;
	struct destination *peer; /* of a connected socket */
	struct destination *destinations;
	unsigned destination_count;
	uint32_t sends_posted, sends_completed;
	/* Received datagrams that the program has not read: slot and length. */
	unsigned waiting_first, waiting_count;
	struct {
		uint32_t slot, byte_count;
	} waiting[DATAGRAM_RECEIVES];
};

/* In rsocket_service.c: a thread that answers SIDR requests for a socket's QP. */
int datagram_service_start(struct rsocket_datagrams *datagrams); /* -1 with errno */
void datagram_service_stop(struct rsocket_datagrams *datagrams);

/* In rsocket_destinations.c. */
struct destination *destination_find(const struct rsocket_datagrams *datagrams,
				     const struct sockaddr *address);
/* Takes over the address handle. NULL: no memory or too many destinations; the handle is
 * destroyed. */
struct destination *destination_remember(struct rsocket_datagrams *datagrams,
					 const struct sockaddr *address, struct ibv_ah *ah,
					 uint32_t qpn, uint32_t qkey);
/* NULL with errno. */
struct destination *destination_of(struct rsocket *socket, const struct sockaddr *address);
void destinations_forget(struct rsocket_datagrams *datagrams);

/* Binds an unbound socket to any free port. */
int datagrams_bind_anywhere(struct rsocket *socket, int family);

#endif
