/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs of a simulated fabric: flows of messages between hosts, and their results.
 *
 * RC, UC and UD flows go through the adapters' own queue pairs. Load and multicast flows are
 * packets made and counted here, which costs less when only the fabric is of interest.
 */
#ifndef SOFTIB_SIM_TRAFFIC_H
#define SOFTIB_SIM_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/event_wheel.h"
#include "base/list.h"
#include "base/time.h"
#include "net/link/port.h"
#include "sim/latencies.h"
#include "sim/scenario.h"
#include "sim/sim.h"
#include "wire/gid.h"

struct traffic;
struct connection;

/* The packets of a load or multicast flow. Owned by sim/loads.c. */
struct flow_load {
	struct port *port;     /* of the sender */
	struct list link;      /* the other load flows of its host */
	uint32_t packets_left; /* of the message being sent */
	uint16_t dlid;
	bool is_global; /* a multicast, or to another subnet: its packets have a GRH */
	uint8_t hop_limit;
	struct gid dgid;
};

/* The fields that each message reads come first, in the order in which they are used. */
struct flow {
	struct traffic *traffic;
	const struct scenario_flow *options;
	struct wheel_event timer; /* start, next message, stop */
	time_ns next_at;
	uint64_t carry;	  /* remainder of a nanosecond, in parts of the rate */
	time_ns interval; /* between messages, and its remainder in such parts */
	uint64_t interval_rest;
	time_ns start, stop; /* in the simulation's time */
	bool is_running;
	bool has_rate;
	uint32_t index;
	uint64_t due;		    /* messages that the rate allows and that are not sent yet */
	struct sim_host *from, *to; /* to: NULL for a multicast */

	uint64_t sent, received, failed; /* messages in all */
	uint64_t measured_bytes;	 /* received after the warm-up */
	uint64_t measured_messages;
	struct latencies *latencies;

	struct connection *connection; /* RC, UC, UD: sim/connections.c */

	struct flow_load load;		   /* load, multicast: sim/loads.c */
	uint64_t drops[DROP_REASON_COUNT]; /* of this flow's packets */
};

struct traffic {
	struct sim *sim;
	struct flow *flows;
	uint32_t flow_count;
	struct event_wheel timers;
	time_ns next_at; /* when the first of them is due */
	time_ns begins_at;
	time_ns measured_from;
	struct list *loads;	  /* [host]: its load flows, round robin */
	struct list *connections; /* [host]: the connections that end there */
	uint8_t *memory;	  /* source and destination of all messages */
	uint32_t memory_bytes;
	uint64_t packet_count; /* by load flows */
};

/* Looks up the hosts and prepares every flow; the subnet is up. Times count from begins_at. -EINVAL
 * with the flow's line and the reason. */
MUST_USE int traffic_init(struct traffic *traffic, struct sim *sim, const struct scenario *scenario,
			  time_ns begins_at, struct scenario_error *ret_error);
void traffic_release(struct traffic *traffic);

/* The simulator's hooks; the context is the traffic. */
struct sim_programs traffic_programs(struct traffic *traffic);

/* Shared by the kinds of flows. */

/* Returns -EINVAL, with the flow's line and name before the reason. */
MUST_USE int traffic_refuse(const struct flow *flow, const char *reason,
			    struct scenario_error *ret_error);
void traffic_message_arrived(struct flow *flow, uint32_t byte_count, time_ns sent_at,
			     bool ends_message);

#endif
