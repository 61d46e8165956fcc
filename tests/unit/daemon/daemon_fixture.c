/* SPDX-License-Identifier: Apache-2.0 */
/* A whole softibd in the test's own process, stepped by hand, and programs that talk to it. */
#include "unit/daemon/daemon_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include "daemon/core/log.h"
#include "daemon/managers/inactive_ports.h"
#include "ipc/control_socket.h"
#include "ipc/memory_file.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum { STEPS_MAX = 20000, QUIET_STEPS = 3 };

static struct daemon softibd;
static bool is_running;
static char directory[64];
static char log_path[80];

const char *fixture_directory(void)
{
	snprintf(directory, sizeof(directory), "/tmp/softib-unit-XXXXXX");
	assert_non_null(mkdtemp(directory));
	setenv("SOFTIB_RUNTIME_DIR", directory, 1);
	return directory;
}

struct daemon *fixture_start_with(struct daemon_options options)
{
	fixture_directory();
	snprintf(log_path, sizeof(log_path), "%s/log", directory);
	options.fabric_name = "test";
	options.log_path = log_path;
	assert_int_equal(daemon_start(&softibd, &options), 0);
	is_running = true;
	for (unsigned step = 0; options.runs_sm && step < STEPS_MAX; step++) {
		if (inactive_ports_count(&softibd.core.fabric, NULL) == 0)
			break;
		daemon_step(&softibd, 1);
	}
	if (options.runs_sm)
		assert_int_equal(inactive_ports_count(&softibd.core.fabric, NULL), 0);
	fixture_settle();
	return &softibd;
}

struct daemon *fixture_start(const char *topology)
{
	return fixture_start_with(
		(struct daemon_options){.topology = topology, .runs_sm = true, .offloads = true});
}

void fixture_stop(void)
{
	if (is_running)
		daemon_stop(&softibd);
	is_running = false;
	log_close();
	remove_folder(directory);
}

int fixture_tear_down(void **state)
{
	(void)state;
	fixture_stop();
	return 0;
}

struct port *fixture_port(const char *host)
{
	return host_endpoint(host_table_find(&softibd.core.hosts, host), 0, 1)->port;
}

void fixture_settle(void)
{
	for (unsigned step = 0; step < QUIET_STEPS * 20; step++)
		daemon_step(&softibd, step >= QUIET_STEPS * 19 ? 1 : 0);
}

void fixture_await(bool (*is_so)(void))
{
	for (unsigned step = 0; step < STEPS_MAX && !is_so(); step++)
		daemon_step(&softibd, 1);
	assert_true(is_so());
}

static int settled(int socket)
{
	assert_true(socket >= 0);
	fixture_settle();
	return socket;
}

int fixture_connect(void)
{
	return settled(control_connect_operator("test"));
}

int fixture_connect_program(void)
{
	return settled(control_connect("test"));
}

static int receive(int socket, struct control_message *ret_message)
{
	int error = -ETIMEDOUT;

	for (unsigned step = 0; step < STEPS_MAX && error == -ETIMEDOUT; step++) {
		daemon_step(&softibd, 1);
		error = control_receive(socket, 0, ret_message);
	}
	return error;
}

json_t *fixture_ask_about(int socket, int descriptor, const char *text)
{
	struct control_message message;

	assert_int_equal(control_send(socket, text, &descriptor, descriptor >= 0), 0);
	assert_int_equal(receive(socket, &message), 0);

	json_t *answer = json_loadb(message.text, message.byte_count, 0, NULL);

	assert_non_null(answer);
	control_message_release(&message);
	return answer;
}

static json_t *ask(int socket, const char *format, va_list arguments)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, arguments);
	return fixture_ask_about(socket, -1, text);
}

json_t *fixture_ask(int socket, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	json_t *answer = ask(socket, format, arguments);
	va_end(arguments);
	return answer;
}

void fixture_order(int socket, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	json_t *answer = ask(socket, format, arguments);
	va_end(arguments);
	if (!json_is_true(json_object_get(answer, "ok")))
		fail_msg("%s", json_string_value(json_object_get(answer, "error")));
	json_decref(answer);
}

bool fixture_is_cut_off(int socket)
{
	struct control_message message;
	int error = receive(socket, &message);

	if (!error)
		control_message_release(&message);
	return error == -ECONNRESET;
}

static void map_attachment(struct program *program, struct control_message *message)
{
	struct process_layout layout = process_layout();

	assert_int_equal(message->descriptor_count, 5);
	assert_int_equal(memory_file_map_readonly(message->descriptors[0],
						  sizeof(struct fabric_page),
						  (const void **)&program->page),
			 0);
	assert_int_equal(memory_file_map(message->descriptors[1], layout.total_bytes,
					 (void **)&program->memory),
			 0);
	program->doorbell = message->descriptors[3];
	program->softibd_doorbell = message->descriptors[4];
	message->descriptors[3] = -1;
	message->descriptors[4] = -1;
	ring_producer_init(&program->up, program->memory + layout.up_offset, PROCESS_RING_BYTES);
	ring_consumer_init(&program->down, program->memory + layout.down_offset,
			   PROCESS_RING_BYTES);
	program->flows = (struct flow_counters *)(program->memory + layout.flows_offset);
}

void program_start(struct program *program, const char *host)
{
	struct control_message message;

	program->socket = fixture_connect_program();
	fixture_order(program->socket,
		      "{\"command\":\"hello\",\"version\":%d,\"kind\":\"program\",\"host\":\"%s\"}",
		      PROTOCOL_VERSION, host);
	assert_int_equal(control_send(program->socket, "{\"command\":\"attach\"}", NULL, 0), 0);
	assert_int_equal(receive(program->socket, &message), 0);
	map_attachment(program, &message);
	control_message_release(&message);
	fixture_order(program->socket, "{\"command\":\"port\",\"adapter\":0}");

	json_t *answer =
		fixture_ask(program->socket, "{\"command\":\"qpns\",\"adapter\":0,\"count\":1}");

	program->first_qpn = (uint32_t)json_integer_value(json_object_get(answer, "first"));
	json_decref(answer);

	const struct ring_record *record = program_next_of(program, RECORD_PORT_UPDATE);
	struct port_update update;

	assert_non_null(record);
	assert_int_equal(record->byte_count, sizeof(update));
	memcpy(&update, record->body, sizeof(update));
	program->lid = update.view.lid;
}

struct daemon *fixture_start_pair(const char *topology, struct program *ret_a,
				  struct program *ret_b)
{
	fixture_start(topology);
	program_start(ret_a, "h1");
	program_start(ret_b, "h2");
	return &softibd;
}

void program_end(struct program *program)
{
	munmap(program->memory, process_layout().total_bytes);
	munmap((void *)(uintptr_t)program->page, sizeof(struct fabric_page));
	close(program->doorbell);
	close(program->softibd_doorbell);
	close(program->socket);
	fixture_settle();
}

const struct ring_record *program_next(struct program *program)
{
	const struct ring_record *record = ring_next(&program->down);

	if (record)
		return record;
	fixture_settle();
	return ring_next(&program->down);
}

const struct ring_record *program_next_of(struct program *program, enum record_kind kind)
{
	const struct ring_record *record;

	while ((record = program_next(program))) {
		if (record->kind == kind)
			return record;
	}
	return NULL;
}

void program_show(struct program *program, struct ring_record *record)
{
	uint64_t one = 1;

	ring_commit(&program->up, record);
	if (ring_publish(&program->up))
		assert_int_equal(write(program->softibd_doorbell, &one, sizeof(one)), sizeof(one));
}

struct resolve_answer program_resolve(struct program *program, uint16_t dlid, uint32_t qpn,
				      uint16_t pkey)
{
	struct resolve_request request = {.request_id = 77,
					  .destination_qpn = qpn,
					  .dlid = dlid,
					  .pkey = pkey,
					  .source_port = 0 << 8 | 1};
	struct ring_record *record = ring_reserve(&program->up, sizeof(request));
	struct resolve_answer answer;

	assert_non_null(record);
	record->kind = RECORD_RESOLVE;
	memcpy(record->body, &request, sizeof(request));
	program_show(program, record);

	const struct ring_record *reply = program_next_of(program, RECORD_RESOLVED);

	assert_non_null(reply);
	assert_int_equal(reply->byte_count, sizeof(answer));
	memcpy(&answer, reply->body, sizeof(answer));
	assert_int_equal(answer.request_id, 77);
	return answer;
}

void program_send_packet(struct program *program, const struct packet *packet)
{
	struct ring_record *record = ring_reserve(&program->up, (uint32_t)packet_bytes(packet));

	assert_non_null(record);
	record->kind = RECORD_PACKET;
	record->port = 1;
	record->packet_count = 1;
	record->byte_count = (uint32_t)packet_encode(packet, record->body);
	program_show(program, record);
}

void program_send(struct program *program, uint16_t dlid, uint32_t qpn, const char *text)
{
	struct packet packet = {
		.lrh = {.dlid = dlid, .slid = program->lid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = qpn},
		.packet_count = 1,
	};
	uint8_t payload[64];

	memcpy(payload, text, strlen(text));
	packet_set_payload(&packet, payload, (uint32_t)strlen(text));
	program_send_packet(program, &packet);
}
