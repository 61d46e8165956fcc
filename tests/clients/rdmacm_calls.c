/* SPDX-License-Identifier: Apache-2.0 */
/* What librdmacm's calls do, good and bad: both ends of each connection are in this program, on its
 * own host (management 8.2). Prints "ok NAME" per case; ends at the first that fails.
 * Covers: api/librdmacm/address_calls.c api/librdmacm/address_info.c
 * api/librdmacm/connection_calls.c api/librdmacm/endpoint.c api/librdmacm/event_channel.c
 * api/librdmacm/rdma_events.c api/librdmacm/identifier.c api/librdmacm/identifier_route.c
 * api/librdmacm/options.c api/librdmacm/queue_pair.c api/librdmacm/queue_pair_calls.c
 * api/librdmacm/socket_address.c api/librdmacm/written_events.c api/librdmacm/rdma_multicast.c
 * runtime/cm_session.c daemon/cm/cm_address.c daemon/cm/cm_binding.c daemon/cm/cm_channel.c
 * daemon/cm/cm_commands.c daemon/cm/cm_connections.c daemon/cm/cm_datagrams.c daemon/cm/cm_fabric.c
 * daemon/cm/cm_host.c daemon/cm/cm_ids.c daemon/cm/cm_multicast.c
 * daemon/cm/cm_command_socket.c daemon/cm/cm_engine_events.c daemon/cm/cm_routes.c
 * daemon/cm/ipoib_port.c */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <infiniband/ib.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include "rdmacm_client.h"

#define FAILS(call, error)                                                                         \
	do {                                                                                       \
		errno = 0;                                                                         \
		CHECK((call) != 0);                                                                \
		CHECK(errno == (error));                                                           \
	} while (0)

enum { TIMEOUT_MS = 60000, RESOLVE_MS = 20000 };

static struct rdma_event_channel *channel;
static const char *own_address, *other_address;

static struct sockaddr_in address_of(const char *text, uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};

	CHECK(inet_pton(AF_INET, text, &address.sin_addr) == 1);
	return address;
}

/* The next event, which is of this kind; the caller acknowledges it. */
static struct rdma_cm_event *next_event(enum rdma_cm_event_type kind)
{
	struct pollfd waiting = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;

	CHECK(poll(&waiting, 1, TIMEOUT_MS) == 1);
	CHECK(rdma_get_cm_event(channel, &event) == 0);
	if (event->event != kind)
		printf("got %s (%d), wanted %s\n", rdma_event_str(event->event), event->status,
		       rdma_event_str(kind));
	CHECK(event->event == kind);
	return event;
}

static void expect(enum rdma_cm_event_type kind)
{
	CHECK(rdma_ack_cm_event(next_event(kind)) == 0);
}

static bool is_readable(void)
{
	struct pollfd waiting = {.fd = channel->fd, .events = POLLIN};

	return poll(&waiting, 1, 0) == 1;
}

static struct rdma_cm_id *make_id(void)
{
	struct rdma_cm_id *id;

	CHECK(rdma_create_id(channel, &id, channel, RDMA_PS_TCP) == 0);
	return id;
}

static struct rdma_cm_id *make_listener(const char *text, uint16_t *ret_port)
{
	struct sockaddr_in address = address_of(text, 0);
	struct rdma_cm_id *id = make_id();

	CHECK(rdma_bind_addr(id, (struct sockaddr *)&address) == 0);
	CHECK(rdma_listen(id, 8) == 0);
	*ret_port = ntohs(rdma_get_src_port(id));
	CHECK(*ret_port != 0);
	return id;
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attributes = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC};

	CHECK(rdma_create_qp(id, NULL, &attributes) == 0);
	CHECK(id->qp && id->pd && id->send_cq && id->recv_cq);
}

static struct rdma_cm_id *resolved(const char *text, uint16_t port)
{
	struct sockaddr_in address = address_of(text, port);
	struct rdma_cm_id *id = make_id();

	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, RESOLVE_MS) == 0);
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK(id->verbs && id->port_num == 1 && id->pd);
	CHECK(rdma_resolve_route(id, RESOLVE_MS) == 0);
	expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
	CHECK(id->route.num_paths == 1 && id->route.path_rec);
	return id;
}

static void drop(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	CHECK(rdma_destroy_id(id) == 0);
}

static void connect_pair(struct rdma_cm_id **ret_caller, struct rdma_cm_id **ret_called,
			 struct rdma_cm_id **ret_listener)
{
	struct rdma_conn_param parameters = {.responder_resources = 3,
					     .initiator_depth = 2,
					     .retry_count = 5,
					     .rnr_retry_count = 6,
					     .private_data = "hello",
					     .private_data_len = 6};
	struct rdma_cm_event *event;
	uint16_t port;

	*ret_listener = make_listener(own_address, &port);
	*ret_caller = resolved(own_address, port);
	make_qp(*ret_caller);
	CHECK(rdma_connect(*ret_caller, &parameters) == 0);
	event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST);
	CHECK(event->listen_id == *ret_listener);
	CHECK(event->id->context == channel && event->id->channel == channel);
	/* The resources of one side are the limit of the other. */
	CHECK(event->param.conn.responder_resources == 2);
	CHECK(event->param.conn.initiator_depth == 3);
	CHECK(event->param.conn.retry_count == 5 && event->param.conn.rnr_retry_count == 6);
	CHECK(event->param.conn.qp_num == (*ret_caller)->qp->qp_num);
	CHECK(event->param.conn.private_data_len == 56);
	CHECK(strcmp(event->param.conn.private_data, "hello") == 0);
	*ret_called = event->id;
	CHECK(rdma_ack_cm_event(event) == 0);
	make_qp(*ret_called);
	parameters.private_data = "welcome";
	parameters.private_data_len = 8;
	parameters.responder_resources = 2;
	CHECK(rdma_accept(*ret_called, &parameters) == 0);
	event = next_event(RDMA_CM_EVENT_ESTABLISHED);
	CHECK(event->id == *ret_caller && event->param.conn.private_data_len == 196);
	CHECK(strcmp(event->param.conn.private_data, "welcome") == 0);
	CHECK(rdma_ack_cm_event(event) == 0);
	expect(RDMA_CM_EVENT_ESTABLISHED);
}

static struct ibv_qp_attr attributes_of(const struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr initial;
	struct ibv_qp_attr attributes;

	CHECK(ibv_query_qp(id->qp, &attributes, IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY, &initial) ==
	      0);
	return attributes;
}

/* 7 is the most that REQ and REP can carry; more reads and atomics than the adapter has are refused
 * by both calls. */
static void test_retry_counts_are_clamped_and_depths_refused(void)
{
	struct rdma_conn_param parameters = {.retry_count = 10, .rnr_retry_count = 200};
	struct rdma_conn_param deep = {.responder_resources = RDMA_MAX_RESP_RES - 1};
	struct rdma_conn_param eager = {.initiator_depth = RDMA_MAX_INIT_DEPTH - 1};
	struct rdma_cm_event *event;
	uint16_t port;
	struct rdma_cm_id *listener = make_listener(own_address, &port);
	struct rdma_cm_id *caller = resolved(own_address, port), *called;

	make_qp(caller);
	FAILS(rdma_connect(caller, &deep), EINVAL);
	FAILS(rdma_connect(caller, &eager), EINVAL);
	CHECK(rdma_connect(caller, &parameters) == 0);
	event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST);
	CHECK(event->param.conn.retry_count == 7 && event->param.conn.rnr_retry_count == 7);
	called = event->id;
	CHECK(rdma_ack_cm_event(event) == 0);
	make_qp(called);
	parameters.rnr_retry_count = 9;
	CHECK(rdma_accept(called, &parameters) == 0);
	expect(RDMA_CM_EVENT_ESTABLISHED);
	expect(RDMA_CM_EVENT_ESTABLISHED);
	CHECK(attributes_of(caller).retry_cnt == 7 && attributes_of(caller).rnr_retry == 7);
	CHECK(attributes_of(called).retry_cnt == 7 && attributes_of(called).rnr_retry == 7);
	drop(caller);
	expect(RDMA_CM_EVENT_DISCONNECTED);
	drop(called);

	caller = resolved(own_address, port);
	make_qp(caller);
	CHECK(rdma_connect(caller, &parameters) == 0);
	event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST);
	called = event->id;
	CHECK(rdma_ack_cm_event(event) == 0);
	make_qp(called);
	FAILS(rdma_accept(called, &deep), EINVAL);
	CHECK(rdma_reject(called, NULL, 0) == 0);
	expect(RDMA_CM_EVENT_REJECTED);
	drop(called);
	drop(caller);
	drop(listener);
	printf("ok retry counts are clamped and depths refused\n");
}

static void test_connect_send_disconnect(void)
{
	struct rdma_cm_id *caller, *called, *listener;
	char sent[32] = "data", received[32] = "";
	struct ibv_wc completion;

	connect_pair(&caller, &called, &listener);

	struct ibv_mr *from = rdma_reg_msgs(caller, sent, sizeof(sent));
	struct ibv_mr *to = rdma_reg_msgs(called, received, sizeof(received));

	CHECK(from && to);
	CHECK(rdma_post_recv(called, NULL, received, sizeof(received), to) == 0);
	CHECK(rdma_post_send(caller, NULL, sent, sizeof(sent), from, IBV_SEND_SIGNALED) == 0);
	CHECK(rdma_get_recv_comp(called, &completion) == 1);
	CHECK(completion.status == IBV_WC_SUCCESS && strcmp(received, "data") == 0);
	CHECK(rdma_get_send_comp(caller, &completion) == 1);
	CHECK(completion.status == IBV_WC_SUCCESS);
	/* Receives that are left are flushed. */
	CHECK(rdma_post_recv(called, NULL, received, sizeof(received), to) == 0);
	CHECK(rdma_disconnect(caller) == 0);
	expect(RDMA_CM_EVENT_DISCONNECTED);
	CHECK(rdma_disconnect(called) == 0);
	CHECK(rdma_get_recv_comp(called, &completion) == 1);
	CHECK(completion.status == IBV_WC_WR_FLUSH_ERR);
	expect(RDMA_CM_EVENT_DISCONNECTED);
	CHECK(rdma_dereg_mr(from) == 0 && rdma_dereg_mr(to) == 0);
	drop(caller);
	drop(called);
	drop(listener);
	printf("ok connect, send, disconnect\n");
}

/* The peer of the next test: receives one message, which it acknowledges, and disconnects. */
static void receive_and_go(const char *text, uint16_t port)
{
	struct sockaddr_in address = address_of(text, port);
	struct ibv_qp_init_attr attributes = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC};
	struct rdma_conn_param parameters = {.retry_count = 7, .rnr_retry_count = 7};
	static char bytes[64];
	struct ibv_wc completion;
	struct rdma_cm_id *id;

	CHECK(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, RESOLVE_MS) == 0);
	CHECK(rdma_resolve_route(id, RESOLVE_MS) == 0);
	CHECK(rdma_create_qp(id, NULL, &attributes) == 0);

	struct ibv_mr *region = rdma_reg_msgs(id, bytes, sizeof(bytes));

	CHECK(region && rdma_post_recv(id, NULL, bytes, sizeof(bytes), region) == 0);
	CHECK(rdma_connect(id, &parameters) == 0);
	CHECK(rdma_get_recv_comp(id, &completion) == 1 && completion.status == IBV_WC_SUCCESS);
	CHECK(rdma_disconnect(id) == 0);
	_exit(0);
}

/* libfabric's rxm takes a disconnect for the end of all that is under way. */
static void test_what_was_acknowledged_before_the_end_has_succeeded(void)
{
	enum { ROUNDS = 10 };
	struct rdma_conn_param parameters = {.rnr_retry_count = 7};
	struct rdma_cm_id *listener, *called;
	static char bytes[64];
	uint16_t port;

	listener = make_listener(own_address, &port);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct ibv_qp_attr over = {.qp_state = IBV_QPS_ERR};
		struct rdma_cm_event *event;
		struct ibv_wc completion;
		int count;
		pid_t child = fork();

		if (child == 0)
			receive_and_go(own_address, port);
		event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST);
		called = event->id;
		CHECK(rdma_ack_cm_event(event) == 0);
		make_qp(called);
		CHECK(rdma_accept(called, &parameters) == 0);
		expect(RDMA_CM_EVENT_ESTABLISHED);

		struct ibv_mr *region = rdma_reg_msgs(called, bytes, sizeof(bytes));

		CHECK(rdma_post_send(called, NULL, bytes, sizeof(bytes), region,
				     IBV_SEND_SIGNALED) == 0);
		expect(RDMA_CM_EVENT_DISCONNECTED);
		CHECK(ibv_modify_qp(called->qp, &over, IBV_QP_STATE) == 0);
		do {
			count = ibv_poll_cq(called->send_cq, 1, &completion);
		} while (count == 0);
		CHECK(count == 1 && completion.status == IBV_WC_SUCCESS);
		CHECK(rdma_dereg_mr(region) == 0);
		drop(called);
		CHECK(waitpid(child, NULL, 0) == child);
	}
	drop(listener);
	printf("ok what was acknowledged before the end has succeeded\n");
}

static void test_a_refused_port_and_a_refusing_program(void)
{
	struct rdma_conn_param parameters = {0};
	struct rdma_cm_event *event;
	struct rdma_cm_id *id = resolved(own_address, 9), *listener, *called;
	uint16_t port;

	make_qp(id);
	CHECK(rdma_connect(id, &parameters) == 0);
	event = next_event(RDMA_CM_EVENT_REJECTED);
	CHECK(event->status == 8);
	CHECK(rdma_ack_cm_event(event) == 0);
	drop(id);

	listener = make_listener(own_address, &port);
	id = resolved(own_address, port);
	make_qp(id);
	CHECK(rdma_connect(id, &parameters) == 0);
	event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST);
	called = event->id;
	CHECK(rdma_ack_cm_event(event) == 0);
	CHECK(rdma_reject(called, "no", 3) == 0);
	event = next_event(RDMA_CM_EVENT_REJECTED);
	CHECK(event->status == 28 && event->param.conn.private_data_len == 148);
	CHECK(strcmp(event->param.conn.private_data, "no") == 0);
	CHECK(rdma_ack_cm_event(event) == 0);
	drop(called);
	drop(id);
	/* An id that is destroyed without an answer refuses as well. */
	id = resolved(own_address, port);
	make_qp(id);
	CHECK(rdma_connect(id, &parameters) == 0);
	event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST);
	called = event->id;
	CHECK(rdma_ack_cm_event(event) == 0);
	drop(called);
	expect(RDMA_CM_EVENT_REJECTED);
	drop(id);
	drop(listener);
	printf("ok a refused port and a refusing program\n");
}

static void test_calls_out_of_turn_fail(void)
{
	struct sockaddr_in here = address_of(own_address, 0), there = address_of(other_address, 0);
	struct sockaddr_in nowhere = address_of("192.0.2.1", 5);
	struct rdma_conn_param parameters = {0};
	struct rdma_cm_id *id = make_id(), *second = make_id();
	static char much[256];

	FAILS(rdma_resolve_route(id, 1), EINVAL);
	FAILS(rdma_connect(id, &parameters), EINVAL);
	FAILS(rdma_accept(id, &parameters), EINVAL);
	FAILS(rdma_disconnect(id), EINVAL);
	FAILS(rdma_reject(id, NULL, 0), EINVAL);
	FAILS(rdma_establish(id), EINVAL);
	FAILS(rdma_notify(id, IBV_EVENT_COMM_EST), EINVAL);
	FAILS(rdma_bind_addr(id, (struct sockaddr *)&there), EADDRNOTAVAIL);
	FAILS(rdma_resolve_addr(id, NULL, (struct sockaddr *)&nowhere, 1), ENETUNREACH);
	drop(id);
	id = make_id();
	CHECK(rdma_bind_addr(id, (struct sockaddr *)&here) == 0);
	FAILS(rdma_bind_addr(id, (struct sockaddr *)&here), EINVAL);
	here.sin_port = rdma_get_src_port(id);
	FAILS(rdma_bind_addr(second, (struct sockaddr *)&here), EADDRINUSE);
	here.sin_addr.s_addr = 0;
	FAILS(rdma_bind_addr(second, (struct sockaddr *)&here), EADDRINUSE);
	drop(id);
	CHECK(rdma_bind_addr(second, (struct sockaddr *)&here) == 0);
	CHECK(!second->verbs);
	drop(second);
	id = resolved(own_address, 9);
	make_qp(id);
	FAILS(rdma_resolve_addr(id, NULL, (struct sockaddr *)&here, 1), EINVAL);
	parameters.private_data = much;
	parameters.private_data_len = 57;
	FAILS(rdma_connect(id, &parameters), EINVAL);
	parameters.private_data_len = 0;
	parameters.responder_resources = 200;
	FAILS(rdma_connect(id, &parameters), EINVAL);
	parameters.responder_resources = 0;
	parameters.private_data_len = 56;
	CHECK(rdma_connect(id, &parameters) == 0);
	expect(RDMA_CM_EVENT_REJECTED);
	FAILS(rdma_connect(id, &parameters), EINVAL);
	drop(id);
	printf("ok calls out of turn fail\n");
}

static void test_nobody_has_the_address(void)
{
	struct sockaddr_in nobody = address_of("127.100.77.77", 5);
	struct rdma_cm_id *id = make_id();
	struct rdma_cm_event *event;

	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&nobody, 50) == 0);
	event = next_event(RDMA_CM_EVENT_ADDR_ERROR);
	CHECK(event->status == -ETIMEDOUT);
	CHECK(rdma_ack_cm_event(event) == 0);
	drop(id);
	printf("ok nobody has the address\n");
}

static void test_the_channel_is_readable_only_while_there_is_an_event(void)
{
	struct rdma_cm_id *caller, *called, *listener;
	struct rdma_cm_event *event;
	int flags = fcntl(channel->fd, F_GETFL);

	CHECK(!is_readable());
	CHECK(fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK) == 0);
	FAILS(rdma_get_cm_event(channel, &event), EAGAIN);
	CHECK(fcntl(channel->fd, F_SETFL, flags) == 0);
	connect_pair(&caller, &called, &listener);
	CHECK(!is_readable());
	CHECK(rdma_disconnect(caller) == 0);
	/* The event of the other end is not read before that end goes. */
	struct pollfd waiting = {.fd = channel->fd, .events = POLLIN};

	CHECK(poll(&waiting, 1, TIMEOUT_MS) == 1);
	drop(called);
	expect(RDMA_CM_EVENT_DISCONNECTED);
	drop(caller);
	CHECK(!is_readable());
	drop(listener);
	printf("ok the channel is readable only while there is an event\n");
}

static void *acknowledge(void *event)
{
	CHECK(rdma_ack_cm_event(event) == 0);
	return NULL;
}

static void test_destroying_waits_for_the_acknowledgement(void)
{
	struct sockaddr_in here = address_of(own_address, 9);
	struct rdma_cm_id *id = make_id();
	struct rdma_cm_event *event;
	pthread_t thread;

	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&here, RESOLVE_MS) == 0);
	event = next_event(RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK(pthread_create(&thread, NULL, acknowledge, event) == 0);
	CHECK(rdma_destroy_id(id) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	printf("ok destroying waits for the acknowledgement\n");
}

static void test_ids_move_between_channels(void)
{
	struct rdma_event_channel *first = channel, *second = rdma_create_event_channel();
	struct sockaddr_in here = address_of(own_address, 9);
	struct rdma_cm_id *id = make_id(), *alone;

	CHECK(second && rdma_migrate_id(id, second) == 0);
	CHECK(id->channel == second);
	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&here, RESOLVE_MS) == 0);
	channel = second;
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	channel = first;
	CHECK(!is_readable());
	/* Without a channel, calls wait for their outcome. */
	CHECK(rdma_migrate_id(id, NULL) == 0);
	CHECK(rdma_resolve_route(id, RESOLVE_MS) == 0);
	CHECK(id->event && id->event->event == RDMA_CM_EVENT_ROUTE_RESOLVED);
	drop(id);
	rdma_destroy_event_channel(second);
	CHECK(rdma_create_id(NULL, &alone, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_resolve_addr(alone, NULL, (struct sockaddr *)&here, RESOLVE_MS) == 0);
	CHECK(rdma_resolve_route(alone, RESOLVE_MS) == 0);
	make_qp(alone);
	FAILS(rdma_connect(alone, NULL), ECONNREFUSED);
	drop(alone);
	printf("ok ids move between channels\n");
}

static void test_names_and_families(void)
{
	struct rdma_addrinfo hints = {.ai_port_space = RDMA_PS_TCP}, *found;
	struct sockaddr_in address;
	struct rdma_cm_id *id = make_id(), *six = make_id();
	struct sockaddr_in6 any = {.sin6_family = AF_INET6};
	struct sockaddr_ib ib = {.sib_family = AF_IB};

	CHECK(rdma_getaddrinfo("h1", "7471", &hints, &found) == 0);
	memcpy(&address, found->ai_dst_addr, sizeof(address));
	CHECK(found->ai_qp_type == IBV_QPT_RC && address.sin_port == htons(7471));
	CHECK(address.sin_addr.s_addr == address_of("127.100.0.1", 0).sin_addr.s_addr);
	rdma_freeaddrinfo(found);
	hints.ai_flags = RAI_PASSIVE;
	hints.ai_port_space = RDMA_PS_UDP;
	CHECK(rdma_getaddrinfo(NULL, "7471", &hints, &found) == 0);
	CHECK(found->ai_src_addr && !found->ai_dst_addr && found->ai_qp_type == IBV_QPT_UD);
	rdma_freeaddrinfo(found);
	CHECK(rdma_getaddrinfo("no.such.host.invalid", NULL, NULL, &found) != 0);
	/* IPv6, found by neighbour discovery. */
	CHECK(rdma_bind_addr(six, (struct sockaddr *)&any) == 0);
	CHECK(inet_pton(AF_INET6, "fd5f:1b00::2", &any.sin6_addr) == 1);
	any.sin6_port = htons(5);
	CHECK(rdma_resolve_addr(six, NULL, (struct sockaddr *)&any, RESOLVE_MS) == 0);
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK(rdma_resolve_route(six, RESOLVE_MS) == 0);
	expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
	CHECK(rdma_get_local_addr(six)->sa_family == AF_INET6);
	/* The same port by its GID. */
	memcpy(&ib.sib_addr, &six->route.addr.addr.ibaddr.dgid, sizeof(ib.sib_addr));
	ib.sib_pkey = htons(0xffff);
	ib.sib_sid = htobe64(RDMA_IB_IP_PS_TCP | 9);
	ib.sib_sid_mask = htobe64(UINT64_MAX);
	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&ib, RESOLVE_MS) == 0);
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	CHECK(rdma_resolve_route(id, RESOLVE_MS) == 0);
	expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
	CHECK(id->route.path_rec->dlid == six->route.path_rec->dlid);
	drop(id);
	drop(six);
	printf("ok names and families\n");
}

static void test_a_queue_pair_of_the_programs_own(void)
{
	struct rdma_conn_param parameters = {.qp_num = 0x123};
	struct ibv_ece ece = {.vendor_id = 0x5f1b, .options = 7}, heard;
	struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_RTR};
	struct rdma_cm_id *listener, *caller, *called;
	struct rdma_cm_event *event;
	uint16_t port;
	int mask;

	listener = make_listener(own_address, &port);
	caller = resolved(own_address, port);
	FAILS(rdma_init_qp_attr(caller, &attributes, &mask), EINVAL);
	CHECK(rdma_set_local_ece(caller, &ece) == 0);
	CHECK(rdma_connect(caller, &parameters) == 0);
	event = next_event(RDMA_CM_EVENT_CONNECT_REQUEST);
	called = event->id;
	CHECK(event->param.conn.qp_num == 0x123);
	CHECK(rdma_ack_cm_event(event) == 0);
	CHECK(rdma_get_remote_ece(called, &heard) == 0);
	CHECK(heard.vendor_id == 0x5f1b && heard.options == 7);
	ece.options = 9;
	CHECK(rdma_set_local_ece(called, &ece) == 0);
	parameters.qp_num = 0x456;
	CHECK(rdma_accept(called, &parameters) == 0);
	event = next_event(RDMA_CM_EVENT_CONNECT_RESPONSE);
	CHECK(event->param.conn.qp_num == 0x456);
	CHECK(rdma_ack_cm_event(event) == 0);
	CHECK(rdma_get_remote_ece(caller, &heard) == 0);
	CHECK(heard.vendor_id == 0x5f1b && heard.options == 9);
	CHECK(rdma_init_qp_attr(caller, &attributes, &mask) == 0);
	CHECK(attributes.dest_qp_num == 0x456 && (mask & IBV_QP_AV));
	CHECK(attributes.ah_attr.dlid == ntohs(caller->route.path_rec->dlid));
	CHECK(rdma_establish(caller) == 0);
	expect(RDMA_CM_EVENT_ESTABLISHED);
	FAILS(rdma_establish(caller), EINVAL);
	drop(caller);
	expect(RDMA_CM_EVENT_DISCONNECTED);
	drop(called);
	drop(listener);
	printf("ok a queue pair of the program's own\n");
}

static void test_a_backlog_is_a_bound(void)
{
	enum { CALLERS = 70, BACKLOG = 64 }; /* the listener asked for 8, the least is 64 */
	struct rdma_conn_param parameters = {.qp_num = 0x123};
	struct rdma_cm_id *callers[CALLERS], *called[BACKLOG], *listener;
	unsigned refused = 0, asked = 0;
	uint16_t port;

	listener = make_listener(own_address, &port);
	for (unsigned index = 0; index < CALLERS; index++) {
		callers[index] = resolved(own_address, port);
		parameters.qp_num++;
	}
	for (unsigned index = 0; index < CALLERS; index++) {
		parameters.qp_num++;
		CHECK(rdma_connect(callers[index], &parameters) == 0);
	}
	while (refused + asked < CALLERS) {
		struct rdma_cm_event *event;

		CHECK(rdma_get_cm_event(channel, &event) == 0);
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
			CHECK(asked < BACKLOG);
			called[asked++] = event->id;
		} else {
			CHECK(event->event == RDMA_CM_EVENT_REJECTED && event->status == 3);
			refused++;
		}
		CHECK(rdma_ack_cm_event(event) == 0);
	}
	CHECK(asked == BACKLOG && refused == CALLERS - BACKLOG);
	for (unsigned index = 0; index < asked; index++)
		drop(called[index]);
	for (unsigned index = 0; index < CALLERS; index++)
		drop(callers[index]);
	drop(listener);
	CHECK(!is_readable());
	printf("ok a backlog is a bound\n");
}

/* Calls of rdma-core 60, which the headers of 44 do not have. */
int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status,
			uint64_t arg);
int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints);
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info);

static void test_events_that_a_program_writes(void)
{
	enum { ADDRINFO_RESOLVED = RDMA_CM_EVENT_TIMEWAIT_EXIT + 1, USER = ADDRINFO_RESOLVED + 2 };
	struct rdma_cm_id *id = make_id();
	struct rdma_addrinfo *found;
	struct rdma_cm_event *event;
	uint64_t argument;

	CHECK(rdma_write_cm_event(id, (enum rdma_cm_event_type)USER, -7, 0x123456789abcu) == 0);
	event = next_event((enum rdma_cm_event_type)USER);
	memcpy(&argument, &event->param, sizeof(argument));
	CHECK(event->id == id && event->status == -7 && argument == 0x123456789abcu);
	CHECK(rdma_ack_cm_event(event) == 0);
	FAILS(rdma_write_cm_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, 0), EINVAL);
	FAILS(rdma_query_addrinfo(id, &found), ENODATA);
	CHECK(rdma_resolve_addrinfo(id, "h2", "7471", NULL) == 0);
	expect((enum rdma_cm_event_type)ADDRINFO_RESOLVED);
	CHECK(rdma_query_addrinfo(id, &found) == 0);
	CHECK(found->ai_dst_addr->sa_family == AF_INET);
	rdma_freeaddrinfo(found);
	drop(id);
	printf("ok events that a program writes\n");
}

static void test_options(void)
{
	struct sockaddr_in here = address_of(own_address, 0);
	struct rdma_cm_id *first = make_id(), *second = make_id();
	uint8_t byte = 18;
	int one = 1;

	CHECK(rdma_set_option(first, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1) == 0);
	FAILS(rdma_set_option(first, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &one, 4), EINVAL);
	FAILS(rdma_set_option(first, RDMA_OPTION_ID, 99, &one, 4), ENOSYS);
	FAILS(rdma_set_option(first, 99, 0, &one, 4), ENOSYS);
	byte = 32;
	FAILS(rdma_set_option(first, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1), EINVAL);
	CHECK(rdma_set_option(first, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &one, 4) == 0);
	CHECK(rdma_set_option(second, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &one, 4) == 0);
	CHECK(rdma_bind_addr(first, (struct sockaddr *)&here) == 0);
	here.sin_port = rdma_get_src_port(first);
	CHECK(rdma_bind_addr(second, (struct sockaddr *)&here) == 0);
	FAILS(rdma_listen(first, 1), EADDRINUSE);
	drop(second);
	CHECK(rdma_listen(first, 1) == 0);
	FAILS(rdma_listen(first, 1), EINVAL);
	drop(first);
	printf("ok options\n");
}

/* The addresses that getifaddrs reports for ib0: "address/prefix address/prefix". */
static void print_interfaces(void)
{
	struct ifaddrs *list;
	const char *separator = "";

	CHECK(getifaddrs(&list) == 0);
	for (const struct ifaddrs *entry = list; entry; entry = entry->ifa_next) {
		bool is_ipv4 = entry->ifa_addr && entry->ifa_addr->sa_family == AF_INET;
		char host[INET6_ADDRSTRLEN];
		unsigned bits = 0;

		if (strcmp(entry->ifa_name, "ib0") != 0)
			continue;

		const uint8_t *bytes = (const uint8_t *)entry->ifa_addr +
				       (is_ipv4 ? offsetof(struct sockaddr_in, sin_addr)
						: offsetof(struct sockaddr_in6, sin6_addr));
		const uint8_t *mask = (const uint8_t *)entry->ifa_netmask +
				      (bytes - (const uint8_t *)entry->ifa_addr);

		for (unsigned index = 0; index < (is_ipv4 ? 4u : 16u); index++)
			bits += (unsigned)__builtin_popcount(mask[index]);
		inet_ntop(entry->ifa_addr->sa_family, bytes, host, sizeof(host));
		printf("%s%s/%u", separator, host, bits);
		separator = " ";
	}
	printf("\n");
	freeifaddrs(list);
}

int main(int argument_count, char **arguments)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argument_count == 2 && strcmp(arguments[1], "interfaces") == 0) {
		print_interfaces();
		return 0;
	}
	if (argument_count != 3)
		return 2;
	own_address = arguments[1];
	other_address = arguments[2];
	channel = rdma_create_event_channel();
	CHECK(channel);
	test_connect_send_disconnect();
	test_retry_counts_are_clamped_and_depths_refused();
	test_what_was_acknowledged_before_the_end_has_succeeded();
	test_a_refused_port_and_a_refusing_program();
	test_calls_out_of_turn_fail();
	test_nobody_has_the_address();
	test_the_channel_is_readable_only_while_there_is_an_event();
	test_destroying_waits_for_the_acknowledgement();
	test_ids_move_between_channels();
	test_names_and_families();
	test_a_queue_pair_of_the_programs_own();
	test_a_backlog_is_a_bound();
	test_events_that_a_program_writes();
	test_options();
	rdma_destroy_event_channel(channel);
	return 0;
}
