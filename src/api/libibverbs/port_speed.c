/* SPDX-License-Identifier: Apache-2.0 */
/* ibv_query_port_speed, which is newer than Debian 12's headers (IBVERBS_1.16). */
#include "api/libibverbs/objects/objects.h"

int ibv_query_port_speed(struct ibv_context *context, uint32_t port_number, uint64_t *ret_speed);

/* In units of 100 Mb/s: link width times the nominal rate of one lane. */
static uint64_t port_speed(const struct port_view *port)
{
	static const struct {
		uint16_t code;
		uint16_t rate;
	} speeds[] = {{1, 25},	 {2, 50},   {4, 100},	 {8, 100},   {16, 140},
		      {32, 250}, {64, 500}, {128, 1000}, {256, 2000}};
	static const struct {
		uint8_t code;
		uint8_t lanes;
	} widths[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
	uint64_t rate = 0, lanes = 0;

	for (unsigned i = 0; i < ARRAY_COUNT(speeds); i++)
		if (speeds[i].code == port->link_speed_active)
			rate = speeds[i].rate;
	for (unsigned i = 0; i < ARRAY_COUNT(widths); i++)
		if (widths[i].code == port->link_width_active)
			lanes = widths[i].lanes;
	return rate * lanes;
}

int ibv_query_port_speed(struct ibv_context *public, uint32_t port_number, uint64_t *ret_speed)
{
	if (!public || !ret_speed)
		return verbs_result(-EINVAL);

	struct context_object *context = context_of(public);
	struct hca *hca = adapter_hca(context->adapter);

	if (port_number == 0 || port_number > hca->port_count)
		return verbs_result(-EINVAL);
	adapter_lock(context->adapter);
	*ret_speed = port_speed(hca->port_views[port_number - 1]);
	adapter_unlock(context->adapter);
	return 0;
}
