/* SPDX-License-Identifier: Apache-2.0 */
/* The end ports that a baseboard manager knows, by GUID and by LID, as the SA's NodeRecords list
 * them. */
#ifndef SOFTIB_MGMT_BASEBOARD_MANAGED_PORTS_H
#define SOFTIB_MGMT_BASEBOARD_MANAGED_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "wire/subnet_attributes.h"

enum { TRAPS_REMEMBERED = 16 };

enum managed_state {
	MANAGED_UNKNOWN, /* not asked yet */
	MANAGED_OURS,	 /* has our key, and sends its traps to us */
	MANAGED_FOREIGN, /* has another manager's key */
	MANAGED_SILENT,	 /* does not answer, or not as asked */
};

/* What the manager does next with a port. */
enum managed_step {
	STEP_NONE,    /* until the next sweep */
	STEP_READ,    /* Get(B_KeyInfo), which also renews the lease */
	STEP_ADDRESS, /* Set(ClassPortInfo) */
	STEP_KEY,     /* Set(B_KeyInfo) */
	STEP_ATTEMPT, /* a Set that the port refuses, which starts the lease of a hidden key */
};

struct managed_port {
	struct list link;	/* managed_ports.ports */
	struct list ready_link; /* of the manager: ports with a step to take */
	uint64_t guid;
	uint16_t lid;
	char description[NODE_DESCRIPTION_BYTES + 1];
	uint32_t seen_in_sweep;
	enum managed_state state;
	enum managed_step step;
	bool is_asked;	    /* a request is under way */
	bool must_renew;    /* read again after the present steps */
	uint16_t told_lid;  /* our LID when the port last got it as its trap address */
	uint64_t under_key; /* the key that the port has, for the present steps */
	/* The last traps, so that repeats of one are reported once. */
	uint64_t traps[TRAPS_REMEMBERED];
	unsigned trap_index;
};

struct managed_ports {
	struct list ports;
	struct hash_table by_guid;
	struct hash_table by_lid;
	uint32_t sweep;
	uint32_t count;
};

void managed_ports_init(struct managed_ports *ports);
void managed_ports_release(struct managed_ports *ports);

struct managed_port *managed_ports_by_lid(const struct managed_ports *ports, uint16_t lid);
struct managed_port *managed_ports_by_guid(const struct managed_ports *ports, uint64_t guid);

/* Takes the records of one table: new ports are added, LIDs change. Afterwards leave() gets every
 * port that is not in the table any more, just before it is freed. */
void managed_ports_update(struct managed_ports *ports, const uint8_t *node_records,
			  size_t record_count, size_t record_bytes,
			  void (*leave)(void *context, struct managed_port *port), void *context);

/* Whether a trap with this transaction id came before; remembers it. */
MUST_USE bool managed_port_knows_trap(struct managed_port *port, uint64_t transaction_id);

#endif
