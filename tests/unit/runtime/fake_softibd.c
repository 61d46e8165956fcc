/* SPDX-License-Identifier: Apache-2.0 */
/* A softibd for tests: just enough of the protocol. */
#include "unit/runtime/fake_softibd.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/bytes.h"
#include "ipc/doorbell.h"
#include "ipc/control_socket.h"
#include "ipc/memory_file.h"
#include "ipc/rma_area.h"
#include "wire/mtu.h"
#include "wire/subnet_attributes.h"

static void send_down(struct fake_softibd *softibd, uint16_t kind, uint16_t port, uint32_t word,
		      const void *body, uint32_t byte_count)
{
	struct ring_record *record = ring_reserve(&softibd->down, byte_count);

	if (!record)
		return;
	record->kind = kind;
	record->port = port;
	record->packet_count = 1;
	record->word = word;
	if (byte_count)
		memcpy(record->body, body, byte_count);
	ring_commit(&softibd->down, record);
}

static void publish(struct fake_softibd *softibd)
{
	uint64_t one = 1;

	if (ring_publish(&softibd->down))
		(void)!write(softibd->doorbells[0], &one, sizeof(one));
}

static void send_port_update(struct fake_softibd *softibd, uint32_t adapter_index)
{
	struct port_update update = {.adapter_index = adapter_index};
	struct port_view *view = &update.view;

	*view = (struct port_view){
		.number = 1,
		.state = PORT_ACTIVE,
		.mtu_code = MTU_1024,
		.mtu_cap_code = MTU_4096,
		.lid = (uint16_t)(adapter_index + 1),
		.sm_lid = 1,
		.guid = 0x1000 + adapter_index,
		.pkey_count = 1,
		.gid_count = 1,
		.pkeys = {0xffff},
	};
	send_down(softibd, RECORD_PORT_UPDATE, (uint16_t)(adapter_index << 8 | 1), 0, &update,
		  sizeof(update));
	publish(softibd);
}

static void answer_hello(struct fake_softibd *softibd)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "{\"ok\":true,\"fabric\":\"default\",\"host\":\"h1\",\"tree\":\"%s/"
		 "tree\",\"adapters\":["
		 "{\"name\":\"softib0\",\"index\":0,\"ports\":1,\"node_guid\":"
		 "\"0x025f1b0100010000\",\"system_image_guid\":\"0x025f1b0100010000\"},"
		 "{\"name\":\"softib1\",\"index\":1,\"ports\":1,\"node_guid\":"
		 "\"0x025f1b0100010100\",\"system_image_guid\":\"0x025f1b0100010000\"}]}",
		 softibd->runtime);
	(void)!control_send(softibd->control, text, NULL, 0);
}

static void answer_attach(struct fake_softibd *softibd)
{
	int descriptors[] = {softibd->page_file, softibd->process_file, softibd->rkey_export_file,
			     softibd->doorbells[0], softibd->doorbells[1]};

	(void)!control_send(softibd->control, "{\"ok\":true}", descriptors, 5);
}

static void answer_qpns(struct fake_softibd *softibd)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"ok\":true,\"first\":%u,\"count\":%d}", softibd->next_qpn,
		 QPN_BLOCK);
	softibd->next_qpn += QPN_BLOCK;
	(void)!control_send(softibd->control, text, NULL, 0);
}

/* There is only one ring, from the program to itself. */
static void answer_ring(struct fake_softibd *softibd)
{
	int descriptors[] = {softibd->direct_file, softibd->doorbells[0]};

	/* The same ring id a second time stands for a new ring. */
	memset(softibd->direct, 0, direct_layout().total_bytes);
	ring_shared_init_stamped(softibd->direct + direct_layout().offset[0], 0x5eed);
	__atomic_add_fetch(&softibd->ring_fetch_count, 1, __ATOMIC_SEQ_CST);
	(void)!control_send(softibd->control, "{\"ok\":true,\"outgoing\":0,\"incoming\":0}",
			    descriptors, 2);
}

static void answer_exposure(struct fake_softibd *softibd)
{
	(void)!control_send(softibd->control, "{\"ok\":true}", &softibd->rkey_export_file, 1);
}

static bool serve(struct fake_softibd *softibd)
{
	struct control_message message;

	if (control_receive(softibd->control, 0, &message) != 0)
		return false;

	json_t *question = json_loads(message.text, 0, NULL);
	const char *command = json_string_value(json_object_get(question, "command"));

	if (!command)
		command = "";
	if (strcmp(command, "hello") == 0) {
		answer_hello(softibd);
	} else if (strcmp(command, "attach") == 0) {
		answer_attach(softibd);
	} else if (strcmp(command, "port") == 0) {
		send_port_update(softibd, (uint32_t)json_integer_value(
						  json_object_get(question, "adapter")));
		(void)!control_send(softibd->control, "{\"ok\":true}", NULL, 0);
	} else if (strcmp(command, "qpns") == 0) {
		answer_qpns(softibd);
	} else if (strcmp(command, "ring") == 0) {
		answer_ring(softibd);
	} else if (strcmp(command, "exposure") == 0) {
		answer_exposure(softibd);
	} else {
		(void)!control_send(softibd->control,
				    "{\"ok\":false,\"error\":\"what?\",\"errno\":95}", NULL, 0);
	}
	json_decref(question);
	control_message_release(&message);
	return true;
}

/* What the program may send to itself by this flow. */
static void send_grant(struct fake_softibd *softibd, const struct resolve_request *request,
		       const struct resolve_answer *answer)
{
	const struct packet_grant grant = {
		.slid = (uint16_t)((request->source_port >> 8) + 1),
		.dlid = request->dlid,
		.pkey = request->pkey,
		.port = answer->destination_port,
		.sl = request->sl,
	};

	send_down(softibd, RECORD_RING_OFFERED, 0, answer->ring_id, &grant, sizeof(grant));
}

static void answer_question(struct fake_softibd *softibd, const struct ring_record *record)
{
	struct resolve_request request;

	memcpy(&request, record->body, sizeof(request));
	if (__atomic_load_n(&softibd->silent_adapter, __ATOMIC_SEQ_CST) ==
	    (request.source_port >> 8) + 1u)
		return;

	struct resolve_answer answer = {
		.request_id = request.request_id,
		.generation = __atomic_load_n(&softibd->page->generation, __ATOMIC_ACQUIRE),
		.verdict = __atomic_load_n(&softibd->verdict, __ATOMIC_SEQ_CST),
		.ring_id = FAKE_RING_ID,
		.flow_slot = request.dlid,
		.mtu_code = MTU_4096,
		.destination_port = (uint16_t)((request.dlid - 1u) << 8 | 1),
	};

	if (__atomic_load_n(&softibd->retries, __ATOMIC_SEQ_CST)) {
		__atomic_sub_fetch(&softibd->retries, 1, __ATOMIC_SEQ_CST);
		answer.verdict = RESOLVED_FABRIC_RETRY;
	}
	if (answer.verdict == RESOLVED_DIRECT)
		send_grant(softibd, &request, &answer);
	__atomic_add_fetch(&softibd->question_count, 1, __ATOMIC_SEQ_CST);
	send_down(softibd, RECORD_RESOLVED, request.source_port, 0, &answer, sizeof(answer));
}

static void take_violation(struct fake_softibd *softibd, const struct ring_record *record)
{
	memcpy(&softibd->violation, record->body, sizeof(softibd->violation));
	softibd->violation_port = record->port;
	__atomic_add_fetch(&softibd->violation_records, 1, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(softibd->violation.is_qkey ? &softibd->qkey_violations
						      : &softibd->pkey_violations,
			   softibd->violation.count, __ATOMIC_SEQ_CST);
}

static void read_up(struct fake_softibd *softibd)
{
	const struct ring_record *record;
	uint64_t one = 1;

	while ((record = ring_next(&softibd->up))) {
		if (record->kind == RECORD_RESOLVE) {
			answer_question(softibd, record);
		} else if (record->kind == RECORD_EXPOSE) {
			send_down(softibd, RECORD_EXPOSED, 0, record->word, NULL, 0);
		} else if (record->kind == RECORD_KEY_VIOLATION) {
			take_violation(softibd, record);
		} else {
			uint16_t dlid = get_be16(record->body + 2);

			__atomic_add_fetch(&softibd->packet_count, 1, __ATOMIC_SEQ_CST);
			send_down(softibd, RECORD_PACKET, (uint16_t)((dlid - 1u) << 8 | 1), 0,
				  record->body, record->byte_count);
		}
	}
	if (ring_release(&softibd->up))
		(void)!write(softibd->doorbells[0], &one, sizeof(one));
	publish(softibd);
}

static void *burst(void *context)
{
	struct fake_softibd *softibd = context;
	uint64_t rings;

	for (;;) {
		struct pollfd watched[] = {
			{.fd = softibd->stop, .events = POLLIN},
			{.fd = softibd->control >= 0 ? softibd->control : softibd->listener,
			 .events = POLLIN},
			{.fd = softibd->doorbells[1], .events = POLLIN},
		};

		read_up(softibd);
		if (ring_sleep(&softibd->up))
			continue;
		if (poll(watched, 3, -1) < 0 || watched[0].revents)
			break;
		if (watched[1].revents && softibd->control < 0) {
			softibd->control = accept(softibd->listener, NULL, NULL);
		} else if (watched[1].revents && !serve(softibd)) {
			if (!__atomic_load_n(&softibd->accepts_again, __ATOMIC_SEQ_CST))
				break;
			close(softibd->control);
			softibd->control = -1;
		}
		if (watched[2].revents)
			(void)!read(softibd->doorbells[1], &rings, sizeof(rings));
	}
	close(softibd->control);
	close(softibd->listener);
	return NULL;
}

static int make_memory(struct fake_softibd *softibd)
{
	struct process_layout process = process_layout();
	int error = memory_file_create_published("fake-page", 4096, &softibd->page_file,
						 (void **)&softibd->page);

	if (!error)
		error = memory_file_create("fake-process", process.total_bytes,
					   &softibd->process_file, (void **)&softibd->process);
	if (!error)
		error = memory_file_create("fake-direct", direct_layout().total_bytes,
					   &softibd->direct_file, (void **)&softibd->direct);
	if (!error)
		error = memory_file_create("fake-exposure", rkey_export_layout().total_bytes,
					   &softibd->rkey_export_file,
					   (void **)&softibd->rkey_export);
	if (error)
		return error;
	softibd->page->generation = 1;
	ring_consumer_init(&softibd->up, softibd->process + process.up_offset, PROCESS_RING_BYTES);
	ring_producer_init(&softibd->down, softibd->process + process.down_offset,
			   PROCESS_RING_BYTES);
	return 0;
}

int fake_softibd_start(struct fake_softibd *softibd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char folder[80];

	*softibd = (struct fake_softibd){
		.control = -1, .next_qpn = QPN_BLOCK, .verdict = RESOLVED_FABRIC};
	snprintf(softibd->runtime, sizeof(softibd->runtime), "/tmp/softib-test-XXXXXX");
	if (!mkdtemp(softibd->runtime) || setenv("SOFTIB_RUNTIME_DIR", softibd->runtime, 1) != 0)
		return -errno;
	unsetenv("SOFTIB_SOCKET");
	unsetenv("SOFTIB_FABRIC");
	unsetenv("SOFTIB_HOST");
	snprintf(folder, sizeof(folder), "%s/default", softibd->runtime);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/control", folder);
	softibd->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (mkdir(folder, 0700) != 0 ||
	    bind(softibd->listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(softibd->listener, 4) != 0)
		return -errno;
	softibd->stop = eventfd(0, EFD_CLOEXEC);
	for (unsigned i = 0; i < 2; i++)
		softibd->doorbells[i] = doorbell_make();

	int error = make_memory(softibd);

	return error ? error : -pthread_create(&softibd->thread, NULL, burst, softibd);
}

void fake_softibd_stop(struct fake_softibd *softibd)
{
	uint64_t one = 1;

	(void)!write(softibd->stop, &one, sizeof(one));
	pthread_join(softibd->thread, NULL);
}

void fake_softibd_remove(struct fake_softibd *softibd)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -rf %s", softibd->runtime);
	(void)!system(command);
}
