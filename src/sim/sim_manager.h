/* SPDX-License-Identifier: Apache-2.0 */
/* The subnet managers of a simulated fabric: packets to and from them, and their timers. */
#ifndef SOFTIB_SIM_SIM_MANAGER_H
#define SOFTIB_SIM_SIM_MANAGER_H

#include <stdbool.h>
#include "base/attributes.h"

struct frame;
struct port;
struct sim;

/* A packet on VL15 arrived; the frame stays the caller's. */
void sim_manager_receive(struct sim *sim, struct port *port, const struct frame *frame);
/* Lets the managers send what is due; returns whether there was anything. */
MUST_USE bool sim_managers_run(struct sim *sim);
/* Whether a manager received something since its last turn. */
MUST_USE bool sim_managers_have_received(const struct sim *sim);

#endif
