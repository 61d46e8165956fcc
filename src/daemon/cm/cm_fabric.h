/* SPDX-License-Identifier: Apache-2.0 */
/* Connection management of the whole fabric: a connection manager per host, and the turn that runs
 * them. */
#ifndef SOFTIB_DAEMON_CM_CM_FABRIC_H
#define SOFTIB_DAEMON_CM_CM_FABRIC_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"
#include "daemon/cm/cm_objects.h"

struct daemon_core;
struct frame;
struct mad_dispatch;
struct port;

void cm_fabric_init(struct cm_fabric *fabric, struct daemon_core *core, struct mad_dispatch *mads);
/* To be called before the hosts are released. */
void cm_fabric_release(struct cm_fabric *fabric);

/* Starts the connection managers of all hosts. */
MUST_USE int cm_fabric_bring_up(struct cm_fabric *fabric);

/* Returns whether there is more to do at once. */
bool cm_fabric_run(struct cm_fabric *fabric);
/* Writes the events of this turn to programs' channels. */
void cm_fabric_publish(struct cm_fabric *fabric);
time_ns cm_fabric_deadline(const struct cm_fabric *fabric);

/* PortInfo changed; if ClientReregister is set, the port joins its groups again. */
void cm_fabric_port_changed(struct cm_fabric *fabric, struct port *port);
/* A packet for the IPoIB queue pair of a port, or one of its groups. */
void cm_fabric_receive_ip(struct cm_fabric *fabric, struct port *port, const struct frame *frame);

#endif
