/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of congestion control at a port (vol 1, annex A10; transport 8.13): when a switch marks
 * a packet, and how far apart an adapter then keeps its packets. A port without this state does
 * neither.
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
	uint8_t threshold;	   /* 0: off; 15: marks earliest */
	uint8_t packet_blocks_min; /* packets of fewer 64-byte blocks are not marked */
	uint16_t marking_rate;	   /* marks one of marking_rate + 1 eligible packets */
	bool marks_victims;	   /* also marks where only credits are missing (Victim_Mask) */
};

/* An adapter: CACongestionSetting and the congestion control table. */
struct congestion_reaction {
	struct {
		uint16_t timer;	  /* in units of 1.024 us; 0: the index never goes down */
		uint8_t increase; /* 0: off */
		uint8_t trigger;  /* an index of at least this is logged as an event; 0: none is */
		uint8_t index_min;
	} by_sl[SL_COUNT];
	bool is_per_sl; /* a flow is an SL (PortControl bit 0), not a QP and a DLID */
	uint16_t ccti_limit;
	uint16_t table[CONGESTION_TABLE_ENTRIES]; /* 15:14 shift, 13:0 multiplier */
};

/* An event of one flow: one of its packets was marked (switch), or its index reached the trigger
 * (adapter). */
struct congestion_event {
	uint16_t slid, dlid; /* adapter: of the packet with the BECN */
	uint8_t sl;
	uint8_t service_type;
	uint32_t local_qpn, remote_qpn;
	uint32_t time_stamp; /* in units of 1.024 us */
};

/* CongestionLog: a switch has one at its port 0, an adapter one at each port. */
struct congestion_log {
	uint16_t event_count; /* since the log was read */
	uint16_t sls;	      /* that had events since then */
	uint64_t port_map[4]; /* switch: ports that marked since then */
	unsigned kept;
	struct congestion_event events[CONGESTION_EVENTS_MAX]; /* the newest first */
};

/* A local queue pair that received a marked packet, and the LID of its peer. */
struct congestion_becn {
	uint16_t lid;
	uint32_t qpn;
};

struct congestion {
	struct congestion_marking marking;
	uint16_t unmarked; /* eligible packets since the last mark */
	struct congestion_reaction reaction;
	/* Sent with the next packet to that LID. */
	struct congestion_becn becns[CONGESTION_BECNS_MAX];
	unsigned becn_count;
	struct congestion_log *log; /* NULL: no event yet */
};

/* The index of one flow into the congestion control table (CCTI). */
struct ccti {
	uint16_t index;
	time_ns since; /* when it changed last */
};

/* -ENOMEM. The first of these calls gives a port its state, which it keeps. */
MUST_USE int port_set_marking(struct port *port, const struct congestion_marking *marking);
MUST_USE int port_set_reaction(struct port *port, const struct congestion_reaction *reaction);
/* Gives the state to a port that only answers FECN with BECN. */
MUST_USE int port_obtain_congestion(struct port *port);
void port_release_congestion(struct port *port);

/* Whether a data packet that leaves this output on this VL is to be marked. Counts the time for
 * which the VL is congested. The port has congestion state. */
bool port_marks_congestion(struct port *port, unsigned vl, uint32_t packet_blocks, time_ns now);
/* Ends the congestion of VLs whose queues were emptied without a packet that left. */
void port_review_congestion(struct port *port, time_ns now);
/* Whether the port marks packets or keeps them apart. */
bool port_controls_congestion(const struct port *port);

/* A BECN for this flow arrived. True: its index has reached the trigger. */
MUST_USE bool ccti_raise(const struct congestion_reaction *reaction, unsigned sl, struct ccti *ccti,
			 time_ns now);
/* Lowers the index for the time that passed, and returns the delay after a packet that takes
 * packet_ns. */
time_ns ccti_delay(const struct congestion_reaction *reaction, unsigned sl, struct ccti *ccti,
		   time_ns packet_ns, time_ns now);

static inline uint32_t congestion_time_stamp(time_ns now)
{
	return (uint32_t)(now / 1024);
}

/* A flow has one event in the log, its newest. Without memory nothing is logged. */
void port_log_congestion(struct port *port, const struct congestion_event *event);

/* The next packet of this queue pair to this LID carries a BECN. A full list drops its oldest
 * entry. */
void congestion_queue_becn(struct congestion *congestion, uint16_t lid, uint32_t qpn);
/* Whether this packet of the queue pair to this LID has to carry a BECN; if so, the entry is taken
 * off the list. */
bool congestion_take_becn(struct congestion *congestion, uint16_t lid, uint32_t qpn);

#endif
