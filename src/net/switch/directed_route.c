/* SPDX-License-Identifier: Apache-2.0 */
/* Directed-route SMPs at every node: rules O1 to O5 and R1 to R5 (vol 1, chapter 14; management
 * 2.2). */
#include "net/switch/directed_route.h"

#include "base/bytes.h"
#include "wire/pkey.h"

enum {
	DIRECTION_OFFSET = 4, /* D is the top bit */
	DIRECTION_RETURNING = 0x80,
};

static struct smp_step step(enum smp_action action)
{
	return (struct smp_step){.action = action};
}

/* A CA or router sends only by the port that the SMP is at, a switch by any port. */
static struct smp_step out(const struct node *node, unsigned port_number, uint8_t output_port)
{
	bool exists = output_port >= 1 && output_port <= node->port_count;

	if (!exists || (!node_is_switch(node) && output_port != port_number))
		return step(SMP_DISCARD);
	return (struct smp_step){.action = SMP_OUT, .output_port = output_port};
}

/* The directed part of the path ends: here, or with a LID-routed part. */
static struct smp_step end_of_path(const struct node *node, unsigned port_number, uint16_t lid)
{
	const struct port *port = &node->ports[node_is_switch(node) ? 0 : port_number];

	if (lid == LID_PERMISSIVE || port_owns_lid(port, lid))
		return step(SMP_HERE);
	if (!node_is_switch(node))
		return step(SMP_DISCARD);
	return (struct smp_step){.action = SMP_BY_LID, .dlid = lid};
}

static struct smp_step advance_outgoing(const struct node *node, unsigned port_number, uint8_t *smp)
{
	uint8_t *hop_pointer = &smp[MAD_HOP_POINTER_OFFSET];
	uint8_t hop_count = smp[MAD_HOP_COUNT_OFFSET];
	const uint8_t *initial_path = smp + SMP_INITIAL_PATH_OFFSET;
	uint8_t *return_path = smp + SMP_RETURN_PATH_OFFSET;

	if (hop_count != 0 && *hop_pointer == 0) { /* O1 */
		*hop_pointer = 1;
		return out(node, port_number, initial_path[1]);
	}
	if (*hop_pointer > 0 && *hop_pointer < hop_count && node_is_switch(node)) { /* O2 */
		return_path[*hop_pointer] = (uint8_t)port_number;
		++*hop_pointer;
		return out(node, port_number, initial_path[*hop_pointer]);
	}
	if (*hop_pointer == hop_count) { /* O3 */
		if (hop_count != 0)
			return_path[*hop_pointer] = (uint8_t)port_number;
		++*hop_pointer;
		return end_of_path(node, port_number, get_be16(smp + SMP_DR_DLID_OFFSET));
	}
	if (*hop_pointer == hop_count + 1) /* O4 */
		return step(SMP_HERE);
	return step(SMP_DISCARD); /* O5 */
}

static struct smp_step advance_returning(const struct node *node, unsigned port_number,
					 uint8_t *smp)
{
	uint8_t *hop_pointer = &smp[MAD_HOP_POINTER_OFFSET];
	uint8_t hop_count = smp[MAD_HOP_COUNT_OFFSET];
	const uint8_t *return_path = smp + SMP_RETURN_PATH_OFFSET;

	bool starts = hop_count != 0 && *hop_pointer == hop_count + 1; /* R1 */
	bool passes =
		*hop_pointer >= 2 && *hop_pointer <= hop_count && node_is_switch(node); /* R2 */

	if (starts || passes) {
		--*hop_pointer;
		return out(node, port_number, return_path[*hop_pointer]);
	}
	if (*hop_pointer == 1) { /* R3 */
		*hop_pointer = 0;
		return end_of_path(node, port_number, get_be16(smp + SMP_DR_SLID_OFFSET));
	}
	if (*hop_pointer == 0) /* R4 */
		return step(SMP_HERE);
	return step(SMP_DISCARD); /* R5 */
}

struct smp_step directed_route_advance(const struct node *node, unsigned port_number,
				       uint8_t smp[static MAD_BYTES])
{
	if (smp[MAD_HOP_COUNT_OFFSET] > MAD_HOPS_MAX ||
	    smp[MAD_HOP_POINTER_OFFSET] > MAD_HOPS_MAX + 1)
		return step(SMP_DISCARD);
	if (smp[DIRECTION_OFFSET] & DIRECTION_RETURNING)
		return advance_returning(node, port_number, smp);
	return advance_outgoing(node, port_number, smp);
}

bool directed_route_ends_by_lid(const uint8_t smp[static MAD_BYTES])
{
	return get_be16(smp + SMP_DR_DLID_OFFSET) != LID_PERMISSIVE;
}
