/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that outlives softibd: checked messages until its adapter is gone, which an event and
 * the completions say. Then it closes everything, waits for an adapter and goes on there.
 *
 *   verbs_reattach COUNT
 *
 * Prints "attached N" when messages of its Nth adapter have arrived; ends well with those of the
 * COUNTth.
 */
#include "verbs_client.h"

enum { MESSAGE_BYTES = 3000, MESSAGES_PER_LINE = 200 };

/* As long as there is no softibd there is no adapter, or one that can't be opened, or one whose
 * port is not Active yet. */
static struct device wait_for_device(void)
{
	time_t end = time(NULL) + POLL_SECONDS_MAX;

	for (;;) {
		struct ibv_device **list = ibv_get_device_list(NULL);
		struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
		struct ibv_port_attr port;
		bool is_active = context && !ibv_query_port(context, 1, &port) &&
				 port.state == IBV_PORT_ACTIVE;

		if (list)
			ibv_free_device_list(list);
		if (context)
			CHECK_EQUAL(ibv_close_device(context), 0);
		if (is_active)
			return device_open();
		CHECK(time(NULL) <= end);
	}
}

/* One message from a to b with its number in every byte; false: the adapter is gone. */
static bool exchange(struct endpoint *a, struct endpoint *b, unsigned number)
{
	struct ibv_sge sge = sge_of(a, 0, MESSAGE_BYTES);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, b, 0);

	fill(a->bytes, MESSAGE_BYTES, number);
	memset(b->bytes, 0, MESSAGE_BYTES);
	post_receive(b, number, 0, MESSAGE_BYTES);
	post(a, &wr);

	struct ibv_wc sent = wait_completion(a->cq);
	struct ibv_wc received = wait_completion(b->cq);

	if (sent.status == IBV_WC_WR_FLUSH_ERR || received.status == IBV_WC_WR_FLUSH_ERR)
		return false;
	CHECK_EQUAL(sent.status, IBV_WC_SUCCESS);
	CHECK_EQUAL(received.status, IBV_WC_SUCCESS);
	CHECK_EQUAL(received.wr_id, number);
	CHECK_EQUAL(memcmp(a->bytes, b->bytes, MESSAGE_BYTES), 0);
	return true;
}

static void expect_device_fatal(struct ibv_context *context)
{
	struct ibv_async_event event;

	do {
		CHECK_EQUAL(ibv_get_async_event(context, &event), 0);
		ibv_ack_async_event(&event);
	} while (event.event_type != IBV_EVENT_DEVICE_FATAL);
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int attached = 1;; attached++) {
		struct device device = wait_for_device();
		struct endpoint a = endpoint_open(&device, IBV_QPT_RC);
		struct endpoint b = endpoint_open(&device, IBV_QPT_RC);
		unsigned number = 0;
		bool flows = true;

		connect_endpoints(&a, &b);
		while (flows && (attached < count || number < MESSAGES_PER_LINE)) {
			flows = exchange(&a, &b, number);
			if (++number == MESSAGES_PER_LINE)
				printf("attached %d\n", attached);
		}
		if (!flows)
			expect_device_fatal(device.context);
		endpoint_close(&a);
		endpoint_close(&b);
		device_close(&device);
		if (flows)
			return 0;
	}
}
