/* SPDX-License-Identifier: Apache-2.0 */
/* Directed-route SMPs: the next step of one at a node, by its hop pointer (vol 1, chapter 14;
 * management 2.2). */
#ifndef SOFTIB_NET_SWITCH_DIRECTED_ROUTE_H
#define SOFTIB_NET_SWITCH_DIRECTED_ROUTE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "net/node/node.h"
#include "wire/mad.h"

enum smp_action {
	SMP_DISCARD,
	SMP_HERE,   /* ends at this node: for its agent or manager */
	SMP_OUT,    /* leaves by the returned port */
	SMP_BY_LID, /* the LID-routed last part begins: to the returned LID */
};

struct smp_step {
	enum smp_action action;
	uint8_t output_port;
	uint16_t dlid;
};

/* Advances a directed-route SMP that came to the node by port_number, or that its own agent or
 * manager sends from there. Moves the hop pointer and records the return path. */
struct smp_step directed_route_advance(const struct node *node, unsigned port_number,
				       uint8_t smp[static MAD_BYTES]);

/* Whether the last part of the request was LID-routed, so that the answer goes by LID as well. */
bool directed_route_ends_by_lid(const uint8_t smp[static MAD_BYTES]);

#endif
