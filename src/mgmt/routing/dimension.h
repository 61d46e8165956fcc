/* SPDX-License-Identifier: Apache-2.0 */
/* One dimension of a mesh, torus or hypercube. Inline only: two engines ask it for every pair of
 * switches. */
#ifndef SOFTIB_MGMT_ROUTING_DIMENSION_H
#define SOFTIB_MGMT_ROUTING_DIMENSION_H

#include <stdbool.h>
#include <stdint.h>

struct dimension {
	uint8_t plus_port, minus_port; /* of every switch; equal for hypercubes */
	uint32_t size;
	bool is_ring; /* the last switch has a link to the first */
};

/* The shorter direction from one coordinate to another. If both are equally long, the direction
 * whose reverse is the path back and that does not pass the last link: a path and its reverse have
 * one SL. */
static inline bool dimension_goes_plus(const struct dimension *dimension, uint32_t from,
				       uint32_t to)
{
	uint32_t forward = (to + dimension->size - from) % dimension->size;

	if (dimension->is_ring && 2 * forward != dimension->size)
		return 2 * forward < dimension->size;
	return to > from;
}

/* Whether that path passes the link from the last switch of the ring to the first (the dateline).
 */
static inline bool dimension_passes_last_link(const struct dimension *dimension, uint32_t from,
					      uint32_t to)
{
	return dimension->is_ring && from != to &&
	       (dimension_goes_plus(dimension, from, to) ? to < from : to > from);
}

#endif
