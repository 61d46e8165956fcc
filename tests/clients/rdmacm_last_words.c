/* SPDX-License-Identifier: Apache-2.0 */
/* A side that has received and leaves at once: its peer's send completes with success, however late
 * the sender polls. An adapter acknowledges before it tells its program (vol 1, chapter 9.7.5.1.2),
 * so that the answer is ahead of the disconnect request. */
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include "rdmacm_client.h"

enum { TEXT_BYTES = 64, MESSAGES = 8, RESOLVE_MS = 20000 };

static struct sockaddr_in address_of(const char *text, const char *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET};

	address.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
	CHECK(inet_pton(AF_INET, text, &address.sin_addr) == 1);
	return address;
}

static struct ibv_qp_init_attr queue_pair(void)
{
	return (struct ibv_qp_init_attr){.cap = {.max_send_wr = MESSAGES,
						 .max_recv_wr = MESSAGES,
						 .max_send_sge = 1,
						 .max_recv_sge = 1},
					 .qp_type = IBV_QPT_RC,
					 .sq_sig_all = 1};
}

static void serve_one(struct rdma_cm_id *listener)
{
	struct ibv_qp_init_attr attributes = queue_pair();
	struct rdma_conn_param parameters = {.rnr_retry_count = 7};
	static char bytes[MESSAGES][TEXT_BYTES];
	struct ibv_wc completion;
	struct rdma_cm_id *id;

	CHECK(rdma_get_request(listener, &id) == 0);
	CHECK(rdma_create_qp(id, NULL, &attributes) == 0);

	struct ibv_mr *region = rdma_reg_msgs(id, bytes, sizeof(bytes));

	CHECK(region);
	for (unsigned i = 0; i < MESSAGES; i++)
		CHECK(rdma_post_recv(id, NULL, bytes[i], TEXT_BYTES, region) == 0);
	CHECK(rdma_accept(id, &parameters) == 0);
	for (unsigned i = 0; i < MESSAGES; i++)
		CHECK(rdma_get_recv_comp(id, &completion) == 1 &&
		      completion.status == IBV_WC_SUCCESS);
	CHECK(rdma_disconnect(id) == 0);
	rdma_dereg_mr(region);
	rdma_destroy_ep(id);
}

static void serve(const char *text, const char *port, unsigned rounds)
{
	struct sockaddr_in address = address_of(text, port);
	struct rdma_cm_id *listener;

	CHECK(rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_bind_addr(listener, (struct sockaddr *)&address) == 0);
	CHECK(rdma_listen(listener, 1) == 0);
	printf("listening\n");
	for (unsigned round = 0; round < rounds; round++)
		serve_one(listener);
	rdma_destroy_id(listener);
}

/* Waits for the peer's message without polling the CQ. */
static void await(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	CHECK(rdma_get_cm_event(channel, &event) == 0);
	CHECK(event->event == type);
	CHECK(rdma_ack_cm_event(event) == 0);
}

static void call_one(const struct sockaddr_in *address, unsigned round)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct ibv_qp_init_attr attributes = queue_pair();
	struct rdma_conn_param parameters = {.retry_count = 7, .rnr_retry_count = 7};
	static char bytes[TEXT_BYTES];
	struct ibv_wc completions[MESSAGES];
	struct rdma_cm_id *id;
	int taken = 0;

	CHECK(channel && rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)address, RESOLVE_MS) == 0);
	await(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK(rdma_resolve_route(id, RESOLVE_MS) == 0);
	await(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	CHECK(rdma_create_qp(id, NULL, &attributes) == 0);

	struct ibv_mr *region = rdma_reg_msgs(id, bytes, sizeof(bytes));

	CHECK(region && rdma_connect(id, &parameters) == 0);
	await(channel, RDMA_CM_EVENT_ESTABLISHED);
	for (unsigned i = 0; i < MESSAGES; i++)
		CHECK(rdma_post_send(id, NULL, bytes, TEXT_BYTES, region, 0) == 0);
	await(channel, RDMA_CM_EVENT_DISCONNECTED);
	CHECK(rdma_disconnect(id) == 0); /* moves the queue pair to the error state */
	while (taken < MESSAGES) {
		int count = ibv_poll_cq(id->send_cq, MESSAGES, completions);

		CHECK(count >= 0);
		for (int i = 0; i < count; i++, taken++)
			if (completions[i].status != IBV_WC_SUCCESS) {
				printf("FAIL round %u, message %d: %s\n", round, taken,
				       ibv_wc_status_str(completions[i].status));
				exit(1);
			}
	}
	rdma_dereg_mr(region);
	rdma_destroy_qp(id);
	CHECK(rdma_destroy_id(id) == 0);
	rdma_destroy_event_channel(channel);
}

int main(int argument_count, char **arguments)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argument_count != 5)
		return 2;

	unsigned rounds = (unsigned)strtoul(arguments[4], NULL, 10);

	if (strcmp(arguments[1], "serve") == 0) {
		serve(arguments[2], arguments[3], rounds);
		return 0;
	}

	struct sockaddr_in address = address_of(arguments[2], arguments[3]);

	for (unsigned round = 0; round < rounds; round++)
		call_one(&address, round);
	return 0;
}
