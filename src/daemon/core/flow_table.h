/* SPDX-License-Identifier: Apache-2.0 */
/* The flows of a program: packets that it sends by direct rings, past the fabric, and that softibd
 * counts on the ports of their paths. daemon/packets/flow_resolver.h decides which flows there are.
 */
#ifndef SOFTIB_DAEMON_CORE_FLOW_TABLE_H
#define SOFTIB_DAEMON_CORE_FLOW_TABLE_H

#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "ipc/protocol.h"

struct client;
struct daemon_core;
struct fabric_path;
struct flow_table;
struct node;

struct flow_key {
	uint16_t source_port;
	uint16_t dlid;
	uint16_t pkey;
	uint8_t sl;
};

/* The flows of one process; the counters lie in memory that the process writes. */
MUST_USE int flow_table_create(const struct flow_counters *counters, struct flow_table **ret_table);
void flow_table_destroy(struct flow_table *table);

/* A slot for packets of this key on this path, valid in this generation. -ENOSPC. */
MUST_USE int flow_table_take_slot(struct flow_table *table, const struct flow_key *key,
				  const struct fabric_path *path, uint32_t generation,
				  uint32_t *ret_index);

/* Adds the packets sent since the last call to the counters of the ports on their paths. */
void flow_table_fold(struct flow_table *table);
void flows_fold_all(struct daemon_core *core);
/* flows_fold_all() if any flow passes this node. */
void flows_fold_at(struct daemon_core *core, const struct node *node);

/* Visits the direct flows of the present generation. */
typedef void (*direct_flow_visitor)(void *context, const struct client *client, uint16_t dlid,
				    uint64_t packets);
void flows_for_each_direct(const struct daemon_core *core, direct_flow_visitor visit,
			   void *context);

/* Programs have stopped to use their flows so long after the generation changed, unless they do not
 * mean to, or have no processor. */
#define FLOW_GRACE_NS MILLISECONDS(20)

/* Folds the counters of every flow, then advances the generation word, which makes programs resolve
 * their flows again. After FLOW_GRACE_NS or twice that their peers are told too
 * (daemon/packets/flow_resolver.h). */
void flows_revoke(struct daemon_core *core);

#endif
