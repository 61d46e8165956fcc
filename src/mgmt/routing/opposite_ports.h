/* SPDX-License-Identifier: Apache-2.0 */
/* For meshes, tori and hypercubes whose switches are all connected alike: each port number leads to
 * one port number of another switch, everywhere. Such a pair of numbers is a dimension. */
#ifndef SOFTIB_MGMT_ROUTING_OPPOSITE_PORTS_H
#define SOFTIB_MGMT_ROUTING_OPPOSITE_PORTS_H

#include <stdint.h>
#include "base/attributes.h"

enum { OPPOSITE_PORTS_COUNT = 256 };

struct routing_graph;

/* By port number: the port number at the other end; 0: no switch has a link there. -EOPNOTSUPP:
 * switches differ. */
MUST_USE int opposite_ports_find(const struct routing_graph *graph,
				 uint8_t ret_opposite[static OPPOSITE_PORTS_COUNT]);

#endif
