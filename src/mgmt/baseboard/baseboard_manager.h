/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The baseboard manager of a subnet: finds the end ports through the SA, sets and keeps their
 * B_Keys, has their traps sent to its own port, represses the traps and forwards them as Reports to
 * subscribers (management 5, 6.2). MADs and time go in; MADs come out.
 *
 *	baseboard_manager_set_port(manager, &port) whenever the port may have changed
 *	baseboard_manager_receive(manager, now, &message) for SubnAdm responses with
 *sa_agent_number, and BM: responses with agent_number, Trap and Set(InformInfo) count =
 *baseboard_manager_transmit(manager, now, ...)
 */
#ifndef SOFTIB_MGMT_BASEBOARD_BASEBOARD_MANAGER_H
#define SOFTIB_MGMT_BASEBOARD_BASEBOARD_MANAGER_H

#include "mgmt/baseboard/bkeys.h"
#include "mgmt/baseboard/managed_ports.h"
#include "mgmt/sa/reports.h"
#include "mgmt/sa/sa_client.h"
#include "wire/notice.h"

enum { BASEBOARD_OUTBOX_MAX = 256 };

/* The port that the manager runs on. */
struct baseboard_manager_port {
	uint16_t lid;
	struct gid gid;
	uint16_t sm_lid;
	uint8_t sm_sl;
};

enum baseboard_event_kind {
	BASEBOARD_PORT_OURS,
	BASEBOARD_PORT_FOREIGN,
	BASEBOARD_PORT_SILENT,
	BASEBOARD_PORT_GONE,
	BASEBOARD_TRAP,
	BASEBOARD_SWEPT, /* no port and no notice */
};

struct baseboard_event {
	enum baseboard_event_kind kind;
	const struct managed_port *port;
	const struct notice *notice; /* of BASEBOARD_TRAP */
};

struct baseboard_manager_options {
	uint32_t agent_number, sa_agent_number;
	struct bkeys keys; /* key 0 and no secret: sets no keys */
	uint16_t lease_period;
	bool protects;		/* hides the keys while the manager is active */
	bool takes_over;	/* also ports with another manager's key, once it can be read */
	time_ns sweep_interval; /* 0: the default, or a third of the lease */
	/* Optional. */
	void (*tell)(void *context, const struct baseboard_event *event);
	void *context;
};

struct baseboard_manager {
	struct baseboard_manager_options options;
	struct baseboard_manager_port port;
	struct sa_client sa;
	bool is_reading; /* the table of NodeRecords is under way */
	time_ns sweep_at;
	struct managed_ports ports;
	struct list ready;
	struct mad_transactions transactions;
	struct subscriptions subscriptions;
	struct reports reports;
	struct mad_message outbox[BASEBOARD_OUTBOX_MAX]; /* TrapRepress, responses */
	unsigned outbox_first, outbox_count;
	uint64_t trap_count;
};

MUST_USE int baseboard_manager_init(struct baseboard_manager *manager,
				    const struct baseboard_manager_options *options);
void baseboard_manager_release(struct baseboard_manager *manager);

void baseboard_manager_set_port(struct baseboard_manager *manager,
				const struct baseboard_manager_port *port);

void baseboard_manager_receive(struct baseboard_manager *manager, time_ns now,
			       const struct mad_message *message);
unsigned baseboard_manager_transmit(struct baseboard_manager *manager, time_ns now,
				    unsigned messages_max, struct mad_message ret_messages[]);
time_ns baseboard_manager_deadline(const struct baseboard_manager *manager);

/* How many ports are in this state. */
unsigned baseboard_manager_count(const struct baseboard_manager *manager, enum managed_state state);

#endif
