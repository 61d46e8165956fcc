/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: several clients at softibd's sockets. They send commands with right, wrong and
 * missing fields, with and without descriptors, and bytes that are no command; they write to the
 * sockets for connections and MADs that come with the answers; they leave while softibd works for
 * them. Each command gets an answer, and nothing of a client is left when it has gone.
 *
 * The input is a sequence of actions: a byte that chooses the action, a byte that chooses the
 * client, and what the action needs.
 */
#include "fuzz/fuzz.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/cm/cm_address.h"
#include "fuzz/input.h"
#include "fuzz/softibd_rig.h"
#include "ipc/cm_protocol.h"
#include "ipc/descriptor_message.h"
#include "ipc/mad_header.h"
#include "support/control_grammar.h"
#include "wire/mad.h"

enum {
	CLIENTS = 4,
	KEPT_MAX = 4, /* sockets of a client that came with answers */
	ACTIONS_MAX = 48,
	TEXT_BYTES = 4096,
	PRIVATE_BYTES = 64,
	AGENTS_MAX = 4,
	PORT_FIRST = 7000,
	LIKELY_BELOW = 200, /* a field byte up to here chooses a usual value */
	ANY_BELOW = 248,    /* up to here one of any kind; above, the field is missing */
};

enum action {
	CONNECT,
	BE_PROGRAM,
	COMMAND,
	COMMAND_AGAIN, /* commands come more often than the rest */
	COMMAND_WITH_DESCRIPTORS,
	TEXT,
	CM_ORDER,
	CM_ORDER_AGAIN,
	CM_LISTEN_AT,
	CM_CALL,
	BYTES,
	REGISTER,
	MAD,
	READ,
	LEAVE,
	CLOSE_KEPT,
	STEP,
	PASS,
	ACTIONS,
};

struct client_end {
	int socket;   /* -1: not connected */
	int mads, cm; /* sockets for MADs and for connections; -1: none */
	int kept[KEPT_MAX];
	unsigned kept_count;
	uint8_t classes[AGENTS_MAX]; /* of its agents, by agent id */
	unsigned agent_count;
};

static struct client_end ends[CLIENTS];
static struct daemon *softibd;

static void keep(struct client_end *end, int descriptor)
{
	if (end->kept_count == KEPT_MAX)
		close(end->kept[--end->kept_count]);
	end->kept[end->kept_count++] = descriptor;
}

static void close_kept(struct client_end *end)
{
	while (end->kept_count)
		close(end->kept[--end->kept_count]);
}

static void close_one(int *socket)
{
	if (*socket >= 0)
		close(*socket);
	*socket = -1;
}

static void leave(struct client_end *end)
{
	close_kept(end);
	close_one(&end->mads);
	close_one(&end->cm);
	close_one(&end->socket);
	end->agent_count = 0;
}

/* Every answer is an object that says whether the command was carried out, and why not. */
static void check_answer(const struct control_message *message)
{
	json_t *answer = json_loadb(message->text, message->byte_count, 0, NULL);
	const json_t *ok = json_object_get(answer, "ok");

	MUST_HOLD(json_is_boolean(ok));
	MUST_HOLD(json_is_true(ok) || json_string_value(json_object_get(answer, "error")));
	json_decref(answer);
}

static void read_answers(struct client_end *end)
{
	struct control_message message;

	while (end->socket >= 0 && rig_receive(end->socket, &message)) {
		check_answer(&message);
		for (unsigned i = 0; i < message.descriptor_count; i++)
			keep(end, control_message_take(&message, i));
		control_message_release(&message);
	}
}

/* Answers and events of connections, and MADs: only their descriptors matter here. */
static void read_socket(struct client_end *end, int socket)
{
	static uint8_t bytes[1 << 16];
	int descriptors[CONTROL_DESCRIPTORS_MAX];
	union descriptor_room room;
	struct iovec piece = {bytes, sizeof(bytes)};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = &room,
				 .msg_controllen = sizeof(room)};

	if (socket < 0 || recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return;
	for (unsigned count = descriptors_take(&message, 1, descriptors); count; count--)
		keep(end, descriptors[count - 1]);
}

static void read_sockets(struct client_end *end)
{
	read_socket(end, end->mads);
	read_socket(end, end->cm);
	for (unsigned i = 0; i < end->kept_count; i++)
		read_socket(end, end->kept[i]);
}

static void connect_end(struct client_end *end, struct input *input)
{
	leave(end);
	end->socket = rig_connect(input_byte(input) & 1);
}

static int make_descriptor(struct input *input)
{
	int pipes[2];

	switch (input_below(input, 6)) {
	case 0:
		return memfd_create("fuzz", MFD_CLOEXEC);
	case 1:
		return memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	case 2:
		return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	case 3:
		return open("/dev/null", O_RDWR | O_CLOEXEC);
	case 4:
		if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) != 0)
			return -1;
		close(pipes[1]);
		return pipes[0];
	default:
		return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	}
}

/* Often a descriptor that softibd gave to a client before. */
static unsigned make_descriptors(struct input *input, int ret_descriptors[])
{
	unsigned count = input_below(input, CONTROL_DESCRIPTORS_MAX + 1), made = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct client_end *end = &ends[input_below(input, CLIENTS)];
		int descriptor = end->kept_count
					 ? dup(end->kept[input_below(input, end->kept_count)])
					 : make_descriptor(input);

		if (descriptor >= 0)
			ret_descriptors[made++] = descriptor;
	}
	return made;
}

static const char *field_value(const char *field, struct input *input)
{
	const unsigned choice = input_byte(input);
	const char *likely = control_grammar_value(field, choice);

	if (choice >= ANY_BELOW)
		return NULL;
	return choice < LIKELY_BELOW && likely
		       ? likely
		       : control_grammar_values[input_below(input,
							    ARRAY_COUNT(control_grammar_values))];
}

static void write_command(struct input *input, char ret_text[static TEXT_BYTES])
{
	const struct control_grammar_command *command = &control_grammar_commands[input_below(
		input, ARRAY_COUNT(control_grammar_commands))];
	const unsigned count = control_grammar_field_count(command);
	int length = snprintf(ret_text, TEXT_BYTES, "{\"command\":\"%s\"", command->name);

	for (unsigned i = 0; i < count; i++) {
		const char *value = field_value(command->fields[i], input);

		if (value)
			length += snprintf(ret_text + length, TEXT_BYTES - (size_t)length,
					   ",\"%s\":%s", command->fields[i], value);
	}
	snprintf(ret_text + length, TEXT_BYTES - (size_t)length, "}");
}

static void send_text(struct client_end *end, const char *text, const int *descriptors,
		      unsigned count)
{
	if (end->socket < 0 || !*text)
		return;
	(void)rig_send(end->socket, text, descriptors, count);
}

static void send_command(struct client_end *end, struct input *input, bool has_descriptors)
{
	int descriptors[CONTROL_DESCRIPTORS_MAX];
	unsigned count = has_descriptors ? make_descriptors(input, descriptors) : 0;
	char text[TEXT_BYTES];

	write_command(input, text);
	send_text(end, text, descriptors, count);
	while (count)
		close(descriptors[--count]);
}

static void write_to(int socket, const void *bytes, size_t byte_count)
{
	if (socket >= 0)
		(void)!send(socket, bytes, byte_count, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* The last descriptor that came with an answer; -1: none did. */
static int take_kept(struct client_end *end)
{
	rig_step(3);
	read_answers(end);
	return end->kept_count ? end->kept[--end->kept_count] : -1;
}

/* An attached program on either host, with its sockets for MADs and connections and one channel
 * for events. */
static void be_program(struct client_end *end, struct input *input)
{
	const struct cm_command open_channel = {.kind = CM_OPEN_CHANNEL};
	char hello[128];

	snprintf(hello, sizeof(hello),
		 "{\"command\":\"hello\",\"version\":%d,\"kind\":\"program\",\"host\":\"h%u\"}",
		 PROTOCOL_VERSION, 1 + input_below(input, 2));
	leave(end);
	end->socket = rig_connect(input_byte(input) & 1);
	send_text(end, hello, NULL, 0);
	send_text(end, "{\"command\":\"attach\"}", NULL, 0);
	(void)take_kept(end);
	close_kept(end);
	send_text(end, "{\"command\":\"mads\",\"adapter\":\"softib0\",\"port\":1}", NULL, 0);
	end->mads = take_kept(end);
	send_text(end, "{\"command\":\"cm\"}", NULL, 0);
	end->cm = take_kept(end);
	write_to(end->cm, &open_channel, cm_command_bytes(&open_channel));
	rig_step(1);
	read_socket(end, end->cm);
}

/* An agent on the port whose socket comes with the command. softibd's own agents have some methods
 * already; one without methods only sends requests. */
static void register_agent(struct client_end *end, struct input *input)
{
	static const unsigned classes[] = {3, 4, 6, 7, 9, 10, 33, 48, 129, 1};
	static const char *const kinds[] = {"single", "rmpp", "user-rmpp", "raw"};
	const unsigned class = classes[input_below(input, ARRAY_COUNT(classes))];
	const uint8_t methods = input_byte(input);
	char text[256];

	if (end->mads < 0 || end->agent_count == AGENTS_MAX)
		return;
	end->classes[end->agent_count++] = (uint8_t) class;
	snprintf(text, sizeof(text),
		 "{\"command\":\"mad-register\",\"class\":%u,\"version\":%u,\"oui\":%u,"
		 "\"kind\":\"%s\",\"methods_low\":\"0x%x\",\"methods_high\":\"0x0\"}",
		 class, class == 3 || class == 7 || class == 33 ? 2 : 1, class == 48 ? 0x1405 : 0,
		 kinds[input_below(input, ARRAY_COUNT(kinds))], methods & 1 ? methods : 0);
	send_text(end, text, &end->mads, 1);
	rig_step(1);
}

static void send_raw_text(struct client_end *end, struct input *input)
{
	char text[TEXT_BYTES];
	size_t length = input_16(input) % (TEXT_BYTES - 1);

	text[input_fill(input, text, length)] = '\0';
	send_text(end, text, NULL, 0);
}

static int kept_socket(const struct client_end *end, struct input *input)
{
	return end->kept_count ? end->kept[input_below(input, end->kept_count)] : -1;
}

/* The address of one of the hosts, or nearly that. */
static void write_address(struct input *input, struct cm_address *ret_address)
{
	static const uint16_t families[] = {CM_ADDRESS_NONE, CM_ADDRESS_IPV4, CM_ADDRESS_IPV6,
					    CM_ADDRESS_IB};
	const struct host *host =
		host_table_find(&softibd->core.hosts, input_byte(input) & 1 ? "h2" : "h1");
	const uint8_t choice = input_byte(input);

	cm_address_of(&host->adapters[0]->endpoints[1], (enum cm_address_family)(1 + (choice & 1)),
		      ret_address);
	if (choice & 0x80)
		ret_address->family = families[choice & 3];
	ret_address->port = choice & 0x40 ? 0 : (uint16_t)(PORT_FIRST + (choice & 3));
	ret_address->service_id = choice & 0x20;
	ret_address->pkey = 0xffff;
}

static void send_cm_order(struct client_end *end, struct input *input)
{
	static const uint32_t port_spaces[] = {0x0106, 0x0111, 0x0002, 0x013f};
	struct cm_command command = {
		.kind = 1 + input_below(input, CM_DROP_EVENTS + 1),
		.is_posted = input_byte(input) & 1,
		.is_new = input_byte(input) & 1,
		.new_qp_type = (uint8_t)input_below(input, CM_QP_RD + 2),
		.id = input_below(input, 5),
		.channel = 1 + input_byte(input) % 8 / 7,
		.port_space = port_spaces[input_below(input, ARRAY_COUNT(port_spaces))],
		.timeout_ms = input_byte(input),
		.option = input_below(input, 5),
		.value = input_byte(input),
		.token = input_below(input, 3),
		.parameters = {.qpn = 1024u + input_below(input, 8),
			       .responder_resources = 1,
			       .initiator_depth = 1,
			       .retry_count = 7,
			       .rnr_retry_count = 7},
		.name = "h2",
		.private_byte_count = input_below(input, PRIVATE_BYTES),
	};

	if (input_byte(input) & 1)
		command.id |= CM_ID_OF_SOFTIBD;
	write_address(input, &command.source);
	write_address(input, &command.destination);
	input_change(input, &command, sizeof(command));
	if (command.private_byte_count > CM_PRIVATE_BYTES_MAX)
		command.private_byte_count = CM_PRIVATE_BYTES_MAX;
	write_to(end->cm, &command, cm_command_bytes(&command));
	rig_step(1);
	read_socket(end, end->cm);
}

static void order(struct client_end *end, struct input *input, struct cm_command command)
{
	input_change(input, &command, offsetof(struct cm_command, private_byte_count));
	command.is_posted = 0;
	write_to(end->cm, &command, cm_command_bytes(&command));
	rig_step(2);
	read_socket(end, end->cm);
}

static struct cm_command order_of(enum cm_command_kind kind, uint32_t id)
{
	return (struct cm_command){.kind = kind,
				   .id = id,
				   .channel = 1,
				   .port_space = CM_PORT_SPACE_TCP,
				   .timeout_ms = 1000,
				   .parameters = {.qpn = 1024,
						  .responder_resources = 1,
						  .initiator_depth = 1,
						  .retry_count = 7,
						  .rnr_retry_count = 7}};
}

static void listen_at(struct client_end *end, struct input *input)
{
	const uint8_t port = input_byte(input) & 1;
	struct cm_command command = order_of(CM_BIND, 1 + port);

	command.is_new = 1;
	command.source = (struct cm_address){.family = CM_ADDRESS_IPV4, .port = PORT_FIRST + port};
	order(end, input, command);
	command = order_of(CM_LISTEN, 1 + port);
	command.value = 4;
	order(end, input, command);
}

/* The steps of a program that connects, up to the request; CM_ORDER may answer it. */
static void call_peer(struct client_end *end, struct input *input)
{
	struct cm_command command = order_of(CM_RESOLVE_ADDRESS, 3);

	command.is_new = 1;
	command.new_qp_type = (uint8_t)input_below(input, CM_QP_RD + 1);
	write_address(input, &command.destination);
	command.destination.family =
		command.destination.family ? command.destination.family : CM_ADDRESS_IPV4;
	command.destination.port = (uint16_t)(PORT_FIRST + (input_byte(input) & 1));
	order(end, input, command);
	rig_step(20);
	order(end, input, order_of(CM_RESOLVE_ROUTE, 3));
	rig_step(20);
	order(end, input, order_of(CM_CONNECT, 3));
	rig_step(20);
}

static void send_bytes(struct client_end *end, struct input *input)
{
	uint8_t bytes[1024];
	const int sockets[] = {end->mads, end->cm, kept_socket(end, input)};
	const int socket = sockets[input_below(input, ARRAY_COUNT(sockets))];
	const size_t byte_count = input_fill(input, bytes, input_16(input) % sizeof(bytes));

	write_to(socket, bytes, byte_count);
}

static void send_mad(struct client_end *end, struct input *input)
{
	static const uint8_t classes[] = {0x01, 0x81, 0x03, 0x04, 0x05,
					  0x06, 0x07, 0x09, 0x21, 0x30};
	uint8_t bytes[MAD_PORT_SINGLE_BYTES];
	const unsigned agent = input_below(input, AGENTS_MAX);
	const uint8_t class = agent < end->agent_count
				      ? end->classes[agent]
				      : classes[input_below(input, sizeof(classes))];
	const struct mad_port_header header = {
		.agent_id = agent,
		.timeout_ms = input_byte(input) * 4u,
		.retries = input_below(input, 4),
		.address = {.lid = (uint16_t)input_below(input, 6),
			    .qpn = class == 0x01 || class == 0x81 ? 0 : 1,
			    .qkey = 0x80010000},
	};
	const struct mad_header mad = {
		.base_version = 1,
		.management_class = class,
		.class_version = class == 0x03 || class == 0x07 || class == 0x21 ? 2 : 1,
		.method = (uint8_t)(1 + input_below(input, 8)),
		.transaction_id = input_byte(input),
		.attribute_id = input_16(input) & 0xff3f,
		.attribute_modifier = input_byte(input),
	};

	memset(bytes, 0, sizeof(bytes));
	mad_port_header_encode(&header, bytes);
	mad_header_encode(&mad, bytes + MAD_PORT_HEADER_BYTES);
	(void)input_fill(input, bytes + MAD_PORT_HEADER_BYTES + MAD_HEADER_BYTES,
			 input_byte(input) % (MAD_BYTES - MAD_HEADER_BYTES));
	input_change(input, bytes, sizeof(bytes));
	write_to(end->mads, bytes,
		 input_byte(input) & 7 ? sizeof(bytes) : input_16(input) % sizeof(bytes));
	rig_step(1);
}

static void act(struct input *input)
{
	const enum action action = (enum action)input_below(input, ACTIONS);
	struct client_end *end = &ends[input_below(input, CLIENTS)];

	/* Who is not there can do nothing else. */
	if (end->socket < 0 && action != CONNECT && action != STEP && action != PASS)
		be_program(end, input);
	switch (action) {
	case CONNECT:
		connect_end(end, input);
		break;
	case BE_PROGRAM:
		be_program(end, input);
		break;
	case COMMAND:
	case COMMAND_AGAIN:
		send_command(end, input, false);
		rig_step(1);
		break;
	case COMMAND_WITH_DESCRIPTORS:
		send_command(end, input, true);
		break;
	case TEXT:
		send_raw_text(end, input);
		break;
	case CM_ORDER:
	case CM_ORDER_AGAIN:
		send_cm_order(end, input);
		break;
	case CM_LISTEN_AT:
		listen_at(end, input);
		break;
	case CM_CALL:
		call_peer(end, input);
		break;
	case REGISTER:
		register_agent(end, input);
		break;
	case BYTES:
		send_bytes(end, input);
		break;
	case MAD:
		send_mad(end, input);
		break;
	case READ:
		read_answers(end);
		read_sockets(end);
		break;
	case LEAVE:
		leave(end);
		break;
	case CLOSE_KEPT:
		close_kept(end);
		break;
	case STEP:
		rig_step(1 + input_below(input, 8));
		break;
	case PASS:
		rig_pass(MILLISECONDS(1) << input_below(input, 14));
		break;
	case ACTIONS:
		break;
	}
}

/* softibd still answers somebody who asks properly. */
static void check_answers(void)
{
	int socket = rig_connect(true);
	struct control_message message;

	MUST_HOLD(socket >= 0 && rig_send(socket, "{\"command\":\"status\"}", NULL, 0));
	rig_step(3);
	MUST_HOLD(rig_receive(socket, &message));
	check_answer(&message);
	control_message_release(&message);
	close(socket);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	struct input input = {bytes, byte_count};

	softibd = rig_start();
	for (unsigned i = 0; i < CLIENTS; i++)
		ends[i] = (struct client_end){.socket = -1, .mads = -1, .cm = -1};
	for (unsigned i = 0; input.byte_count && i < ACTIONS_MAX; i++)
		act(&input);
	rig_step(4);
	for (unsigned i = 0; i < CLIENTS; i++) {
		read_answers(&ends[i]);
		leave(&ends[i]);
	}
	check_answers();
	rig_stop();
	return 0;
}
