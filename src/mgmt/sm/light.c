/* SPDX-License-Identifier: Apache-2.0 */
/* The light sweep: has any switch seen a port change since the last look? (vol 1, chapter 14) */
#include "mgmt/sm/sweep.h"

#include <string.h>

static int light_begin(struct sm *sm)
{
	sweep_cursor_reset(sm);
	return 0;
}

/* The manager's own port and every switch. */
static bool light_next(struct sm *sm, struct mad_message *ret_request,
		       struct mad_purpose *ret_purpose)
{
	while (sm->cursor_node != &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(sm->cursor_node);

		sm->cursor_node = sm->cursor_node->next;
		*ret_purpose = (struct mad_purpose){.subject = node};
		if (subnet_node_is_switch(node)) {
			sweep_request(node, MAD_GET, ATTRIBUTE_SWITCH_INFO, 0, ret_request);
			return true;
		}
		if (node == sm->own_port->node) {
			sweep_request(node, MAD_GET, ATTRIBUTE_PORT_INFO, sm->own_port->number,
				      ret_request);
			return true;
		}
	}
	return false;
}

static void light_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data)
{
	struct subnet_node *node = purpose.subject;
	struct switch_info switch_info;
	struct port_info info;

	if (subnet_node_is_switch(node)) {
		switch_info_decode(data, &switch_info);
		if (switch_info.port_state_change)
			discovery_want_switch(sm, node);
		/* Somebody else, or a reset, wrote there: nothing is known of the tables. */
		if (switch_info.linear_fdb_top != node->switch_info.linear_fdb_top) {
			memset(node->table_blocks_known, 0, sizeof(node->table_blocks_known));
			sweep_want(sm, SCOPE_ALL);
		}
		return;
	}
	port_info_decode(data, &info);
	/* Another's MasterSMLID here is how one learns of another master. */
	if (info.port_state != sm->own_port->info.port_state || info.lid != sm->own_port->lid ||
	    info.master_sm_lid != sm->own_port->lid)
		sweep_want(sm, SCOPE_ALL);
}

/* One that is silent is asked more in the next sweep. */
static void light_failed(struct sm *sm, struct mad_purpose purpose)
{
	struct subnet_node *node = purpose.subject;

	if (subnet_node_is_switch(node))
		discovery_want_switch(sm, node);
	else
		sweep_want(sm, SCOPE_ALL);
}

static enum sweep_phase light_following(struct sm *sm)
{
	(void)sm;
	return PHASE_IDLE;
}

const struct phase_operations sweep_light = {
	.name = "light",
	.begin = light_begin,
	.next = light_next,
	.answered = light_answered,
	.failed = light_failed,
	.following = light_following,
};
