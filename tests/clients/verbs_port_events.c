/* SPDX-License-Identifier: Apache-2.0 */
/* Prints "ready", then each asynchronous event until the port has gone down and come back, or 30
 * seconds have passed. Every process that has the device open gets all of them, in the same order.
 */
#include "verbs_client.h"
#include <poll.h>

enum { WAIT_MS = 120000, EVENTS_MAX = 64 };

static struct ibv_async_event next_event(struct ibv_context *context)
{
	struct pollfd item = {.fd = context->async_fd, .events = POLLIN};
	struct ibv_async_event event;

	CHECK_EQUAL(poll(&item, 1, WAIT_MS), 1);
	CHECK_EQUAL(ibv_get_async_event(context, &event), 0);
	ibv_ack_async_event(&event);
	CHECK_EQUAL(event.element.port_num, 1);
	return event;
}

int main(void)
{
	struct device device = device_open();
	struct ibv_context *second = ibv_open_device(device.context->device);
	enum ibv_event_type types[EVENTS_MAX];
	unsigned count = 0;
	bool has_gone = false;

	CHECK(second);
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	for (;;) {
		struct ibv_async_event event = next_event(device.context);

		printf("%s on port %d\n", ibv_event_type_str(event.event_type),
		       event.element.port_num);
		CHECK(count < EVENTS_MAX);
		types[count++] = event.event_type;
		if (event.event_type == IBV_EVENT_PORT_ERR)
			has_gone = true;
		if (event.event_type == IBV_EVENT_PORT_ACTIVE && has_gone)
			break;
	}
	for (unsigned i = 0; i < count; i++)
		CHECK_EQUAL(next_event(second).event_type, types[i]);
	CHECK_EQUAL(ibv_close_device(second), 0);
	CHECK_EQUAL(ibv_query_port(device.context, 1, &device.port), 0);
	CHECK_EQUAL(device.port.state, IBV_PORT_ACTIVE);
	device_close(&device);
	puts("ok");
	return 0;
}
