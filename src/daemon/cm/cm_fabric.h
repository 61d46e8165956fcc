/* SPDX-License-Identifier: Apache-2.0 */
/* Connections in softibd: a connection manager per host, the programs that use them, and the turn
 * that lets them work. */
#ifndef SOFTIB_DAEMON_CM_CM_FABRIC_H
#define SOFTIB_DAEMON_CM_CM_FABRIC_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "base/timer_queue.h"

struct cm_host;
struct daemon;
struct endpoint;
struct host;
struct ifaddrs;

struct cm_fabric {
	struct daemon *daemon;
	bool is_up; /* from the first use on */
	struct list hosts;
	struct list ready; /* hosts with something to send */
	struct timer_queue timers;
	struct list programs;
	struct list ended;	     /* programs to take down at the end of the turn */
	struct list closed_channels; /* to be freed then */
	struct list unwritten;	     /* channels with events that their programs have not been shown */
	struct ifaddrs *machine;     /* the addresses of this machine */
	time_ns machine_read_at;
};

void cm_fabric_init(struct cm_fabric *fabric, struct daemon *daemon);
/* Before the hosts go. */
void cm_fabric_release(struct cm_fabric *fabric);

/* Every host answers for itself from now on. */
MUST_USE int cm_fabric_bring_up(struct cm_fabric *fabric);

/* Returns whether there is more to do at once. */
bool cm_fabric_run(struct cm_fabric *fabric);
/* Shows programs what they are to hear, at the end of the turn. */
void cm_fabric_publish(struct cm_fabric *fabric);
time_ns cm_fabric_deadline(const struct cm_fabric *fabric);

/* A packet for the queue pair of IP over InfiniBand of a port, or one of its groups. */
struct frame;
struct port;
/* PortInfo changed; if ClientReregister is set, memberships are asked for again. */
void cm_fabric_port_changed(struct cm_fabric *fabric, struct port *port);
void cm_fabric_receive_ip(struct cm_fabric *fabric, struct port *port, const struct frame *frame);

#endif
