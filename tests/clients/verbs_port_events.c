/* SPDX-License-Identifier: Apache-2.0 */
/* Says "ready", then prints each asynchronous event until the port has gone and come back, or 30
 * seconds have passed. */
#include "verbs_client.h"
#include <poll.h>

enum { WAIT_MS = 30000 };

int main(void)
{
	struct device device = device_open();
	bool has_gone = false;

	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	for (;;) {
		struct pollfd item = {.fd = device.context->async_fd, .events = POLLIN};
		struct ibv_async_event event;

		CHECK_EQUAL(poll(&item, 1, WAIT_MS), 1);
		CHECK_EQUAL(ibv_get_async_event(device.context, &event), 0);
		printf("%s on port %d\n", ibv_event_type_str(event.event_type),
		       event.element.port_num);
		ibv_ack_async_event(&event);
		CHECK_EQUAL(event.element.port_num, 1);
		if (event.event_type == IBV_EVENT_PORT_ERR)
			has_gone = true;
		if (event.event_type == IBV_EVENT_PORT_ACTIVE && has_gone)
			break;
	}
	CHECK_EQUAL(ibv_query_port(device.context, 1, &device.port), 0);
	CHECK_EQUAL(device.port.state, IBV_PORT_ACTIVE);
	device_close(&device);
	puts("ok");
	return 0;
}
