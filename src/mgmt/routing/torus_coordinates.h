/* SPDX-License-Identifier: Apache-2.0 */
/* Coordinates of the switches of a torus or mesh, found from the cabling, even if links or switches
 * are missing. */
#ifndef SOFTIB_MGMT_ROUTING_TORUS_COORDINATES_H
#define SOFTIB_MGMT_ROUTING_TORUS_COORDINATES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/routing/dimension.h"
#include "mgmt/routing/graph.h"

enum { TORUS_DIMENSIONS_MAX = 3 };

struct torus {
	const struct routing_graph *graph;
	unsigned dimension_count;
	struct dimension dimensions[TORUS_DIMENSIONS_MAX];
	uint32_t (*coordinates)[TORUS_DIMENSIONS_MAX]; /* [switch] */
	uint32_t place_count;			       /* product of the sizes */
	uint32_t *switch_at; /* [place]: ROUTING_NO_SWITCH: the switch is missing */
};

/*
 * A port number must mean the same direction at every switch. The lowest port is in the first
 * dimension. A dimension is a ring if any of its rings is whole, or has one gap between two lines
 * that other dimensions connect. -ENOMEM; -EOPNOTSUPP: no such cabling, more than three dimensions,
 * or switches that are not connected.
 */
MUST_USE int torus_find(struct torus *torus, const struct routing_graph *graph);
void torus_release(struct torus *torus);

/* The switch at the coordinates of this one with one coordinate changed. */
uint32_t torus_switch_at(const struct torus *torus, uint32_t switch_index, unsigned dimension,
			 uint32_t coordinate);
/* The dimension of a port; dimension_count: none. */
unsigned torus_dimension_of(const struct torus *torus, unsigned port_number);

#endif
