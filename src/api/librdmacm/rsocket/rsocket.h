/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rsockets: sockets over RDMA connections (rsocket(7); abi 9.4), made of public rdma_ and ibv_
 * calls only.
 *
 * A stream is an RC connection. Each side gives the other a ring in its memory. The sender
 * RDMA-writes bytes into the peer's ring with immediate data that carry their count. The reader
 * RDMA-writes how far it has read into the sender's control block. So only the immediate data
 * consume receives.
 */
#ifndef SOFTIB_API_LIBRDMACM_RSOCKET_RSOCKET_H
#define SOFTIB_API_LIBRDMACM_RSOCKET_RSOCKET_H

#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>
#include <stdbool.h>
#include <stdint.h>
#include "api/librdmacm/rsocket/rsocket_records.h"

#define RSOCKET_PUBLIC __attribute__((visibility("default")))

enum {
	RSOCKET_BUFFER_DEFAULT = 1 << 17,
	RSOCKET_BUFFER_MIN = 1 << 12,
	RSOCKET_BUFFER_MAX = 1 << 24,
	RSOCKET_SENDS_DEFAULT = 384,
	RSOCKET_RECEIVES_DEFAULT = 384,
	RSOCKET_QUEUE_MIN = 16,
	RSOCKET_QUEUE_MAX = 8192,
	RSOCKET_INLINE_DEFAULT = 64,
	RSOCKET_MAPPINGS_MAX = 128,
	RSOCKET_BACKLOG_MAX = 1024,
};

enum rsocket_state {
	RSOCKET_NEW,
	RSOCKET_BOUND,
	RSOCKET_LISTENING,
	RSOCKET_RESOLVING_ADDRESS,
	RSOCKET_RESOLVING_ROUTE,
	RSOCKET_CONNECTING,
	RSOCKET_CONNECTED,
	RSOCKET_PLAIN,	/* the descriptor is an ordinary socket: rsocket_plain.h */
	RSOCKET_FAILED, /* the reason is in error */
};

/* A buffer of the peer that we may write to. The peer writes this struct, in host byte order, since
 * both run on one machine. */
struct rsocket_mapping {
	uint64_t offset;
	uint64_t address;
	uint64_t byte_count; /* 0: none */
	uint32_t key;
	uint32_t reserved;
};

/* In our memory; the peer writes it. */
struct rsocket_control {
	uint64_t consumed_bytes;
	uint64_t consumed_messages;
	struct rsocket_mapping mappings[RSOCKET_MAPPINGS_MAX];
};

struct rsocket_region {
	uint8_t *bytes;
	uint32_t byte_count;
	struct ibv_mr *mr;
};

/* A buffer of ours that the peer may write to. */
struct rsocket_own_mapping {
	void *address;
	size_t byte_count;
	uint64_t offset;
	struct ibv_mr *mr; /* NULL: none */
};

struct rsocket_stream {
	struct rsocket_region send_ring;    /* bytes of sends that are not completed */
	struct rsocket_region receive_ring; /* the peer writes here */
	struct rsocket_region control;	    /* two struct rsocket_control: the received one, then
					     * the one that we send */
	struct rsocket_greeting peer;
	/* Totals since the connection began; the index into a ring is the remainder. */
	uint64_t ring_taken, ring_freed; /* of the send ring */
	uint64_t sent_bytes, sent_messages;
	uint64_t received_bytes, received_messages;
	uint64_t read_bytes;
	uint64_t told_bytes, told_messages;	     /* reported to the peer */
	uint32_t *send_bytes;			     /* [slot]: ring bytes of each posted send */
	uint32_t posted, completed;		     /* sends */
	uint32_t unsignaled_count, unsignaled_bytes; /* since the last signaled send */
	uint32_t signaled_end;			     /* value of completed once that send is
						      * complete */
	bool peer_has_ended, has_ended;		     /* writing */
	bool reading_is_shut;
	struct rsocket_own_mapping mappings[RSOCKET_MAPPINGS_MAX];
	uint64_t next_offset;
};

/* Options of rsetsockopt(). */
struct rsocket_options {
	uint32_t send_buffer, receive_buffer;
	uint32_t sends_max, receives_max, inline_bytes;
	uint32_t mappings_max; /* how many of our mappings the peer has room for */
	struct linger linger;
	int keep_alive, no_delay, reuse_address, v6_only, out_of_band_inline;
};

struct rsocket_datagrams;

struct rsocket {
	int descriptor; /* the program's descriptor: the event channel's */
	int type;
	pthread_mutex_t lock;
	enum rsocket_state state;
	int error; /* positive errno of RSOCKET_FAILED; SO_ERROR returns it once */
	bool is_disconnected;
	bool is_unheard; /* no rsocket listens at the destination */
	int file_flags;	 /* O_NONBLOCK */
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_comp_channel *completions;
	struct ibv_cq *cq;
	unsigned unacknowledged; /* CQ events not acknowledged */
	bool is_armed;
	unsigned looks, looks_due; /* checks of the event channel, each a system call */
	struct rsocket_options options;
	struct rsocket_stream stream;
	struct rsocket_datagrams *datagrams; /* SOCK_DGRAM */
};

/* By descriptor. */
struct rsocket *rsocket_find(int descriptor); /* NULL with errno EBADF */
int rsocket_enter(struct rsocket *socket);    /* adds it to the table */
void rsocket_leave(struct rsocket *socket);
struct rsocket *rsocket_new(int type); /* NULL with errno */
void rsocket_free(struct rsocket *socket);

/* Connections. */
extern const struct rdma_conn_param rsocket_parameters;
int rsocket_make_channel(struct rsocket *socket); /* -1 with errno */
void rsocket_destroy(struct rsocket *socket);	  /* keeps errno */
/* Destroys the CQ and its completion channel; after the QP. */
void rsocket_release_completions(struct rsocket *socket);
/* Handles the events that wait on the event channel. Lock held. */
void rsocket_take_events(struct rsocket *socket);
/* Waits until the socket is connected or failed. Lock held. 0 or -1 with errno. */
int rsocket_await_connection(struct rsocket *socket);
static inline bool rsocket_is_connecting(const struct rsocket *socket)
{
	return socket->state >= RSOCKET_RESOLVING_ADDRESS && socket->state <= RSOCKET_CONNECTING;
}
/* As getsockname() does: cuts the address to the buffer and returns its whole length. */
int rsocket_give_name(const struct sockaddr *name, struct sockaddr *ret_address,
		      socklen_t *address_bytes);
int rsocket_fail(struct rsocket *socket, int error); /* -1 with errno */

/* Streams: lock held. */
int stream_prepare(struct rsocket *socket); /* rings and queue pair for socket->id */
void stream_greet(const struct rsocket *socket, uint8_t ret_bytes[static RSOCKET_GREETING_BYTES]);
/* Takes the peer's greeting. -1 with errno: the peer is no rsocket of softib. */
int stream_meet(struct rsocket *socket, const void *private_data, size_t byte_count);
void stream_poll(struct rsocket *socket); /* handles the completions in the CQ */
bool stream_is_readable(const struct rsocket *socket);
bool stream_is_writable(const struct rsocket *socket);
ssize_t stream_send(struct rsocket *socket, const struct iovec *parts, int part_count, int flags);
ssize_t stream_receive(struct rsocket *socket, const struct iovec *parts, int part_count,
		       int flags);
void stream_end_writing(struct rsocket *socket);
void stream_flush(struct rsocket *socket, int timeout_ms); /* waits until the peer has all bytes */
void stream_release(struct rsocket *socket);
/* Copies the bytes to the send ring and posts an RDMA write to a remote address. False: no room
 * now. */
bool stream_write(struct rsocket *socket, const void *bytes, uint32_t byte_count,
		  uint64_t remote_address, uint32_t key);
bool stream_has_room(const struct rsocket *socket, uint32_t *ret_bytes);

/* Datagrams. */
int datagrams_open(struct rsocket *socket);
void datagrams_close(struct rsocket *socket);
int datagrams_bind(struct rsocket *socket, const struct sockaddr *address);
int datagrams_connect(struct rsocket *socket, const struct sockaddr *address, socklen_t bytes);
ssize_t datagrams_send(struct rsocket *socket, const struct iovec *parts, int part_count, int flags,
		       const struct sockaddr *address, socklen_t address_bytes);
ssize_t datagrams_receive(struct rsocket *socket, const struct iovec *parts, int part_count,
			  int flags, struct sockaddr *ret_address, socklen_t *address_bytes);
short datagrams_ready(struct rsocket *socket);
int datagrams_name(struct rsocket *socket, bool is_peer, struct sockaddr *ret_address,
		   socklen_t *address_bytes);

/* Waiting. */
/* Waits until the socket is ready. Lock held, but released while waiting. 0, or -1 with errno
 * (EAGAIN if the socket is non-blocking). */
int rsocket_wait(struct rsocket *socket, short events, int flags);

#endif
