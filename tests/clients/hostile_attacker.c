/* SPDX-License-Identifier: Apache-2.0 */
/* A program that speaks to softibd itself: see hostile_attacker.h. */
#include "hostile_attacker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "ipc/descriptor_message.h"
#include "ipc/doorbell.h"
#include "ipc/memory_file.h"

struct ring_record *attacker_reserve(struct ring_producer *producer, uint32_t byte_count)
{
	struct ring_record *record = ring_reserve(producer, byte_count);

	CHECK(record);
	return record;
}

int attacker_ask(struct attacker *attacker, const char *text, struct control_message *ret_message)
{
	int error = control_ask(attacker->socket, text, ANSWER_MS, ret_message);

	CHECK(error != -ETIMEDOUT);
	return error;
}

static void order(struct attacker *attacker, const char *text)
{
	struct control_message message;

	CHECK(attacker_ask(attacker, text, &message) == 0);
	CHECK(strstr(message.text, "\"ok\":true"));
	control_message_release(&message);
}

bool attacker_is_refused(struct attacker *attacker, const char *text, int descriptor, int error)
{
	struct control_message message;
	char number[32];
	bool is_refused;

	snprintf(number, sizeof(number), "\"errno\":%d", error);
	CHECK(control_ask_about(attacker->socket, text, descriptor, ANSWER_MS, &message) == 0);
	is_refused = strstr(message.text, "\"ok\":false") && strstr(message.text, number) &&
		     message.descriptor_count == 0;
	if (!is_refused)
		fprintf(stderr, "%s: %s\n", text, message.text);
	control_message_release(&message);
	return is_refused;
}

static void map_rings(struct attacker *attacker)
{
	struct process_layout layout = process_layout();
	struct control_message message;
	void *memory;

	CHECK(attacker_ask(attacker, "{\"command\":\"attach\"}", &message) == 0);
	CHECK(message.descriptor_count == 5);
	CHECK(memory_file_map(message.descriptors[1], layout.total_bytes, &memory) == 0);
	attacker->memory = memory;
	for (unsigned i = 0; i < ATTACHED_FILES; i++)
		attacker->files[i] = control_message_take(&message, i);
	attacker->own_doorbell = dup(message.descriptors[3]);
	attacker->softibd_doorbell = dup(message.descriptors[4]);
	control_message_release(&message);
	ring_producer_init(&attacker->up, attacker->memory + layout.up_offset, PROCESS_RING_BYTES);
	ring_consumer_init(&attacker->down, attacker->memory + layout.down_offset,
			   PROCESS_RING_BYTES);
}

static void learn_own_lid(struct attacker *attacker)
{
	const struct ring_record *record = ring_next(&attacker->down);
	struct port_update update;

	CHECK(record && record->kind == RECORD_PORT_UPDATE);
	memcpy(&update, record->body, sizeof(update));
	attacker->own_lid = update.view.lid;
	CHECK(attacker->own_lid != 0);
}

void attacker_say_hello(struct attacker *attacker)
{
	char hello[256];

	attacker->socket = control_connect_path(attacker->socket_path);
	CHECK(attacker->socket >= 0);
	snprintf(hello, sizeof(hello),
		 "{\"command\":\"hello\",\"version\":%d,\"host\":\"%s\",\"pid\":%d,\"kind\":"
		 "\"program\"}",
		 PROTOCOL_VERSION, attacker->host_name, (int)getpid());
	order(attacker, hello);
}

void attacker_attach(struct attacker *attacker)
{
	attacker_say_hello(attacker);
	map_rings(attacker);
	order(attacker, "{\"command\":\"port\",\"adapter\":0}");
	order(attacker, "{\"command\":\"qpns\",\"adapter\":0,\"count\":1}");
	learn_own_lid(attacker);
}

void attacker_leave(struct attacker *attacker)
{
	munmap(attacker->memory, process_layout().total_bytes);
	for (unsigned i = 0; i < ATTACHED_FILES; i++)
		close(attacker->files[i]);
	close(attacker->own_doorbell);
	close(attacker->softibd_doorbell);
	close(attacker->socket);
}

bool attacker_is_cut_off(const struct attacker *attacker, int wait_ms)
{
	struct pollfd item = {.fd = attacker->socket, .events = POLLRDHUP};

	return poll(&item, 1, wait_ms) == 1;
}

bool attacker_is_served(struct attacker *attacker)
{
	struct control_message message;

	if (attacker_ask(attacker, "{\"command\":\"status\"}", &message) != 0)
		return false;
	control_message_release(&message);
	return true;
}

void attacker_put_question(struct attacker *attacker, uint32_t id, uint16_t dlid, uint32_t qpn)
{
	struct resolve_request request = {
		.request_id = id,
		.destination_qpn = qpn,
		.dlid = dlid,
		.pkey = 0xffff,
		.source_port = ADAPTER_PORT,
	};
	struct ring_record *record = attacker_reserve(&attacker->up, sizeof(request));

	record->kind = RECORD_RESOLVE;
	record->port = ADAPTER_PORT;
	memcpy(record->body, &request, sizeof(request));
	ring_commit(&attacker->up, record);
}

uint32_t attacker_read_answers(struct attacker *attacker, struct resolve_answer *ret_last)
{
	const struct ring_record *record;
	uint32_t count = 0;

	while ((record = ring_next(&attacker->down))) {
		if (record->kind != RECORD_RESOLVED)
			continue;
		memcpy(ret_last, record->body, sizeof(*ret_last));
		count++;
	}
	CHECK(!attacker->down.is_corrupt);
	if (ring_release(&attacker->down))
		doorbell_ring(attacker->softibd_doorbell);
	return count;
}

uint32_t attacker_find_ring(struct attacker *attacker)
{
	struct resolve_answer answer = {.verdict = RESOLVED_FABRIC};

	for (unsigned tries = 0; answer.verdict != RESOLVED_DIRECT; tries++) {
		CHECK(tries < ANSWER_MS);
		attacker_put_question(attacker, 0, attacker->victim_lid, attacker->victim_qpn);
		(void)!ring_publish(&attacker->up);
		doorbell_ring(attacker->softibd_doorbell);
		CHECK(!attacker_is_cut_off(attacker, 1));
		attacker_read_answers(attacker, &answer);
	}
	return answer.ring_id;
}

void attacker_fetch_ring(struct attacker *attacker, uint32_t id, struct direct *ret_direct,
			 struct control_message *ret_message)
{
	struct direct_layout layout = direct_layout();
	char text[64];

	snprintf(text, sizeof(text), "{\"command\":\"ring\",\"id\":%u}", id);
	CHECK(attacker_ask(attacker, text, ret_message) == 0);
	CHECK(ret_message->descriptor_count >= 2);
	CHECK(memory_file_map(ret_message->descriptors[0], layout.total_bytes,
			      &ret_direct->memory) == 0);
	/* The doorbell is the last one. */
	ret_direct->doorbell = dup(ret_message->descriptors[ret_message->descriptor_count - 1]);

	bool is_first = strstr(ret_message->text, "\"outgoing\":0") != NULL;
	uint8_t *bytes = ret_direct->memory;

	ring_producer_init(&ret_direct->out, bytes + layout.offset[is_first ? 0 : 1],
			   DIRECT_RING_BYTES);
	ret_direct->in = (struct ring_shared *)(bytes + layout.offset[is_first ? 1 : 0]);
}

void attacker_get_ring(struct attacker *attacker, struct direct *ret_direct)
{
	struct control_message message;

	attacker_fetch_ring(attacker, attacker_find_ring(attacker), ret_direct, &message);
	control_message_release(&message);
}

void direct_close(struct direct *direct)
{
	munmap(direct->memory, direct_layout().total_bytes);
	close(direct->doorbell);
}

int attacker_fetch(struct attacker *attacker, const char *text, unsigned index)
{
	struct control_message message;
	int descriptor;

	CHECK(attacker_ask(attacker, text, &message) == 0);
	if (message.descriptor_count <= index)
		fprintf(stderr, "%s: %s\n", text, message.text);
	CHECK(message.descriptor_count > index);
	descriptor = control_message_take(&message, index);
	control_message_release(&message);
	return descriptor;
}

void attacker_must(struct attacker *attacker, const char *text, int descriptor)
{
	struct control_message message;

	CHECK(control_ask_about(attacker->socket, text, descriptor, ANSWER_MS, &message) == 0);
	if (!strstr(message.text, "\"ok\":true"))
		fprintf(stderr, "%s: %s\n", text, message.text);
	CHECK(strstr(message.text, "\"ok\":true"));
	control_message_release(&message);
}

struct attacker honest_program(const struct attacker *attacker)
{
	struct attacker honest = {.socket_path = attacker->socket_path,
				  .host_name = attacker->host_name};

	attacker_attach(&honest);
	return honest;
}

bool socket_is_closed(int socket)
{
	struct pollfd item = {.fd = socket, .events = POLLRDHUP};

	return poll(&item, 1, ANSWER_MS) == 1 && (item.revents & (POLLRDHUP | POLLHUP));
}

bool socket_is_open(int socket)
{
	struct pollfd item = {.fd = socket, .events = POLLRDHUP};

	return poll(&item, 1, 0) == 0;
}

ssize_t socket_put(int socket, const void *bytes, size_t byte_count, const int *descriptors,
		   unsigned descriptor_count)
{
	char room[CMSG_SPACE(sizeof(int) * CONTROL_DESCRIPTORS_MAX)];
	struct iovec piece = {(void *)(uintptr_t)bytes, byte_count};
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};

	if (descriptor_count)
		descriptors_attach(&message, room, descriptors, descriptor_count);
	return sendmsg(socket, &message, MSG_NOSIGNAL);
}

unsigned wrong_descriptors(const struct attacker *attacker, int ret_wrong[WRONG_MAX])
{
	unsigned count = 0;
	void *memory;

	CHECK(pipe(ret_wrong) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ret_wrong + 2) == 0);
	CHECK(memory_file_create("wrong", 4096, &ret_wrong[4], &memory) == 0);
	munmap(memory, 4096);
	ret_wrong[5] = memfd_create("wrong", 0);
	ret_wrong[6] = open("/", O_RDONLY);
	ret_wrong[7] = open("/", O_PATH);
	ret_wrong[8] = open("/dev/zero", O_RDWR);
	ret_wrong[9] = epoll_create1(0);
	ret_wrong[10] = eventfd(0, 0);
	ret_wrong[11] = dup(attacker->socket);
	ret_wrong[12] = socket(AF_INET, SOCK_DGRAM, 0);
	for (count = 0; count < 13; count++)
		CHECK(ret_wrong[count] >= 0);
	return count;
}

int attacker_main(int argument_count, char **arguments, const struct attack attacks[])
{
	struct attacker attacker = {.socket = -1};
	unsigned lid;

	CHECK(argument_count == 6 || argument_count == 7);
	attacker.socket_path = arguments[1];
	attacker.host_name = arguments[2];
	attacker.random = random_seeded(strtoull(arguments[4], NULL, 0));
	if (argument_count == 7)
		attacker.sm_lid = (uint16_t)strtoul(arguments[6], NULL, 0);

	FILE *file = fopen(arguments[5], "r");

	CHECK(file);
	CHECK(fscanf(file, "%u %u", &lid, &attacker.victim_qpn) == 2);
	attacker.victim_lid = (uint16_t)lid;
	fclose(file);
	for (const struct attack *attack = attacks; attack->name; attack++) {
		if (strcmp(attack->name, arguments[3]) != 0)
			continue;
		attack->run(&attacker);
		return 0;
	}
	fprintf(stderr, "no attack is called %s\n", arguments[3]);
	return 2;
}
