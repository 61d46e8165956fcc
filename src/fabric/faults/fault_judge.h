/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which faults the packets of one link get in one direction: packet by packet, from a seed
 * or from the record of an earlier run.
 *
 * The packets of a link are counted. Equal settings, seeds and counts give equal decisions,
 * whatever other links do.
 */
#ifndef SOFTIB_FABRIC_FAULTS_FAULT_JUDGE_H
#define SOFTIB_FABRIC_FAULTS_FAULT_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/random.h"
#include "base/time.h"

/* A chance of 1; chances are integers up to this. */
#define FAULT_CERTAIN (UINT64_C(1) << 32)

struct fault_settings {
	uint64_t drop;
	uint64_t corrupt;	 /* on the wire: the next port finds a wrong VCRC */
	uint64_t corrupt_inside; /* in the sending node: the destination finds a wrong ICRC */
	uint64_t duplicate;
	uint64_t reorder;     /* the packet after this one overtakes it */
	uint64_t credit_loss; /* its receive buffer is not freed while the link stays up */
	time_ns delay;
	time_ns jitter;		  /* random, added to the delay; the order is kept */
	uint64_t bits_per_second; /* 0: the link's own rate */
	time_ns flap_up,
		flap_down;  /* both not 0: the cable is pulled for flap_down after each flap_up */
	bool includes_mads; /* also VL15 */
	bool loses_flow_control; /* loses all flow control packets: fabric/flow_watchdog.h */
};

enum fault_action {
	FAULT_DROP = 1,
	FAULT_CORRUPT = 2,
	FAULT_CORRUPT_INSIDE = 4,
	FAULT_DUPLICATE = 8,
	FAULT_REORDER = 16,
	FAULT_CREDIT_LOSS = 32,
	FAULT_DELAY = 64, /* jitter on top of the delay of all packets */
};

struct fault_decision {
	uint64_t sequence; /* number of the packet on its link, from 1 */
	uint32_t actions; /* enum fault_action; 0: only the delay and rate that every packet gets */
	time_ns jitter;
	uint64_t bit; /* the bit to flip */
};

struct fault_judge {
	struct fault_settings settings;
	struct random random;
	uint64_t sequence;
	const struct fault_decision *script; /* in order of sequence; NULL: the generator decides */
	size_t script_count;
	size_t script_next;
};

void fault_judge_seed(struct fault_judge *judge, uint64_t seed, uint64_t node_guid,
		      unsigned port_number);

/* The decision about the next packet of the link. */
struct fault_decision fault_judge_next(struct fault_judge *judge);

#endif
