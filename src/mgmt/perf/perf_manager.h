/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The performance manager (vol 1, chapter 16; management 6.1): finds the ports of a subnet through
 * the SA, reads their counters in sweeps, and keeps a history of each. MADs only; MADs and time go
 * in, MADs come out.
 *
 *	perf_manager_set_port(manager, &port) whenever the port may have changed
 *	perf_manager_ask_sweep(manager)
 *	perf_manager_receive(manager, now, &message) for responses of SubnAdm and Perf
 *	count = perf_manager_transmit(manager, now, ...)
 *	until (perf_manager_is_idle(manager))
 */
#ifndef SOFTIB_MGMT_PERF_PERF_MANAGER_H
#define SOFTIB_MGMT_PERF_PERF_MANAGER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "mgmt/mad/mad_message.h"
#include "mgmt/mad/transactions.h"
#include "mgmt/perf/perf_events.h"
#include "mgmt/perf/perf_nodes.h"
#include "mgmt/perf/port_details.h"
#include "mgmt/sa/sa_client.h"

enum { PERF_REQUESTS_DEFAULT = 512, PERF_PACE_DEFAULT = 25000 };

/* 0: the default. */
struct perf_options {
	uint32_t agent_number;	  /* the upper half of the transaction ids of class Perf */
	uint32_t sa_agent_number; /* the same of class SubnAdm */
	unsigned requests_max;	  /* under way at once */
	time_ns timeout;	  /* of one try */
	unsigned tries;
	/* Ports that a sweep by interval asks in a second, after a first burst: it is in no hurry,
	 * and programs need the processor. A sweep that somebody waits for is not paced. */
	unsigned ports_per_second;
	time_ns interval;   /* between the starts of two sweeps; 0: only when asked */
	time_ns tables_age; /* tables of the SA that are older are read again before a sweep */
	struct perf_thresholds thresholds;
};

/* The manager's own port. */
struct perf_own_port {
	uint16_t sm_lid; /* 0: there is no SA yet */
	uint8_t sm_sl;
	uint16_t pkey; /* shared with the SA and all nodes */
	struct gid gid;
};

enum perf_phase {
	PERF_PHASE_IDLE,
	PERF_PHASE_TABLES, /* reads the tables of the SA */
	PERF_PHASE_AGENTS, /* asks new nodes for ClassPortInfo and the tick */
	PERF_PHASE_COUNTERS,
	PERF_PHASE_CLEARS,
	PERF_PHASE_DETAILS, /* of one port, if somebody asked */
	PERF_PHASE_SAMPLE,  /* of the same port, if somebody asked */
};

/* The last sweep that ended. */
struct perf_sweep {
	uint64_t number; /* from 1; 0: none has ended yet */
	time_ns began_at, ended_at;
	uint32_t read_count; /* ports */
	uint32_t failed_count;
	uint64_t asked_count; /* nodes and ports */
	bool is_paced;
	uint64_t mad_count; /* requests sent, repetitions included */
	bool has_tables;    /* it read the SA's tables */
	int error;	    /* why there was nothing to read: -EHOSTUNREACH: the SA does not
			       answer; -EPROTO, -ENOMEM; 0 */
};

enum { PERF_TABLES = 3 };

struct perf_manager {
	struct perf_options options;
	struct perf_own_port port;
	struct sa_client sa;
	struct mad_transactions transactions;
	struct perf_nodes nodes;
	struct perf_events events;
	struct port_details details;
	char details_next[PERF_PORT_NAME_BYTES]; /* the port of the next sweep's details; "": none
						  */
	time_ns sample_next;			 /* the length of its sample; 0: none */
	struct perf_port *details_port;		 /* of the present sweep */
	enum perf_phase phase;
	bool is_asked;	     /* a sweep is to follow */
	bool clears_all;     /* all counters are cleared at the end of this sweep */
	bool clears_next;    /* and of the next one */
	bool tables_are_due; /* something did not answer where the tables say it is */
	time_ns tables_at;   /* when they were read; 0: never */
	struct sa_client_result tables[PERF_TABLES];
	unsigned tables_missing;
	int tables_error;
	uint32_t cursor;      /* the next node or port to ask */
	unsigned rounds_left; /* of asking agents that were busy */
	bool has_owed;	      /* an agent was busy in this round */
	time_ns pause_until;
	time_ns due_at; /* of the next sweep by interval */
	struct perf_sweep current, last;
};

MUST_USE int perf_manager_init(struct perf_manager *manager, const struct perf_options *options);
void perf_manager_release(struct perf_manager *manager);

void perf_manager_set_port(struct perf_manager *manager, const struct perf_own_port *port);

/* From now on; 0: only when asked. */
void perf_manager_set_interval(struct perf_manager *manager, time_ns interval);
/* Starts a sweep, or another one if one has begun already. */
void perf_manager_ask_sweep(struct perf_manager *manager);
/* Clears every counter of every port after the next sweep. */
void perf_manager_ask_clear(struct perf_manager *manager);
/* Reads the details of this port ("h1:1") at the end of the next sweep. */
void perf_manager_ask_details(struct perf_manager *manager, const char *port);
/* Reads the details and takes a sample of this length, at most PORT_SAMPLING_MAX. */
void perf_manager_ask_sample(struct perf_manager *manager, const char *port, time_ns length);
/* No sweep is under way or asked for. */
bool perf_manager_is_idle(const struct perf_manager *manager);
/* The number of the sweep that an ask_sweep() now would wait for. */
uint64_t perf_manager_next_sweep(const struct perf_manager *manager);

void perf_manager_receive(struct perf_manager *manager, time_ns now,
			  const struct mad_message *message);
unsigned perf_manager_transmit(struct perf_manager *manager, time_ns now, unsigned messages_max,
			       struct mad_message ret_messages[]);
/* 0 when there is something to do. */
time_ns perf_manager_deadline(const struct perf_manager *manager);

#endif
