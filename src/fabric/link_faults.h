/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links that fail on purpose. Faults belong to what leaves a port: a link that is bad both ways has
 * them at both ends.
 *
 * What a link does to a packet happens when the packet would arrive at its other end. Packets that
 * wait here are on the cable: the receiver's credits for them are spent.
 */
#ifndef SOFTIB_FABRIC_LINK_FAULTS_H
#define SOFTIB_FABRIC_LINK_FAULTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "base/timer_queue.h"
#include "fabric/faults/fault_judge.h"
#include "net/link/port.h"

struct fabric;
struct frame;

struct fault_counts {
	uint64_t packets; /* judged */
	uint64_t dropped, corrupted, duplicated, reordered, delayed, credits_lost;
	uint64_t flaps;
};

/* port->faults */
struct link_faults {
	struct list link; /* fabric->faults.links */
	struct port *output;
	struct fault_judge judge;
	struct fault_counts counts;
	struct list held;	 /* frames on their way, in order of arrival */
	struct frame *overtaken; /* waits for the next to pass, but not for ever */
	time_ns overtaken_until;
	time_ns busy_until; /* of a bandwidth cap */
	struct timer arrivals;
	struct timer flap;
	struct timer watchdog; /* of the port at the other end: fabric/flow_watchdog.h */
	bool flap_is_down;
	uint16_t lost_blocks[VL_COUNT]; /* credits that the receiver keeps to itself */
	struct fault_decision *script;	/* owned; judge.script points here */
};

/* From now on; counts and sequence go on if there were faults before, the generator begins anew.
 * -ENOMEM. */
MUST_USE int faults_set(struct fabric *fabric, struct port *output,
			const struct fault_settings *settings, uint64_t seed, time_ns now);
/* As in a record: settings without chances, and a decision for each packet that had one. Sequence
 * and counts begin anew. The script becomes the link's if this succeeds; it is from malloc. */
MUST_USE int faults_replay(struct fabric *fabric, struct port *output,
			   const struct fault_settings *settings, struct fault_decision *script,
			   size_t script_count, time_ns now);
/* The link is sound again; what it held arrives now, lost credits come back. */
void faults_clear(struct fabric *fabric, struct port *output, time_ns now);

/* A frame is about to arrive at the other end of this port's cable; it has left its node's buffers.
 */
void faults_carry(struct fabric *fabric, struct port *output, struct frame *frame, time_ns now);
/* The frame took its place in the receive buffer, and keeps it (FAULT_CREDIT_LOSS). */
void faults_keep_credits(struct port *input, struct frame *frame);
/* The link fell: what was on it is lost, and credits begin anew. */
void faults_flush(struct fabric *fabric, struct port *output);

void faults_run(struct fabric *fabric, time_ns now);
void faults_release(struct fabric *fabric);

#endif
