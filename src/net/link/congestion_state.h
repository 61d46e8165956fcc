/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Congestion control, the core state (vol 1, annex A10): when a switch marks a packet, and how far
 * apart an adapter then keeps its packets. Off where a port has no such state.
 */
#ifndef SOFTIB_NET_LINK_CONGESTION_STATE_H
#define SOFTIB_NET_LINK_CONGESTION_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "wire/smp_tables.h"

struct port;

enum {
	CONGESTION_TABLE_ENTRIES = 128,
	CONGESTION_BECNS_MAX = 64,
	CONGESTION_THRESHOLD_MAX = 15,
	CONGESTION_EVENTS_MAX = 15,
};

/* A switch's output: SwitchPortCongestionSetting. */
struct congestion_marking {
	uint8_t threshold;	   /* 0: off .. 15: marks early */
	uint8_t packet_blocks_min; /* shorter packets are not marked; 64 bytes each */
	uint16_t marking_rate;	   /* one of so many eligible packets and one */
	bool marks_victims;	   /* also where only credits are missing */
};

/* An adapter: CACongestionSetting and the congestion control table. */
struct congestion_reaction {
	struct {
		uint16_t timer;	  /* 1.024 us; 0: never forgets */
		uint8_t increase; /* 0: off */
		uint8_t trigger;  /* an index from here on is an event; 0: none is */
		uint8_t index_min;
	} by_sl[SL_COUNT];
	bool is_per_sl; /* all packets of an SL are one flow, not those of a queue pair to a port */
	uint16_t ccti_limit;
	uint16_t table[CONGESTION_TABLE_ENTRIES]; /* 15:14 shift, 13:0 multiplier */
};

/* What happened to one flow: a packet of it was marked (switch), or its index reached the trigger
 * (adapter). */
struct congestion_event {
	uint16_t slid, dlid; /* adapter: of the packet that told of it */
	uint8_t sl;
	uint8_t service_type;
	uint32_t local_qpn, remote_qpn;
	uint32_t time_stamp; /* 1.024 us */
};

/* CongestionLog: a switch's at its port 0, an adapter's at each port. */
struct congestion_log {
	uint16_t event_count; /* since somebody read it */
	uint16_t sls;	      /* with events since then */
	uint64_t port_map[4]; /* of a switch: ports that marked since then */
	unsigned kept;
	struct congestion_event events[CONGESTION_EVENTS_MAX]; /* the newest first */
};

/* A queue pair here that met congestion, and where its peer is. */
struct congestion_debt {
	uint16_t lid;
	uint32_t qpn;
};

struct congestion {
	struct congestion_marking marking;
	uint16_t unmarked; /* eligible packets since the last mark */
	struct congestion_reaction reaction;
	struct congestion_debt becns[CONGESTION_BECNS_MAX]; /* told with the next packet */
	unsigned becn_count;
	struct congestion_log *log; /* NULL: nothing happened */
};

/* The index into the table of one flow. */
struct ccti {
	uint16_t index;
	time_ns since; /* of its last change */
};

/* -ENOMEM. A port gets its state with the first of these, and keeps it. */
MUST_USE int port_set_marking(struct port *port, const struct congestion_marking *marking);
MUST_USE int port_set_reaction(struct port *port, const struct congestion_reaction *reaction);
/* The state of a port that only passes the word on. */
MUST_USE int port_obtain_congestion(struct port *port);
void port_release_congestion(struct port *port);

/* A data packet is leaving this output by this lane: is it to be marked? The port has the state. */
bool port_marks_congestion(struct port *port, unsigned vl, uint32_t packet_blocks);
/* Whether packets that pass here may be marked, or are kept apart. */
bool port_controls_congestion(const struct port *port);

/* The flow heard of congestion. True: its index has reached the trigger. */
MUST_USE bool ccti_raise(const struct congestion_reaction *reaction, unsigned sl, struct ccti *ccti,
			 time_ns now);
/* What is left of it, and the delay behind a packet that takes packet_ns. */
time_ns ccti_delay(const struct congestion_reaction *reaction, unsigned sl, struct ccti *ccti,
		   time_ns packet_ns, time_ns now);

static inline uint32_t congestion_time_stamp(time_ns now)
{
	return (uint32_t)(now / 1024);
}

/* Of a flow that has an event already the newest stays. Without memory nothing is kept. */
void port_log_congestion(struct port *port, const struct congestion_event *event);

/* The next packet of this queue pair to this LID tells; a list that is full forgets the oldest. */
void congestion_owe_becn(struct congestion *congestion, uint16_t lid, uint32_t qpn);
/* Whether a packet of this queue pair to this LID is to tell; then it is told. */
bool congestion_pay_becn(struct congestion *congestion, uint16_t lid, uint32_t qpn);

#endif
