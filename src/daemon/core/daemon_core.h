/* SPDX-License-Identifier: Apache-2.0 */
/* The state that every part of softibd works on: the fabric, its hosts, its clients, the event
 * loop. */
#ifndef SOFTIB_DAEMON_CORE_DAEMON_CORE_H
#define SOFTIB_DAEMON_CORE_DAEMON_CORE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/list.h"
#include "daemon/core/client.h"
#include "daemon/core/event_loop.h"
#include "daemon/core/fair_share.h"
#include "daemon/core/file_closer.h"
#include "daemon/core/host_table.h"
#include "daemon/core/limits.h"
#include "fabric/fabric.h"

struct fabric_page;
struct node;
struct port;

struct daemon_core {
	const char *fabric_name;
	struct event_loop loop;
	struct fabric fabric;
	struct host_table hosts;
	struct client_table clients;
	struct accounts accounts; /* of the processes of clients */
	struct fair_shares shares;
	struct file_closers closers;
	int page_file;
	struct fabric_page *page;      /* the generation word and counts that programs map */
	bool offloads;		       /* programs may exchange packets by direct rings */
	struct list changed_endpoints; /* whose programs have not been told of a port change yet */
	bool isolates;		       /* programs may not map each other's memory */
	bool paths_changed;	       /* the generation word has to be advanced */
	time_ns grants_due;	/* when to check the grants of direct rings; TIME_NEVER: not */
	time_ns grants_checked; /* not before this time */
	/* A MAD, an IPoIB packet or a control message came that a manager or agent may have to
	 * answer. */
	bool managers_have_news;
	uint32_t last_xrc_domain_id;
};

void daemon_core_init(struct daemon_core *core);

/* The first adapter of a host, or a node by its name, description or GUID. NULL: none. */
struct node *daemon_core_find_node(const struct daemon_core *core, const char *name);

/* Marks the port's endpoint, if it has one, as changed. */
void daemon_core_port_changed(struct daemon_core *core, struct port *port);

#endif
