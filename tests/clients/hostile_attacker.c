/* SPDX-License-Identifier: Apache-2.0 */
/* A program that speaks to softibd itself: see hostile_attacker.h. */
#include "hostile_attacker.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
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

static void map_rings(struct attacker *attacker)
{
	struct process_layout layout = process_layout();
	struct control_message message;
	void *memory;

	CHECK(attacker_ask(attacker, "{\"command\":\"attach\"}", &message) == 0);
	CHECK(message.descriptor_count == 5);
	CHECK(memory_file_map(message.descriptors[1], layout.total_bytes, &memory) == 0);
	attacker->memory = memory;
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

void attacker_attach(struct attacker *attacker)
{
	char hello[256];

	attacker->socket = control_connect_path(attacker->socket_path);
	CHECK(attacker->socket >= 0);
	snprintf(hello, sizeof(hello),
		 "{\"command\":\"hello\",\"version\":%d,\"host\":\"%s\",\"pid\":%d,\"kind\":"
		 "\"program\"}",
		 PROTOCOL_VERSION, attacker->host_name, (int)getpid());
	order(attacker, hello);
	map_rings(attacker);
	order(attacker, "{\"command\":\"port\",\"adapter\":0}");
	order(attacker, "{\"command\":\"qpns\",\"adapter\":0,\"count\":1}");
	learn_own_lid(attacker);
}

void attacker_leave(struct attacker *attacker)
{
	munmap(attacker->memory, process_layout().total_bytes);
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
