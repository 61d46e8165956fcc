/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flow control watchdog of a port (vol 1, chapter 7): its neighbour has to send flow control
 * packets all the time. On a sound link it does; a fault (no-flow-control) loses all that leave a
 * port, and its neighbour notices: it trains the link anew, with trap 131, and takes it down when
 * that does not help.
 */
#ifndef SOFTIB_FABRIC_FLOW_WATCHDOG_H
#define SOFTIB_FABRIC_FLOW_WATCHDOG_H

#include "base/time.h"

struct fabric;
struct link_faults;

/* The settings of these faults are new. */
void flow_watchdog_watch(struct fabric *fabric, struct link_faults *faults, time_ns now);
/* The faults go away: flow control packets get through again. */
void flow_watchdog_stop(struct fabric *fabric, struct link_faults *faults);

void flow_watchdogs_run(struct fabric *fabric, time_ns now);

#endif
