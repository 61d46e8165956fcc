/* SPDX-License-Identifier: Apache-2.0 */
/* The subnet manager of a simulated fabric: what the simulator hands it and takes from it. */
#ifndef SOFTIB_SIM_SIM_MANAGER_H
#define SOFTIB_SIM_SIM_MANAGER_H

#include <stdbool.h>
#include "base/attributes.h"

struct frame;
struct port;
struct sim;

/* A packet on VL15 arrived; the frame stays the caller's. */
void sim_manager_receive(struct sim *sim, struct port *port, const struct frame *frame);
/* Sends what is due; returns whether there was anything. */
MUST_USE bool sim_manager_run(struct sim *sim);

#endif
