/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a path record from one port to another, within a subnet or by routers. */
#ifndef SOFTIB_SIM_PATHS_H
#define SOFTIB_SIM_PATHS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "wire/gid.h"

struct port;
struct sim;

struct sim_path {
	uint16_t dlid;	/* of the port, or of the first router on the path to it */
	bool is_global; /* packets have a GRH with the following fields */
	uint8_t hop_limit;
	struct gid dgid;
};

/* -EHOSTUNREACH: the ports are in different subnets, and no router leads from one to the other. */
MUST_USE int sim_path_find(struct sim *sim, const struct port *from, const struct port *to,
			   struct sim_path *ret_path);

#endif
