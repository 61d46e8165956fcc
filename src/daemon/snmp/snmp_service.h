/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SNMP tunnelling in softibd (management 6.4): puts the messages for any node together, has them
 * answered by softib-snmpd, and sends answers and notifications from the node's port.
 */
#ifndef SOFTIB_DAEMON_SNMP_SNMP_SERVICE_H
#define SOFTIB_DAEMON_SNMP_SNMP_SERVICE_H

#include <stdbool.h>
#include "base/line_limit.h"
#include "base/list.h"
#include "base/time.h"
#include "daemon/snmp/snmp_helper.h"
#include "daemon/snmp/snmp_node_values.h"
#include "daemon/snmp/snmp_watch.h"
#include "mgmt/snmp/snmp_segments.h"

struct daemon_core;
struct mad_dispatch;

enum {
	SNMP_PENDING_MAX = 256,	      /* messages that wait for softib-snmpd */
	SNMP_PENDING_PER_SENDER = 32, /* of one LID */
	SNMP_OUTGOING_MAX = 256,      /* messages that wait for room in the fabric */
};

struct snmp_service {
	struct daemon_core *core;
	struct mad_dispatch *mads;
	struct snmp_helper helper;
	struct snmp_reassembly reassembly;
	struct snmp_texts texts;
	struct snmp_watch watch;
	struct list pending; /* struct pending_request, the oldest first */
	unsigned pending_count;
	struct list outgoing; /* struct outgoing_message */
	unsigned outgoing_count;
	uint64_t last_token;
	uint32_t notification_count;
	/* Strangers can cause lines (a wrong password, a flood), so there are few per second. */
	struct line_limit text_limit, loss_limit;
};

/* config_path: net-snmp's directives about communities, users and views; NULL: the defaults. */
void snmp_service_init(struct snmp_service *service, struct daemon_core *core,
		       struct mad_dispatch *mads, const char *config_path);
void snmp_service_release(struct snmp_service *service);

/* The end ports of all nodes say that they have SNMP tunnelling, if there is an agent that answers.
 */
void snmp_service_show_capability(struct snmp_service *service);

/* A segment arrived for the node of this port. */
void snmp_service_receive(struct snmp_service *service, struct port *port,
			  const struct mad_message *message);
/* Returns whether it sent anything. */
bool snmp_service_run(struct snmp_service *service);
time_ns snmp_service_deadline(const struct snmp_service *service);

#endif
