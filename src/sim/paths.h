/* SPDX-License-Identifier: Apache-2.0 */
/* What a path record would say of the way from one port to another, within a subnet or by routers. */
#ifndef SOFTIB_SIM_PATHS_H
#define SOFTIB_SIM_PATHS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "wire/gid.h"

struct port;
struct sim;

struct sim_path {
	uint16_t dlid;	/* of the port, or of the router that is first on the way to it */
	bool is_global; /* packets have a GRH, with what follows */
	uint8_t hop_limit;
	struct gid dgid;
};

/* -EHOSTUNREACH: they are in different subnets, and no router leads from one to the other. */
MUST_USE int sim_path_find(struct sim *sim, const struct port *from, const struct port *to,
			   struct sim_path *ret_path);

#endif
