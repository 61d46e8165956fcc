/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the subnet manager: its state, and the phases of a sweep. */
#ifndef SOFTIB_MGMT_SM_SWEEP_H
#define SOFTIB_MGMT_SM_SWEEP_H

#include "mgmt/mad/transactions.h"
#include "mgmt/routing/graph.h"
#include "mgmt/sm/sm.h"
#include "mgmt/subnet/subnet.h"

/* In the order of a heavy sweep; each begins when the one before has every answer it will get. */
enum sweep_phase {
	PHASE_IDLE,
	PHASE_LIGHT,	  /* has any switch seen a port change? */
	PHASE_DISCOVER,	  /* nodes, ports, links, other managers */
	PHASE_SWITCHES,	  /* LinearFDBTop */
	PHASE_FORWARDING, /* blocks of the forwarding tables that changed */
	PHASE_PORTS,	  /* LIDs and link parameters */
	PHASE_ARM,
	PHASE_ACTIVATE,
	PHASE_COUNT,
};

/* What a phase needs of each answer; the subject of its requests is a node or NULL, the detail its
 * own. */
struct phase_operations {
	const char *name;
	MUST_USE int (*begin)(struct sm *sm);
	/* false: nothing more to ask now; an answer may change that */
	MUST_USE bool (*next)(struct sm *sm, struct mad_message *ret_request,
			      struct mad_purpose *ret_purpose);
	void (*answered)(struct sm *sm, struct mad_purpose purpose, const uint8_t *data);
	/* refused, or no answer after all tries */
	void (*failed)(struct sm *sm, struct mad_purpose purpose);
	enum sweep_phase (*following)(struct sm *sm);
};

/* A question that discovery has still to ask. */
struct discovery_step {
	struct subnet_node *node; /* NULL: the manager's own, not yet met */
	uint8_t kind;
	uint8_t port_number;
};

struct discovery_queue {
	struct discovery_step *steps;
	size_t first, count, capacity;
};

enum { SM_OUTBOX_MESSAGES = 64 };

struct sm {
	struct sm_options options;
	enum sm_state state;
	enum sweep_phase phase;
	struct subnet subnet;
	struct mad_transactions transactions;
	struct discovery_queue discovery;
	struct routing_graph graph;
	struct subnet_port *own_port; /* met in this sweep, or NULL */

	struct list *cursor_node; /* where the present phase is in subnet.nodes */
	unsigned cursor_index;	  /* port or block there */

	bool has_work;	      /* something may be sent without time passing */
	bool heavy_is_wanted; /* as soon as the present sweep is over */
	bool better_sm_found; /* in this sweep */
	bool reregister_all;  /* this is the first sweep as master */
	bool is_up;	      /* see sm_status */
	bool is_incomplete;   /* the present sweep could not finish something */
	time_ns next_sweep_at;
	unsigned discovery_count; /* of this sweep: one with gaps is repeated before anybody is
				     dropped */
	uint32_t act_count;
	uint32_t sweep_count;
	uint32_t duplicate_count;
	uint32_t silent_count;

	struct mad_message outbox[SM_OUTBOX_MESSAGES]; /* answers and TrapRepress */
	unsigned outbox_count;
};

extern const struct phase_operations sweep_light, sweep_discover, sweep_switches, sweep_forwarding,
	sweep_ports, sweep_arm, sweep_activate;

/* Asks what there is to ask, and goes from phase to phase where nothing is left to wait for. */
void sweep_advance(struct sm *sm, time_ns now);
void sweep_answered(struct sm *sm, struct mad_purpose purpose, const struct mad_header *header,
		    const uint8_t *data);

/* SMInfo requests and traps. */
void sm_answer_request(struct sm *sm, const struct mad_message *message,
		       const struct mad_header *header);
void sm_info_now(const struct sm *sm, struct sm_info *ret_info);

/* The ports of the subnet in order, for phases that visit each; NULL at the end. */
void sweep_cursor_reset(struct sm *sm);
struct subnet_port *sweep_next_port(struct sm *sm);

static inline struct subnet_node *sweep_node(struct list *link)
{
	return container_of(link, struct subnet_node, link);
}

/* A request to a node of the subnet, by its directed route. */
static inline void sweep_request(const struct subnet_node *node, enum mad_method method,
				 uint16_t attribute_id, uint32_t attribute_modifier,
				 struct mad_message *ret_request)
{
	const struct smp_request request = {
		.method = method,
		.attribute_id = attribute_id,
		.attribute_modifier = attribute_modifier,
	};

	smp_request_make(&request, &node->route, ret_request);
}

#endif
