/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes, ports and links of a subnet as the SA's tables describe them, with the history of each
 * port (management 4.4). */
#ifndef SOFTIB_MGMT_PERF_PERF_NODES_H
#define SOFTIB_MGMT_PERF_PERF_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/mad/mad_message.h"
#include "mgmt/perf/port_history.h"

enum { PERF_NAME_BYTES = 72, PERF_PORT_NAME_BYTES = PERF_NAME_BYTES + 8 };

/* Whether the manager knows how to ask a node. */
enum perf_agent_state {
	PERF_AGENT_UNKNOWN, /* its ClassPortInfo has to be read */
	PERF_AGENT_KNOWN,
	PERF_AGENT_ABSENT, /* it refuses the class */
};

struct perf_node {
	uint64_t guid;
	char name[PERF_NAME_BYTES]; /* h1, h1/1 for its second adapter, switch-1 */
	uint8_t type;		    /* enum node_type */
	uint32_t first_port;	    /* index of its first port */
	uint32_t port_count;	    /* ports that the SA knows, without port 0 of a switch */
	enum perf_agent_state agent;
	bool is_silent;	 /* did not answer in this sweep */
	bool was_silent; /* in the sweep before */
	uint16_t capability_mask;
	uint32_t capability_mask2;
	struct perf_sources sources;
	time_ns wait_tick; /* unit of PortXmitWait; 0: the agent does not say */
	bool is_redirected;
	struct mad_address place; /* of a redirected agent */
};

struct perf_port {
	struct perf_node *node;
	struct perf_port *peer; /* NULL: no cable, or the SA does not know where it leads */
	uint64_t guid;		/* of the end port that its LID belongs to */
	uint16_t lid;		/* of the agent */
	uint8_t number;
	uint8_t state;	    /* PortInfo.PortState */
	uint32_t rate_mbps; /* data rate of the link; 0: unknown */
	/* Of the present sweep. */
	struct perf_reading reading;
	uint8_t asked_count; /* attributes that have not come yet */
	bool is_owed;	     /* the agent was busy: asked again */
	bool is_failed;
	uint32_t clear_mask; /* counters to clear */
	struct port_history history;
};

struct perf_nodes {
	struct perf_node *nodes;
	uint32_t node_count;
	struct perf_port *ports; /* grouped by node, sorted by number */
	uint32_t port_count;
};

/* A table of the SA: records at equal distances. */
struct perf_table {
	const uint8_t *bytes;
	size_t record_count;
	size_t record_bytes;
};

/* Records that contradict each other or name unknown ports are left out. -EPROTO: a table's records
 * are too short; -ENOMEM. */
MUST_USE int perf_nodes_build(struct perf_nodes *ret_nodes, const struct perf_table *node_records,
			      const struct perf_table *port_infos, const struct perf_table *links);
void perf_nodes_release(struct perf_nodes *nodes);

/* Takes over the histories and agents of the ports that were there before. */
void perf_nodes_adopt(struct perf_nodes *nodes, const struct perf_nodes *before);

/* NULL: none. */
const struct perf_port *perf_nodes_find(const struct perf_nodes *nodes, uint64_t node_guid,
					uint8_t port_number);
/* The LID of the end port with this GUID; 0: none. */
uint16_t perf_nodes_lid_of(const struct perf_nodes *nodes, uint64_t port_guid);

/* "h1:1" */
void perf_port_name(const struct perf_port *port, char ret_text[static PERF_PORT_NAME_BYTES]);

#endif
