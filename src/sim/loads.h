/* SPDX-License-Identifier: Apache-2.0 */
/* Load and multicast flows: packets without queue pairs. */
#ifndef SOFTIB_SIM_LOADS_H
#define SOFTIB_SIM_LOADS_H

#include <stdbool.h>
#include "base/attributes.h"

struct flow;
struct frame;
struct port;
struct scenario_error;
struct sim_host;
struct traffic;

MUST_USE int load_init(struct flow *flow, struct scenario_error *ret_error);

/* Sends packets of the host's load flows in turn, as far as its port has room. */
void loads_send(struct traffic *traffic, const struct sim_host *host);

/* Whether the packet belongs to a load flow; if so, it is counted. */
bool loads_receive(struct traffic *traffic, const struct port *port, const struct frame *frame);

#endif
