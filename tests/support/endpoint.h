/* SPDX-License-Identifier: Apache-2.0 */
/* One queue pair with all objects of an adapter that it needs, for tests. */
#ifndef SOFTIB_TESTS_SUPPORT_ENDPOINT_H
#define SOFTIB_TESTS_SUPPORT_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/timer_queue.h"
#include "net/memory/memory.h"
#include "net/transport/completion_ring.h"
#include "net/transport/port_view.h"
#include "net/transport/qp.h"

enum {
	AREA_BYTES = 1 << 18,
	ENDPOINT_COMPLETIONS = 4096,
	ENDPOINT_EVENTS = 64,
	ENDPOINT_XRC_QUEUES = 4,
	ENDPOINT_XRC_SGES = 4,
	ENDPOINT_SECOND_LID = 0x20, /* the second port's LID, added to the first's */
};

/* Registered memory, with a cursor for tests that fill it piece by piece. */
struct area {
	uint8_t *bytes;
	struct region *region;
	uint32_t used;
};

struct completion_list {
	struct completion entries[ENDPOINT_COMPLETIONS];
	unsigned count;
	unsigned next; /* not yet checked by the test */
	unsigned room; /* completions that still fit; UINT_MAX: always */
};

struct endpoint_options {
	enum qp_type type;
	unsigned mtu_code;
	uint32_t sq_psn;
	uint32_t rq_psn;
	uint32_t send_requests_max;
	uint32_t receive_requests_max;
	uint8_t timeout, retry_count, rnr_retry, min_rnr_timer;
	uint8_t initiator_depth, responder_resources;
	uint32_t access;
	bool is_global;
	bool signal_all;
	struct receive_queue *shared_queue;
};

struct endpoint {
	struct qp qp;
	struct qp_environment environment;
	struct memory memory;
	struct protection_domain pd;
	struct timer_queue timers;
	struct port_view port;
	struct port_view second_port; /* used when port_count is 2 */
	struct port_view *ports[2];
	unsigned port_count;
	struct area outbox; /* source of its sends */
	struct area inbox;  /* destination of its receives */
	struct area window; /* the memory that the peer may access */
	struct completion_list sent;
	struct completion_list received;
	struct completion_ring rings[2]; /* endpoint_give_rings */
	enum qp_event events[ENDPOINT_EVENTS];
	unsigned event_count;
	unsigned shared_taken;
	struct receive_queue *xrc_queues[ENDPOINT_XRC_QUEUES]; /* by SRQN; a target's domain */
	struct endpoint_options options;
	uint16_t peer_lid;
	uint32_t peer_qpn;
	struct gid peer_gid;
};

struct endpoint_options endpoint_options_default(enum qp_type type);

/* In RESET. The GUID and the QPN follow from lid. */
void endpoint_init(struct endpoint *endpoint, const struct endpoint_options *options, uint16_t lid);
void endpoint_release(struct endpoint *endpoint);

/* From now on the queue pair puts completions into rings itself. Their slots are the entries of the
 * lists; endpoint_count_completions() updates the counts after each call. */
void endpoint_give_rings(struct endpoint *endpoint);
void endpoint_count_completions(struct endpoint *endpoint);

/* Takes the queue pair to INIT, RTR or RTS towards the peer, as its options say. */
void endpoint_to_init(struct endpoint *endpoint);
void endpoint_to_rtr(struct endpoint *endpoint, const struct endpoint *peer);
void endpoint_to_rts(struct endpoint *endpoint);
/* Makes two endpoints with the same options, and takes them to RTS towards each other. */
void endpoints_to_rts(struct endpoint *a, struct endpoint *b,
		      const struct endpoint_options *options);

struct qp_ports endpoint_ports(struct endpoint *endpoint);
int endpoint_modify(struct endpoint *endpoint, time_ns now, const struct qp_attributes *attributes,
		    uint32_t mask);
int endpoint_set_state(struct endpoint *endpoint, time_ns now, enum qp_state state);

/* Zeroed space in an area; its key uses the same addresses. */
uint8_t *area_take(struct area *area, uint32_t byte_count);
struct sge area_sge(const struct area *area, const void *bytes, uint32_t byte_count);
/* A pattern that differs for every seed and position. */
void fill_pattern(uint8_t *bytes, uint32_t byte_count, uint32_t seed);

void expect_event(struct endpoint *endpoint, enum qp_event event);
void expect_no_event(const struct endpoint *endpoint);

#endif
