/* SPDX-License-Identifier: Apache-2.0 */
/* RC, UC and UD flows: a queue pair at each end; messages are posted within the flow's depth and
 * rate. */
#ifndef SOFTIB_SIM_CONNECTIONS_H
#define SOFTIB_SIM_CONNECTIONS_H

#include "base/attributes.h"

struct flow;
struct scenario_error;
struct sim_host;
struct traffic;

MUST_USE int connection_init(struct flow *flow, struct scenario_error *ret_error);
void connection_release(struct flow *flow);

/* Posts the messages that depth and rate allow now. */
void connection_send(struct flow *flow);

/* Polls the completion queues of this host's ends. */
void connections_poll(struct traffic *traffic, const struct sim_host *host);

#endif
