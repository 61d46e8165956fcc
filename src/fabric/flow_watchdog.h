/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flow control watchdog of a port (vol 1, chapter 7; transport 8.4). A neighbour has to send
 * flow control packets all the time, and on a sound link it does. The fault no-flow-control loses
 * all that leave a port. The port at the other end then retrains the link and sends trap 131; when
 * that does not help, it takes the link down.
 */
#ifndef SOFTIB_FABRIC_FLOW_WATCHDOG_H
#define SOFTIB_FABRIC_FLOW_WATCHDOG_H

#include "base/time.h"

struct fabric;
struct link_faults;

/* The settings of these faults changed. */
void flow_watchdog_watch(struct fabric *fabric, struct link_faults *faults, time_ns now);
/* The faults are taken away: flow control packets get through again. */
void flow_watchdog_stop(struct fabric *fabric, struct link_faults *faults);

void flow_watchdogs_run(struct fabric *fabric, time_ns now);

#endif
