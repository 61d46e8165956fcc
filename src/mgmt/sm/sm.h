/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subnet manager (vol 1, chapter 14): discovers by directed routes, gives LIDs, routes, brings
 * ports up, sweeps.
 *
 * Knows only MADs on one port's QP0. MADs and time go in; MADs come out.
 */
#ifndef SOFTIB_MGMT_SM_SM_H
#define SOFTIB_MGMT_SM_SM_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "mgmt/mad/mad_message.h"
#include "wire/subnet_attributes.h"

struct sm;

struct sm_options {
	uint64_t port_guid; /* of the port it runs on */
	uint8_t port_number;
	uint8_t priority;
	time_ns sweep_interval; /* light sweeps; 0: only on traps and requests */
	unsigned window;	/* SMPs on the wire at once; 0: the default */
};

MUST_USE int sm_create(const struct sm_options *options, struct sm **ret_sm);
void sm_destroy(struct sm *sm);

/* An SMP that arrived at the port for the SM: responses to its own, traps, SMInfo requests. */
void sm_receive(struct sm *sm, time_ns now, const struct mad_message *message);
unsigned sm_transmit(struct sm *sm, time_ns now, unsigned messages_max,
		     struct mad_message ret_messages[]);
time_ns sm_deadline(const struct sm *sm);

/*
 * Election is simple for now: a manager that meets another master, or a better one (higher
 * priority, then lower GUID), stands by, configures nothing and looks again every sweep interval;
 * when there is no such manager any more it is the master. Nothing is handed over: the worse of two
 * masters stands by as soon as it meets the better one.
 */

/* Look again now: the operator, or the host, knows that something changed. */
void sm_request_sweep(struct sm *sm, time_ns now);

struct sm_status {
	enum sm_state state;
	bool subnet_is_up; /* the last sweep finished and every port found is Active */
	uint32_t sweep_count;
	uint32_t node_count, switch_count;
	uint32_t port_count;	  /* end ports: those with a LID */
	uint32_t duplicate_count; /* nodes left out of the last sweep, because their GUID was
				     already there */
	uint32_t silent_count;	  /* requests of the last sweep that nobody answered, or that were
				     refused */
	uint16_t lid;		  /* the manager's own; 0 before it has one */
};
void sm_status(const struct sm *sm, struct sm_status *ret_status);

#endif
