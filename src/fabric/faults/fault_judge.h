/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is to go wrong with the packets of one link in one direction: decided packet by packet, from
 * a seed or from a record of an earlier run.
 *
 * The packets of a link are counted; equal settings, seeds and counts give equal decisions,
 * whatever other links do.
 */
#ifndef SOFTIB_FABRIC_FAULTS_FAULT_JUDGE_H
#define SOFTIB_FABRIC_FAULTS_FAULT_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/random.h"
#include "base/time.h"

/* Chances are parts of this. */
#define FAULT_CERTAIN (UINT64_C(1) << 32)

struct fault_settings {
	uint64_t drop;
	uint64_t corrupt;	 /* on the wire: the next port finds a wrong VCRC */
	uint64_t corrupt_inside; /* in the sending node's memory: the end of the way finds a wrong
				    ICRC */
	uint64_t duplicate;
	uint64_t reorder;     /* the packet after it goes first */
	uint64_t credit_loss; /* the buffer that it takes is never given back while the link stays
				 up */
	time_ns delay;
	time_ns jitter;		    /* up to so much more; order is kept */
	uint64_t bits_per_second;   /* 0: as fast as the link is */
	time_ns flap_up, flap_down; /* both not 0: the cable is pulled now and then */
	bool includes_mads;	    /* VL15 too */
	bool loses_flow_control;    /* all flow control packets: fabric/flow_watchdog.h */
};

enum fault_action {
	FAULT_DROP = 1,
	FAULT_CORRUPT = 2,
	FAULT_CORRUPT_INSIDE = 4,
	FAULT_DUPLICATE = 8,
	FAULT_REORDER = 16,
	FAULT_CREDIT_LOSS = 32,
	FAULT_DELAY = 64, /* longer than all others on this link */
};

struct fault_decision {
	uint64_t sequence; /* of the packet on its link, from 1 */
	uint32_t actions;  /* enum fault_action; 0: nothing but what every packet gets */
	time_ns jitter;
	uint64_t bit; /* which one to flip */
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

/* About the next packet of the link. */
struct fault_decision fault_judge_next(struct fault_judge *judge);

#endif
