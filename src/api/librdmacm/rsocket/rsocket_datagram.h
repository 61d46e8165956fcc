/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of datagram rsockets: one UD queue pair each. Who wants to send here asks the connection
 * manager for its number (SIDR); a header in front of every datagram says where it comes from, so
 * that answers need not ask.
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
	struct rsocket_datagrams *next; /* those that the service thread looks after */
	struct ibv_pd *pd;
	struct ibv_qp *qp;
	uint8_t *slots; /* receives, then sends */
	struct ibv_mr *mr;
	bool has_name;
	struct sockaddr_storage name;
	struct destination *peer; /* of a connected one */
	struct destination *destinations;
	unsigned destination_count;
	uint32_t sends_posted, sends_completed;
	/* Datagrams that came and were not read: slot and bytes. */
	unsigned waiting_first, waiting_count;
	struct {
		uint32_t slot, byte_count;
	} waiting[DATAGRAM_RECEIVES];
};

/* In rsocket_service.c: a thread that answers who asks for a socket's queue pair. */
int datagram_service_start(struct rsocket_datagrams *datagrams); /* -1 with errno */
void datagram_service_stop(struct rsocket_datagrams *datagrams);

/* In rsocket_destinations.c: where to. */
struct destination *destination_find(const struct rsocket_datagrams *datagrams,
				     const struct sockaddr *address);
/* Takes the address handle over. NULL: it is gone, there is no room. */
struct destination *destination_remember(struct rsocket_datagrams *datagrams,
					 const struct sockaddr *address, struct ibv_ah *ah,
					 uint32_t qpn, uint32_t qkey);
/* NULL with errno. */
struct destination *destination_of(struct rsocket *socket, const struct sockaddr *address);
void destinations_forget(struct rsocket_datagrams *datagrams);

/* A socket without a name gets one. */
int datagrams_bind_anywhere(struct rsocket *socket, int family);

#endif
