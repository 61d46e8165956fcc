/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Congestion control, the core state (vol 1, annex A10): when a switch marks a packet, and how far
 * apart an adapter then keeps its packets. Off where a port has no such state.
 */
#ifndef SOFTIB_NET_LINK_CONGESTION_H
#define SOFTIB_NET_LINK_CONGESTION_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"

struct port;

enum { CONGESTION_TABLE_ENTRIES = 128, CONGESTION_BECNS_MAX = 16, CONGESTION_THRESHOLD_MAX = 15 };

/* A switch's output: SwitchPortCongestionSetting. */
struct congestion_marking {
	uint8_t threshold;	   /* 0: off .. 15: marks early */
	uint8_t packet_blocks_min; /* shorter packets are not marked; 64 bytes each */
	uint16_t marking_rate;	   /* one of so many eligible packets and one */
	bool marks_victims;	   /* also where only credits are missing */
};

/* An adapter: CACongestionSetting and the congestion control table. */
struct congestion_reaction {
	uint16_t ccti_increase; /* 0: off */
	uint16_t ccti_limit;
	uint16_t ccti_min;
	uint16_t ccti_timer;			  /* 1.024 us; 0: never forgets */
	uint16_t table[CONGESTION_TABLE_ENTRIES]; /* 15:14 shift, 13:0 multiplier */
};

struct congestion {
	struct congestion_marking marking;
	uint16_t unmarked; /* eligible packets since the last mark */
	struct congestion_reaction reaction;
	uint16_t becn_lids[CONGESTION_BECNS_MAX]; /* who is to hear of congestion with the next
						     packet */
	unsigned becn_count;
};

/* The index into the table of one flow. */
struct ccti {
	uint16_t index;
	time_ns since; /* of its last change */
};

/* -ENOMEM. A port gets its state with the first of these, and keeps it. */
MUST_USE int port_set_marking(struct port *port, const struct congestion_marking *marking);
MUST_USE int port_set_reaction(struct port *port, const struct congestion_reaction *reaction);

/* A data packet is leaving this output by this lane: is it to be marked? The port has the state. */
bool port_marks_congestion(struct port *port, unsigned vl, uint32_t packet_blocks);

/* The flow heard of congestion. */
void ccti_raise(const struct congestion_reaction *reaction, struct ccti *ccti, time_ns now);
/* What is left of it, and the delay behind a packet that takes packet_ns. */
time_ns ccti_delay(const struct congestion_reaction *reaction, struct ccti *ccti, time_ns packet_ns,
		   time_ns now);

/* The next packet to this LID tells; a list that is full forgets the oldest. */
void congestion_owe_becn(struct congestion *congestion, uint16_t lid);
/* Whether a packet to this LID is to tell; then it is told. */
bool congestion_pay_becn(struct congestion *congestion, uint16_t lid);

#endif
