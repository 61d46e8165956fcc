/* SPDX-License-Identifier: Apache-2.0 */
/* Service IDs resolved at the target (SIDR, management 7.1, 7.2): datagram services with plain
 * service IDs (AF_IB, RDMA_PS_IB), and every status that a caller can get. Argument: own GID. */
#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>

#include "rdmacm_client.h"

enum { RESOLVE_MS = 2000, CALLERS = 80, BACKLOG_LEAST = 64, QPN = 0x123456 };
enum { STATUS_UNSUPPORTED = 1, STATUS_REJECTED = 2, STATUS_NO_QP = 3 };

#define SERVICE_ID UINT64_C(0x1002c90000000007)

static struct sockaddr_ib own;
static struct rdma_event_channel *channel;

static struct sockaddr_ib service_address(uint64_t service_id)
{
	struct sockaddr_ib address = own;

	address.sib_sid = htobe64(service_id);
	address.sib_sid_mask = htobe64(UINT64_MAX);
	return address;
}

static struct rdma_cm_id *listen_to(uint64_t service_id, enum ibv_qp_type type)
{
	struct sockaddr_ib address = service_address(service_id);
	struct rdma_addrinfo info = {.ai_flags = RAI_PASSIVE,
				     .ai_family = AF_IB,
				     .ai_qp_type = type,
				     .ai_port_space = RDMA_PS_IB,
				     .ai_src_len = sizeof(address),
				     .ai_src_addr = (struct sockaddr *)&address};
	struct rdma_cm_id *id;

	CHECK(rdma_create_ep(&id, &info, NULL, NULL) == 0);
	CHECK(rdma_migrate_id(id, channel) == 0);
	CHECK(rdma_listen(id, 1) == 0);
	return id;
}

/* A caller whose request is on its way. */
static struct rdma_cm_id *call(uint64_t service_id, enum ibv_qp_type type)
{
	struct sockaddr_ib address = service_address(service_id);
	struct rdma_addrinfo info = {.ai_family = AF_IB,
				     .ai_qp_type = type,
				     .ai_port_space = RDMA_PS_IB,
				     .ai_dst_len = sizeof(address),
				     .ai_dst_addr = (struct sockaddr *)&address};
	struct rdma_conn_param parameters = {
		.qp_num = 5, .private_data = "question", .private_data_len = 8};
	struct rdma_cm_id *id;

	CHECK(rdma_create_ep(&id, &info, NULL, NULL) == 0);
	CHECK(rdma_migrate_id(id, channel) == 0);
	CHECK(rdma_connect(id, &parameters) == 0);
	return id;
}

static struct rdma_cm_event *expect(enum rdma_cm_event_type kind)
{
	struct rdma_cm_event *event;

	CHECK(rdma_get_cm_event(channel, &event) == 0);
	if (event->event != kind)
		printf("%s instead of %s, status %d\n", rdma_event_str(event->event),
		       rdma_event_str(kind), event->status);
	CHECK(event->event == kind);
	return event;
}

static void expect_refused(struct rdma_cm_id *caller, int status)
{
	struct rdma_cm_event *event = expect(RDMA_CM_EVENT_UNREACHABLE);

	CHECK(event->id == caller && event->status == status);
	rdma_ack_cm_event(event);
	rdma_destroy_id(caller);
}

static void test_a_service_is_resolved(void)
{
	struct rdma_conn_param parameters = {
		.qp_num = QPN, .private_data = "answer", .private_data_len = 6};
	struct rdma_cm_id *listener = listen_to(SERVICE_ID, IBV_QPT_UD), *caller, *called;
	struct rdma_cm_event *event;

	caller = call(SERVICE_ID, IBV_QPT_UD);
	event = expect(RDMA_CM_EVENT_CONNECT_REQUEST);
	called = event->id;
	CHECK(event->listen_id == listener && called->qp_type == IBV_QPT_UD);
	CHECK(event->param.ud.private_data_len >= 8);
	CHECK(memcmp(event->param.ud.private_data, "question", 8) == 0);
	CHECK(rdma_accept(called, &parameters) == 0);
	rdma_ack_cm_event(event);
	event = expect(RDMA_CM_EVENT_ESTABLISHED);
	CHECK(event->id == caller && event->param.ud.qp_num == QPN);
	CHECK(event->param.ud.qkey == RDMA_UDP_QKEY);
	CHECK(memcmp(event->param.ud.private_data, "answer", 6) == 0);
	CHECK(event->param.ud.ah_attr.dlid != 0);
	rdma_ack_cm_event(event);
	rdma_destroy_id(called);
	rdma_destroy_id(caller);
	/* The consumer refuses. */
	caller = call(SERVICE_ID, IBV_QPT_UD);
	event = expect(RDMA_CM_EVENT_CONNECT_REQUEST);
	called = event->id;
	CHECK(rdma_reject(called, NULL, 0) == 0);
	rdma_ack_cm_event(event);
	rdma_destroy_id(called);
	expect_refused(caller, STATUS_REJECTED);
	rdma_destroy_id(listener);
	printf("ok a service is resolved, or refused by its consumer\n");
}

static void test_unsupported(void)
{
	struct rdma_cm_id *listener = listen_to(SERVICE_ID, IBV_QPT_RC);

	expect_refused(call(SERVICE_ID + 1, IBV_QPT_UD), STATUS_UNSUPPORTED);
	expect_refused(call(SERVICE_ID, IBV_QPT_UD), STATUS_UNSUPPORTED);
	rdma_destroy_id(listener);
	expect_refused(call(SERVICE_ID, IBV_QPT_UD), STATUS_UNSUPPORTED);
	printf("ok nobody there, and a service of connections\n");
}

/* A service that nobody serves takes so many requests as its backlog has room for. */
static void test_no_queue_pair_left(void)
{
	struct rdma_cm_id *listener = listen_to(SERVICE_ID, IBV_QPT_UD);
	struct rdma_cm_id *callers[CALLERS], *called[CALLERS];
	unsigned called_count = 0, refused_count = 0;

	for (unsigned i = 0; i < CALLERS; i++) {
		struct rdma_cm_event *event;

		callers[i] = call(SERVICE_ID, IBV_QPT_UD);
		CHECK(rdma_get_cm_event(channel, &event) == 0);
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
			called[called_count++] = event->id;
		} else {
			CHECK(event->event == RDMA_CM_EVENT_UNREACHABLE);
			CHECK(event->status == STATUS_NO_QP);
			refused_count++;
		}
		rdma_ack_cm_event(event);
	}
	CHECK(called_count == BACKLOG_LEAST && refused_count == CALLERS - BACKLOG_LEAST);
	for (unsigned i = 0; i < CALLERS; i++)
		rdma_destroy_id(callers[i]);
	for (unsigned i = 0; i < called_count; i++)
		rdma_destroy_id(called[i]);
	rdma_destroy_id(listener);
	printf("ok no queue pair left\n");
}

static void test_a_service_id_is_taken_once(void)
{
	struct sockaddr_ib address = service_address(SERVICE_ID);
	struct rdma_cm_id *listener = listen_to(SERVICE_ID, IBV_QPT_UD), *second;

	CHECK(rdma_create_id(channel, &second, NULL, RDMA_PS_IB) == 0);
	CHECK(rdma_bind_addr(second, (struct sockaddr *)&address) == -1 && errno == EADDRINUSE);
	rdma_destroy_id(second);
	rdma_destroy_id(listener);
	printf("ok a service ID is taken once\n");
}

int main(int argument_count, char **arguments)
{
	CHECK(argument_count == 2);
	own = (struct sockaddr_ib){.sib_family = AF_IB, .sib_pkey = htons(0xffff)};
	CHECK(inet_pton(AF_INET6, arguments[1], &own.sib_addr) == 1);
	channel = rdma_create_event_channel();
	CHECK(channel);
	test_a_service_is_resolved();
	test_unsupported();
	test_no_queue_pair_left();
	test_a_service_id_is_taken_once();
	rdma_destroy_event_channel(channel);
	return 0;
}
