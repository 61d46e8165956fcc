/* SPDX-License-Identifier: Apache-2.0 */
/* Command sockets and event channels: good programs, hostile ones, and ones that end. Covers:
 * daemon/cm/cm_alternates.c daemon/cm/cm_events.c daemon/cm/cm_paths.c
 * daemon/cm/cm_port.c daemon/cm/cm_objects.c daemon/cm/ipoib_partitions.c daemon/cm/ipoib_port.c */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "base/random.h"
#include "daemon/cm/cm_binding.h"
#include "daemon/cm/cm_ids.h"
#include "daemon/cm/cm_port.h"
#include "ipc/cm_protocol.h"
#include "ipc/protocol.h"
#include "unit/daemon/cm_connector.h"
#include "unit/daemon/daemon_fixture.h"
#include "wire/cm_ip_header.h"

enum { STEPS_MAX = 5000, SERVICE_PORT = 7471 };

static struct daemon *softibd;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("star:2");
	return 0;
}

static struct cm_event_message next_event(struct connector *connector, enum cm_program_event kind)
{
	struct cm_event_message event;

	for (unsigned step = 0; step < STEPS_MAX; step++) {
		daemon_step(softibd, 1);
		if (recv(connector->events, &event, sizeof(event), MSG_DONTWAIT) > 0) {
			assert_int_equal(event.kind, kind);
			return event;
		}
	}
	fail_msg("no event");
	return event;
}

static const struct cm_address service = {
	.family = CM_ADDRESS_IPV4, .port = SERVICE_PORT, .bytes = {[12] = 127, 100, 0, 1}};

static struct connector open_listener(uint32_t backlog)
{
	struct connector listener = connector_open(softibd, "h1");
	struct cm_command command = {.kind = CM_BIND, .id = listener.id, .source = service};
	struct cm_answer answer;

	connector_ask(&listener, &command, &answer);
	assert_int_equal(answer.error, 0);
	command = (struct cm_command){.kind = CM_LISTEN, .id = listener.id, .value = backlog};
	connector_ask(&listener, &command, &answer);
	assert_int_equal(answer.error, 0);
	return listener;
}

static struct connector call(void)
{
	struct connector caller = connector_open(softibd, "h2");
	struct cm_command command = {.kind = CM_RESOLVE_ADDRESS,
				     .id = caller.id,
				     .timeout_ms = 5000,
				     .destination = service};
	struct cm_answer answer;

	connector_ask(&caller, &command, &answer);
	assert_int_equal(answer.error, 0);
	next_event(&caller, CM_PROGRAM_ADDRESS_RESOLVED);
	assert_int_equal(connector_order(&caller, CM_RESOLVE_ROUTE), 0);
	next_event(&caller, CM_PROGRAM_ROUTE_RESOLVED);
	assert_int_equal(connector_order(&caller, CM_CONNECT), 0);
	return caller;
}

static uint32_t connections_of(unsigned host)
{
	struct cm_counts counts = cm_count(softibd->core.hosts.hosts[host]->cm->cm);

	return counts.connections - counts.in_timewait;
}

static void test_two_programs_connect_and_part(void **state)
{
	(void)state;
	struct connector listener = open_listener(4), caller = call();
	struct connector called = listener;

	called.id = next_event(&listener, CM_PROGRAM_CONNECT_REQUEST).id;
	assert_int_equal(connector_order(&called, CM_ACCEPT), 0);
	next_event(&caller, CM_PROGRAM_CONNECT_RESPONSE);
	assert_int_equal(connector_order(&caller, CM_ESTABLISH), 0);
	next_event(&listener, CM_PROGRAM_ESTABLISHED);
	assert_int_equal(connector_order(&caller, CM_DISCONNECT), 0);
	assert_int_equal(next_event(&listener, CM_PROGRAM_DISCONNECTED).id, called.id);
	assert_int_equal(connector_order(&called, CM_DISCONNECT), 0);
	next_event(&caller, CM_PROGRAM_DISCONNECTED);
	assert_int_equal(connector_order(&caller, CM_DESTROY), 0);
	assert_int_equal(connector_order(&caller, CM_DESTROY), -ENOENT);
	connector_close(&caller);
	connector_close(&listener);
	assert_int_equal(connections_of(0), 0);
	assert_int_equal(connections_of(1), 0);
	assert_int_equal(cm_count(softibd->core.hosts.hosts[0]->cm->cm).listeners, 0);
}

static void test_a_program_that_goes_while_it_calls_is_gone_for_its_peer(void **state)
{
	(void)state;
	struct connector listener = open_listener(4), caller = call();
	struct connector called = listener;

	called.id = next_event(&listener, CM_PROGRAM_CONNECT_REQUEST).id;
	assert_int_equal(connector_order(&called, CM_ACCEPT), 0);
	next_event(&caller, CM_PROGRAM_CONNECT_RESPONSE);
	connector_close(&caller);
	next_event(&listener, CM_PROGRAM_REJECTED);
	connector_close(&listener);
	assert_int_equal(connections_of(0), 0);
}

static void test_a_listener_that_goes_refuses_who_waits(void **state)
{
	(void)state;
	struct connector listener = open_listener(4), caller = call();

	next_event(&listener, CM_PROGRAM_CONNECT_REQUEST);
	connector_close(&listener);
	assert_int_equal(next_event(&caller, CM_PROGRAM_REJECTED).status, 28);
	connector_close(&caller);
	assert_int_equal(connections_of(0), 0);
	assert_int_equal(connections_of(1), 0);
}

static void test_no_more_requests_wait_than_the_backlog_allows(void **state)
{
	(void)state;
	struct connector listener = open_listener(1);
	struct cm_program *program =
		container_of(list_first(&softibd->cm.programs), struct cm_program, link);

	/* The smallest backlog takes more requests than a test wants to make. */
	assert_int_equal(cm_program_find_id(program, listener.id)->backlog.request_count_max,
			 CM_BACKLOG_MIN);
	cm_program_find_id(program, listener.id)->backlog.request_count_max = 1;

	struct connector first = call(), second = call();

	next_event(&listener, CM_PROGRAM_CONNECT_REQUEST);
	assert_int_equal(next_event(&second, CM_PROGRAM_REJECTED).status, 3);
	connector_close(&first);
	connector_close(&second);
	connector_close(&listener);
}

static void test_commands_that_make_no_sense_end_their_program_only(void **state)
{
	(void)state;
	struct connector good = open_listener(4), bad = connector_open(softibd, "h2");
	struct cm_command command = {.kind = CM_QUERY, .id = bad.id, .private_byte_count = 5000};
	char byte;

	assert_true(send(bad.commands, &command, sizeof(command), 0) > 0);
	fixture_settle();
	assert_int_equal(recv(bad.commands, &byte, 1, MSG_DONTWAIT), 0);
	connector_close(&bad);
	bad = connector_open(softibd, "h2");
	assert_true(send(bad.commands, "x", 1, 0) == 1);
	fixture_settle();
	assert_int_equal(recv(bad.commands, &byte, 1, MSG_DONTWAIT), 0);
	connector_close(&bad);
	assert_int_equal(connector_order(&good, CM_QUERY), 0);
	connector_close(&good);
}

static void post(struct connector *connector, const struct cm_command *command)
{
	size_t byte_count = cm_command_bytes(command);

	assert_true(command->is_posted);
	assert_int_equal(send(connector->commands, command, byte_count, 0), byte_count);
}

/* The first posted command makes the id; events report the rest. */
static void test_posted_commands_connect_without_an_answer(void **state)
{
	(void)state;
	struct connector listener = open_listener(4), caller = connector_open(softibd, "h2");
	struct connector called = listener;
	struct cm_command command = {.kind = CM_RESOLVE_ADDRESS,
				     .is_posted = 1,
				     .is_new = 1,
				     .id = CONNECTOR_ID + 1,
				     .channel = caller.channel,
				     .port_space = CM_PORT_SPACE_TCP,
				     .timeout_ms = 5000,
				     .destination = service};
	char byte;

	post(&caller, &command);
	/* softibd resolves as far as it can at once. */
	assert_int_equal(next_event(&caller, CM_PROGRAM_ADDRESS_RESOLVED).quiet_until, TIME_NEVER);
	command = (struct cm_command){
		.kind = CM_RESOLVE_ROUTE, .is_posted = 1, .id = CONNECTOR_ID + 1};
	post(&caller, &command);
	next_event(&caller, CM_PROGRAM_ROUTE_RESOLVED);
	command.kind = CM_CONNECT;
	command.parameters.qpn = 0x900;
	post(&caller, &command);
	called.id = next_event(&listener, CM_PROGRAM_CONNECT_REQUEST).id;
	assert_true(called.id >= CM_ID_OF_SOFTIBD);
	command.id = called.id;
	command.kind = CM_ACCEPT;
	command.parameters.qpn = 0x901;
	post(&called, &command);
	assert_int_equal(next_event(&caller, CM_PROGRAM_CONNECT_RESPONSE).quiet_until, 0);
	command.id = CONNECTOR_ID + 1;
	command.kind = CM_ESTABLISH;
	post(&caller, &command);
	command.kind = CM_DISCONNECT;
	post(&caller, &command);
	next_event(&listener, CM_PROGRAM_ESTABLISHED);
	next_event(&listener, CM_PROGRAM_DISCONNECTED);
	command.id = called.id;
	post(&called, &command);

	uint64_t quiet_until = next_event(&caller, CM_PROGRAM_DISCONNECTED).quiet_until;

	assert_true(quiet_until > softibd->core.loop.now && quiet_until != TIME_NEVER);
	command.kind = CM_DESTROY;
	command.id = CONNECTOR_ID + 1;
	post(&caller, &command);
	fixture_settle();
	assert_int_equal(recv(caller.commands, &byte, 1, MSG_DONTWAIT), -1);
	caller.id = CONNECTOR_ID + 1;
	assert_int_equal(connector_order(&caller, CM_QUERY), -ENOENT);
	connector_close(&caller);
	connector_close(&listener);
}

static void test_posted_commands_that_fail_say_so_by_an_event(void **state)
{
	(void)state;
	static const struct {
		enum cm_command_kind kind;
		enum cm_program_event failure;
	} cases[] = {
		{CM_RESOLVE_ROUTE, CM_PROGRAM_ROUTE_ERROR},
		{CM_CONNECT, CM_PROGRAM_CONNECT_ERROR},
		{CM_ACCEPT, CM_PROGRAM_CONNECT_ERROR},
		{CM_RESOLVE_ADDRESS, CM_PROGRAM_ADDRESS_ERROR},
	};
	struct connector caller = connector_open(softibd, "h2");
	struct cm_command command = {.is_posted = 1, .id = caller.id};
	struct cm_event_message event;

	for (unsigned index = 0; index < ARRAY_COUNT(cases); index++) {
		command.kind = cases[index].kind;
		post(&caller, &command);
		event = next_event(&caller, cases[index].failure);
		assert_int_equal(event.id, caller.id);
		assert_true(event.status < 0);
	}
	/* A failed creation is reported by the id's number: this one exists already. */
	command.is_new = 1;
	command.channel = caller.channel;
	command.port_space = CM_PORT_SPACE_TCP;
	post(&caller, &command);
	assert_int_equal(next_event(&caller, CM_PROGRAM_ADDRESS_ERROR).status, -EEXIST);
	command.id = CM_ID_OF_SOFTIBD;
	post(&caller, &command);
	assert_int_equal(next_event(&caller, CM_PROGRAM_ADDRESS_ERROR).id, CM_ID_OF_SOFTIBD);
	connector_close(&caller);
}

static void test_an_address_that_nobody_has_is_given_up_in_time(void **state)
{
	(void)state;
	struct connector caller = connector_open(softibd, "h2");
	struct cm_command command = {.kind = CM_RESOLVE_ADDRESS,
				     .id = caller.id,
				     .timeout_ms = 20,
				     .destination = service};
	struct cm_answer answer;

	command.destination.bytes[14] = 99;
	connector_ask(&caller, &command, &answer);
	assert_int_equal(answer.error, 0);
	assert_int_equal(next_event(&caller, CM_PROGRAM_ADDRESS_ERROR).status, -ETIMEDOUT);
	/* The id can be used for another destination. */
	command.destination = service;
	command.timeout_ms = 5000;
	connector_ask(&caller, &command, &answer);
	assert_int_equal(answer.error, 0);
	next_event(&caller, CM_PROGRAM_ADDRESS_RESOLVED);
	connector_close(&caller);
}

static int32_t order_with_qpn(struct connector *connector, enum cm_command_kind kind, uint32_t qpn)
{
	struct cm_command command = {.kind = kind, .id = connector->id};
	struct cm_answer answer;

	command.parameters.qpn = qpn;
	connector_ask(connector, &command, &answer);
	return answer.error;
}

static void say(struct program *program, enum record_kind kind, uint32_t qpn)
{
	struct ring_record *record = ring_reserve(&program->up, 0);

	assert_non_null(record);
	record->kind = (uint16_t)kind;
	record->port = 0;
	record->packet_count = 0;
	record->word = qpn;
	record->byte_count = 0;
	program_show(program, record);
}

/* Loads a path that the SA knows; meanwhile another one is refused. */
static void load_known_path(struct connector *caller, const struct cm_route *route,
			    const struct cm_command *other, struct program *passive,
			    struct program *active)
{
	struct cm_command find = {.kind = CM_FIND_ALTERNATE, .id = caller->id};
	struct cm_answer answer;

	memcpy(find.source.bytes, route->sgid.bytes, sizeof(find.source.bytes));
	memcpy(find.destination.bytes, route->dgid.bytes, sizeof(find.destination.bytes));
	connector_ask(caller, &find, &answer);
	assert_int_equal(answer.error, 0);
	connector_ask(caller, other, &answer);
	assert_int_equal(answer.error, -EINVAL);
	assert_non_null(program_next_of(passive, RECORD_ALTERNATE_PATH));
	say(passive, RECORD_ALTERNATE_LOADED, passive->first_qpn);
	assert_non_null(program_next_of(active, RECORD_ALTERNATE_PATH));
	say(active, RECORD_ALTERNATE_LOADED, active->first_qpn);
}

/* LAP and APR between two processes that own the queue pairs. */
static void test_an_alternate_path_is_loaded_by_both_processes(void **state)
{
	(void)state;
	struct connector listener = open_listener(4), caller = connector_open(softibd, "h2");
	struct connector called = listener;
	struct program passive, active;
	struct cm_command command = {.kind = CM_RESOLVE_ADDRESS,
				     .id = caller.id,
				     .timeout_ms = 5000,
				     .destination = service};
	const struct ring_record *record;
	struct cm_event_message event;
	struct cm_answer answer;

	program_start(&passive, "h1");
	program_start(&active, "h2");
	connector_ask(&caller, &command, &answer);
	next_event(&caller, CM_PROGRAM_ADDRESS_RESOLVED);
	assert_int_equal(connector_order(&caller, CM_RESOLVE_ROUTE), 0);
	event = next_event(&caller, CM_PROGRAM_ROUTE_RESOLVED);
	assert_int_equal(order_with_qpn(&caller, CM_CONNECT, active.first_qpn), 0);
	called.id = next_event(&listener, CM_PROGRAM_CONNECT_REQUEST).id;
	command =
		(struct cm_command){.kind = CM_SET_PATH, .id = caller.id, .path = event.route.path};
	connector_ask(&caller, &command, &answer);
	assert_int_equal(answer.error, -EINVAL); /* not connected yet */
	assert_int_equal(order_with_qpn(&called, CM_ACCEPT, passive.first_qpn), 0);
	next_event(&caller, CM_PROGRAM_CONNECT_RESPONSE);
	assert_int_equal(connector_order(&caller, CM_ESTABLISH), 0);
	next_event(&listener, CM_PROGRAM_ESTABLISHED);

	for (unsigned round = 0; round < 2; round++) {
		bool is_taken = round == 1;

		connector_ask(&caller, &command, &answer);
		assert_int_equal(answer.error, 0);
		record = program_next_of(&passive, RECORD_ALTERNATE_PATH);
		assert_non_null(record);
		assert_int_equal(record->word, passive.first_qpn);
		/* softibd finds the id by the queue pair, however many ids there are. */
		assert_int_equal(softibd->core.hosts.hosts[0]->cm->loading.count, 1);
		say(&passive, is_taken ? RECORD_ALTERNATE_LOADED : RECORD_ALTERNATE_REFUSED,
		    passive.first_qpn);
		/* Our side loads the path after the peer has. */
		record = program_next_of(&active, RECORD_ALTERNATE_PATH);
		assert_int_equal(record != NULL, is_taken);
		assert_int_equal(softibd->core.hosts.hosts[0]->cm->loading.count, 0);
	}
	assert_int_equal(record->word, active.first_qpn);
	say(&active, RECORD_ALTERNATE_LOADED, active.first_qpn);
	fixture_settle();
	load_known_path(&caller, &event.route, &command, &passive, &active);
	command.path.sgid_guid ^= 1;
	connector_ask(&caller, &command, &answer);
	assert_int_equal(answer.error, -EADDRNOTAVAIL);
	program_end(&active);
	program_end(&passive);
	connector_close(&caller);
	connector_close(&listener);
}

/* EE contexts connect by service id and GID. */
enum { RD_SERVICE = 0x77, RD_EECN = 0x500, RD_QPN = 0x501, RD_QKEY = 0x1234 };

static struct cm_address gid_address(unsigned host, uint64_t service_id)
{
	struct gid gid = cm_port_gid(&softibd->core.hosts.hosts[host]->cm->ports[0]);
	struct cm_address address = {
		.family = CM_ADDRESS_IB, .service_id = service_id, .service_mask = UINT64_MAX};

	memcpy(address.bytes, gid.bytes, sizeof(gid.bytes));
	return address;
}

static struct cm_command new_command(struct connector *connector, enum cm_command_kind kind,
				     enum cm_qp_type qp_type)
{
	connector->id++;
	return (struct cm_command){.kind = kind,
				   .is_new = 1,
				   .new_qp_type = (uint8_t)qp_type,
				   .id = connector->id,
				   .channel = connector->channel,
				   .port_space = CM_PORT_SPACE_IB};
}

static struct connector open_ib_listener(enum cm_qp_type qp_type)
{
	struct connector listener = connector_open(softibd, "h1");
	struct cm_command command = new_command(&listener, CM_BIND, qp_type);
	struct cm_answer answer;

	command.source = gid_address(0, RD_SERVICE);
	connector_ask(&listener, &command, &answer);
	assert_int_equal(answer.error, 0);
	assert_int_equal(connector_order(&listener, CM_LISTEN), 0);
	return listener;
}

static struct cm_command offer(struct connector *connector, enum cm_command_kind kind,
			       enum cm_qp_type qp_type)
{
	return (struct cm_command){.kind = kind,
				   .id = connector->id,
				   .parameters = {.qp_type = (uint8_t)qp_type,
						  .qpn = RD_QPN,
						  .qkey = RD_QKEY,
						  .eecn = qp_type == CM_QP_RD ? RD_EECN : 0}};
}

/* Resolves the route; the test connects. */
static struct connector open_ib_caller(enum cm_qp_type qp_type)
{
	struct connector caller = connector_open(softibd, "h2");
	struct cm_command command = new_command(&caller, CM_RESOLVE_ADDRESS, qp_type);
	struct cm_answer answer;

	command.source = gid_address(1, 0);
	command.destination = gid_address(0, RD_SERVICE);
	command.timeout_ms = 5000;
	connector_ask(&caller, &command, &answer);
	assert_int_equal(answer.error, 0);
	next_event(&caller, CM_PROGRAM_ADDRESS_RESOLVED);
	assert_int_equal(connector_order(&caller, CM_RESOLVE_ROUTE), 0);
	next_event(&caller, CM_PROGRAM_ROUTE_RESOLVED);
	return caller;
}

static int32_t demand(struct connector *connector, const struct cm_command *command)
{
	struct cm_answer answer;

	connector_ask(connector, command, &answer);
	return answer.error;
}

static void test_contexts_are_connected_by_their_numbers(void **state)
{
	(void)state;
	struct connector listener = open_ib_listener(CM_QP_RD), caller = open_ib_caller(CM_QP_RD);
	struct cm_command command = offer(&caller, CM_CONNECT, CM_QP_RD);

	assert_int_equal(demand(&caller, &command), 0);

	struct cm_event_message event = next_event(&listener, CM_PROGRAM_CONNECT_REQUEST);
	struct connector called = listener;

	assert_int_equal(event.parameters.qp_type, CM_QP_RD);
	assert_int_equal(event.parameters.eecn, RD_EECN);
	assert_int_equal(event.parameters.qpn, RD_QPN);
	assert_int_equal(event.parameters.qkey, RD_QKEY);
	assert_int_equal(event.terms.remote_qpn, RD_EECN);
	assert_false(event.parameters.rdc_exists);
	called.id = event.id;
	command = offer(&called, CM_ACCEPT, CM_QP_RD);
	command.parameters.eecn++;
	assert_int_equal(demand(&called, &command), 0);
	event = next_event(&caller, CM_PROGRAM_CONNECT_RESPONSE);
	assert_int_equal(event.parameters.eecn, RD_EECN + 1);
	assert_int_equal(event.parameters.qpn, RD_QPN);
	assert_int_equal(event.parameters.qkey, RD_QKEY);
	assert_int_equal(event.terms.remote_qpn, RD_EECN + 1);
	assert_int_equal(connector_order(&caller, CM_ESTABLISH), 0);
	next_event(&listener, CM_PROGRAM_ESTABLISHED);
	connector_close(&caller);
	next_event(&listener, CM_PROGRAM_DISCONNECTED);
	connector_close(&listener);
	assert_int_equal(connections_of(0), 0);
	assert_int_equal(connections_of(1), 0);
}

static void test_contexts_and_queue_pairs_do_not_meet(void **state)
{
	(void)state;
	static const enum cm_qp_type types[2] = {CM_QP_RC, CM_QP_RD};

	for (unsigned i = 0; i < 2; i++) {
		struct connector listener = open_ib_listener(types[i]);
		struct connector caller = open_ib_caller(types[!i]);
		struct cm_command command = offer(&caller, CM_CONNECT, types[!i]);

		assert_int_equal(demand(&caller, &command), 0);
		assert_int_equal(next_event(&caller, CM_PROGRAM_REJECTED).status,
				 CM_REJECT_INVALID_TRANSPORT_TYPE);
		connector_close(&caller);
		connector_close(&listener);
	}
}

static void test_offers_that_no_message_can_carry_are_refused(void **state)
{
	(void)state;
	struct connector listener = open_ib_listener(CM_QP_RD), caller = open_ib_caller(CM_QP_RD);
	struct cm_command good = offer(&caller, CM_CONNECT, CM_QP_RD), command = good;

	command.parameters.eecn = 0;
	assert_int_equal(demand(&caller, &command), -EINVAL);
	command.parameters.eecn = 1u << 24;
	assert_int_equal(demand(&caller, &command), -EINVAL);
	command = good;
	command.parameters.qpn = 1u << 24;
	assert_int_equal(demand(&caller, &command), -EINVAL);
	command = good;
	command.parameters.retries = 16;
	assert_int_equal(demand(&caller, &command), -EINVAL);
	command = offer(&caller, CM_CONNECT, CM_QP_RC);
	assert_int_equal(demand(&caller, &command), -EINVAL);
	command = offer(&caller, CM_CONNECT, (enum cm_qp_type)(CM_QP_RD + 1));
	assert_int_equal(demand(&caller, &command), -EINVAL);
	assert_int_equal(demand(&caller, &good), 0);

	struct connector called = listener;

	called.id = next_event(&listener, CM_PROGRAM_CONNECT_REQUEST).id;
	command = offer(&called, CM_ACCEPT, CM_QP_RC);
	assert_int_equal(demand(&called, &command), -EINVAL);
	command = offer(&called, CM_ACCEPT, CM_QP_RD);
	command.parameters.eecn = 0;
	assert_int_equal(demand(&called, &command), -EINVAL);
	connector_close(&caller);
	connector_close(&listener);
}

/* A GID belongs to one port, so two ports may offer the same service. */
static void test_who_listens_at_a_gid_is_called_there_only(void **state)
{
	(void)state;
	struct connector listener = open_ib_listener(CM_QP_RD);
	struct cm_host *host = softibd->core.hosts.hosts[0]->cm;
	const struct cm_service *offered = hash_table_get(&host->services, RD_SERVICE);
	struct cm_port elsewhere = {0};

	assert_non_null(cm_service_listener(offered, &host->ports[0], NULL));
	assert_null(cm_service_listener(offered, &elsewhere, NULL));
	connector_close(&listener);
}

static int32_t ask_with(struct connector *connector, const struct cm_command *command,
			int descriptor)
{
	struct iovec piece = {(void *)(uintptr_t)command, cm_command_bytes(command)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS}};
	const struct msghdr message = {.msg_iov = &piece,
				       .msg_iovlen = 1,
				       .msg_control = &control,
				       .msg_controllen = sizeof(control.bytes)};
	struct cm_answer answer;

	memcpy(CMSG_DATA(&control.header), &descriptor, sizeof(int));
	assert_true(sendmsg(connector->commands, &message, 0) > 0);
	connector_receive_answer(connector, &answer);
	return answer.error;
}

/* softibd reads events back only from the program's own end of the channel. */
static void test_events_leave_a_channel_by_its_own_socket_only(void **state)
{
	(void)state;
	struct connector connector = connector_open(softibd, "h1");
	struct cm_command open = {.kind = CM_OPEN_CHANNEL};
	struct cm_command write = {
		.kind = CM_WRITE_EVENT, .id = connector.id, .option = CM_PROGRAM_USER};
	struct cm_command migrate = {.kind = CM_MIGRATE, .id = connector.id};
	struct cm_command drop = {
		.kind = CM_DROP_EVENTS, .id = connector.id, .channel = connector.channel};
	struct connector second = connector;
	struct cm_answer answer;

	second.events = connector_ask(&connector, &open, &answer);
	second.channel = answer.number;
	migrate.channel = second.channel;
	for (write.value = 1; write.value <= 2; write.value++) {
		connector_ask(&connector, &write, &answer);
		assert_int_equal(answer.error, 0);
	}
	connector_ask(&connector, &migrate, &answer);
	assert_int_equal(answer.error, -EINVAL);
	assert_int_equal(ask_with(&connector, &migrate, second.events), -EINVAL);
	assert_int_equal(ask_with(&connector, &migrate, connector.commands), -EINVAL);
	assert_int_equal(ask_with(&connector, &drop, connector.events), -EBUSY);
	assert_int_equal(next_event(&connector, CM_PROGRAM_USER).status, 1);

	assert_int_equal(ask_with(&connector, &migrate, connector.events), 0);
	assert_int_equal(next_event(&second, CM_PROGRAM_USER).status, 2);
	connector_ask(&connector, &write, &answer);
	assert_int_equal(connector_order(&connector, CM_DESTROY), 0);
	assert_int_equal(ask_with(&connector, &drop, second.events), -EINVAL);
	drop.channel = second.channel;
	assert_int_equal(ask_with(&connector, &drop, second.events), 0);
	assert_int_equal(recv(second.events, &answer, sizeof(answer), MSG_DONTWAIT), -1);
	close(second.events);
	connector_close(&connector);
}

/* softibd answers every command, whatever its fields contain. */
static void test_random_commands_are_answered(void **state)
{
	(void)state;
	struct connector good = open_listener(4), bad = connector_open(softibd, "h2");
	struct random random = random_seeded(5);

	for (unsigned round = 0; round < 2000; round++) {
		struct cm_command command;
		uint8_t *bytes = (uint8_t *)&command;
		struct cm_answer answer;

		for (size_t index = 0; index < sizeof(command); index++)
			bytes[index] = (uint8_t)random_next(&random);
		command.kind = (uint32_t)random_below(&random, CM_DROP_EVENTS + 2);
		command.is_posted = 0;
		command.is_new = (uint8_t)random_below(&random, 2);
		command.id = (uint32_t)random_below(&random, 4);
		command.channel = (uint32_t)random_below(&random, 3);
		command.source.family = (uint16_t)random_below(&random, 5);
		command.destination.family = (uint16_t)random_below(&random, 5);
		command.private_byte_count =
			(uint32_t)random_below(&random, CM_PRIVATE_BYTES_MAX + 1);
		if (command.kind == CM_CLOSE_CHANNEL)
			continue;

		int descriptor = connector_ask(&bad, &command, &answer);

		if (descriptor >= 0)
			close(descriptor);
	}
	assert_int_equal(connector_order(&good, CM_QUERY), 0);
	connector_close(&bad);
	connector_close(&good);
	assert_int_equal(connections_of(1), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, fixture_tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_two_programs_connect_and_part),
		TEST(test_a_program_that_goes_while_it_calls_is_gone_for_its_peer),
		TEST(test_a_listener_that_goes_refuses_who_waits),
		TEST(test_no_more_requests_wait_than_the_backlog_allows),
		TEST(test_commands_that_make_no_sense_end_their_program_only),
		TEST(test_posted_commands_connect_without_an_answer),
		TEST(test_posted_commands_that_fail_say_so_by_an_event),
		TEST(test_an_address_that_nobody_has_is_given_up_in_time),
		TEST(test_an_alternate_path_is_loaded_by_both_processes),
		TEST(test_contexts_are_connected_by_their_numbers),
		TEST(test_contexts_and_queue_pairs_do_not_meet),
		TEST(test_offers_that_no_message_can_carry_are_refused),
		TEST(test_who_listens_at_a_gid_is_called_there_only),
		TEST(test_events_leave_a_channel_by_its_own_socket_only),
		TEST(test_random_commands_are_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
