/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links that fail on purpose. Faults apply to the packets that leave a port: a link that is bad in
 * both directions has faults at both ends.
 *
 * A fault takes effect when the packet would arrive at the other end. Packets that wait here are on
 * the cable: the receiver's credits for them are spent.
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
	struct list held; /* frames on the cable, in order of arrival */
	/* Waits until the next frame has passed, or for OVERTAKEN_TIMEOUT. */
	struct frame *overtaken;
	time_ns overtaken_until;
	time_ns busy_until; /* of a bandwidth cap */
	struct timer arrivals;
	struct timer flap;
	struct timer watchdog; /* of the port at the other end: fabric/flow_watchdog.h */
	bool flap_is_down;
	uint16_t lost_blocks[VL_COUNT]; /* credits that the receiver does not return */
	struct fault_decision *script;	/* owned; judge.script points here */
};

/* Sets or replaces the faults of a port. Counts and sequence continue if there were faults before;
 * the random generator starts again from the seed. -ENOMEM. */
MUST_USE int faults_set(struct fabric *fabric, struct port *output,
			const struct fault_settings *settings, uint64_t seed, time_ns now);
/* Replays a record: settings without chances, and a decision for each packet that had one. Sequence
 * and counts start at 0. On success the link owns the script, which is from malloc. */
MUST_USE int faults_replay(struct fabric *fabric, struct port *output,
			   const struct fault_settings *settings, struct fault_decision *script,
			   size_t script_count, time_ns now);
/* The link is sound again: held frames arrive now, and lost credits come back. */
void faults_clear(struct fabric *fabric, struct port *output, time_ns now);

/* A frame is about to arrive at the other end of this port's cable. It has left the buffers of its
 * node. */
void faults_carry(struct fabric *fabric, struct port *output, struct frame *frame, time_ns now);
/* The frame occupies the receive buffer for good (FAULT_CREDIT_LOSS). */
void faults_keep_credits(struct port *input, struct frame *frame);
/* The link fell: frames on the cable are lost, and credits start anew. */
void faults_flush(struct fabric *fabric, struct port *output);

void faults_run(struct fabric *fabric, time_ns now);
void faults_release(struct fabric *fabric);

#endif
