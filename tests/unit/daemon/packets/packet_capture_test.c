/* SPDX-License-Identifier: Apache-2.0 */
/* Captures in a whole softibd: records in the ring, drops reported with their packet, slow readers,
 * flows, and the end. Covers: daemon/control/capture_commands.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "daemon/packets/packet_capture.h"
#include "ipc/capture_ring.h"
#include "ipc/control_socket.h"
#include "ipc/memory_file.h"
#include "net/link/port.h"
#include "unit/daemon/daemon_fixture.h"
#include "wire/pkey.h"

enum { RING_BYTES = 1 << 16 };

static struct daemon *softibd;
static struct program first, second;

struct reader {
	int socket;
	void *memory;
	struct ring_consumer ring;
	const struct capture_totals *totals;
};

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("star:3");
	program_start(&first, "h1");
	program_start(&second, "h2");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	program_end(&first);
	program_end(&second);
	fixture_stop();
	return 0;
}

static void reader_start(struct reader *reader, const char *arguments)
{
	struct capture_layout layout = capture_layout(RING_BYTES);
	struct control_message message;
	char text[256];
	int error = -1;

	reader->socket = fixture_connect();
	snprintf(text, sizeof(text), "{\"command\":\"capture\",\"ring_bytes\":%d,%s}", RING_BYTES,
		 arguments);
	assert_int_equal(control_send(reader->socket, text, NULL, 0), 0);
	for (unsigned step = 0; step < 1000 && error; step++) {
		daemon_step(softibd, 1);
		error = control_receive(reader->socket, 0, &message);
	}
	assert_int_equal(error, 0);
	assert_int_equal(message.descriptor_count, 2);
	assert_int_equal(
		memory_file_map(message.descriptors[0], layout.total_bytes, &reader->memory), 0);
	control_message_release(&message);
	ring_consumer_init(&reader->ring, reader->memory, RING_BYTES);
	reader->totals = (const void *)((uint8_t *)reader->memory + layout.totals_offset);
	fixture_settle();
}

static void reader_end(struct reader *reader)
{
	munmap(reader->memory, capture_layout(RING_BYTES).total_bytes);
	close(reader->socket);
	fixture_settle();
	fixture_settle();
}

/* The next record, if it is there. */
static bool next(struct reader *reader, struct capture_record *ret_record, uint32_t *ret_bytes)
{
	const struct ring_record *record = ring_next(&reader->ring);

	if (!record)
		return false;
	assert_int_equal(record->kind, CAPTURE_RECORD_PACKET);
	memcpy(ret_record, record->body, sizeof(*ret_record));
	*ret_bytes = record->byte_count - (uint32_t)sizeof(*ret_record);
	return true;
}

static void test_packets_are_in_the_ring_in_order_with_their_direction(void **state)
{
	struct capture_record record;
	struct reader reader;
	uint32_t byte_count;

	(void)state;
	reader_start(&reader, "\"ports\":[\"h1\",\"h2\"],\"opcodes\":[\"UD\"],\"qpns\":[77]");
	program_send(&first, second.lid, 77, "hello");
	fixture_settle();
	assert_true(next(&reader, &record, &byte_count));
	assert_int_equal(record.interface_index, 0);
	assert_int_equal(record.direction, CAPTURE_OUT);
	assert_int_equal(record.has_crcs, 0);
	assert_true(byte_count > 28);
	assert_true(next(&reader, &record, &byte_count));
	assert_int_equal(record.interface_index, 1);
	assert_int_equal(record.direction, CAPTURE_IN);
	assert_false(next(&reader, &record, &byte_count));
	assert_int_equal(reader.totals->seen, 2);
	assert_int_equal(reader.totals->missed, 0);
	reader_end(&reader);
}

static void test_a_drop_at_once_is_told_with_its_packet(void **state)
{
	struct capture_record record;
	struct reader reader;
	uint32_t byte_count;

	(void)state;
	reader_start(&reader, "\"ports\":[\"s1:1\"],\"qpns\":[78]");
	program_send(&first, 0x1234, 78, "nowhere");
	fixture_settle();
	assert_true(next(&reader, &record, &byte_count));
	assert_int_equal(record.drop_reason, DROP_NO_ROUTE);
	assert_int_equal(record.direction, CAPTURE_IN);
	assert_false(next(&reader, &record, &byte_count));
	reader_end(&reader);
}

static void test_what_finds_no_room_is_counted_and_gone(void **state)
{
	struct reader reader;

	(void)state;
	reader_start(&reader, "\"ports\":[\"h1\"],\"qpns\":[79]");
	for (unsigned round = 0; round < 30; round++) {
		for (unsigned count = 0; count < 50; count++)
			program_send(&first, second.lid, 79, "many");
		fixture_settle();
		while (program_next(&second))
			continue;
	}
	assert_int_equal(reader.totals->seen, 1500);
	assert_in_range(reader.totals->missed, 1, 1499);
	reader_end(&reader);
}

static void test_flows_that_cross_a_capture_go_through_softibd(void **state)
{
	struct reader reader;

	(void)state;
	assert_int_equal(
		program_resolve(&first, second.lid, second.first_qpn, PKEY_DEFAULT_FULL).verdict,
		RESOLVED_DIRECT);

	uint32_t generation = first.page->generation;

	reader_start(&reader, "\"ports\":[\"h3\"]");
	assert_true(first.page->generation != generation);
	assert_int_equal(
		program_resolve(&first, second.lid, second.first_qpn, PKEY_DEFAULT_FULL).verdict,
		RESOLVED_DIRECT);
	reader_end(&reader);
	reader_start(&reader, "\"ports\":[\"s1:2\"]");
	assert_int_equal(
		program_resolve(&first, second.lid, second.first_qpn, PKEY_DEFAULT_FULL).verdict,
		RESOLVED_FABRIC);
	reader_end(&reader);
	assert_int_equal(
		program_resolve(&first, second.lid, second.first_qpn, PKEY_DEFAULT_FULL).verdict,
		RESOLVED_DIRECT);
}

static void test_a_capture_ends_with_its_connection(void **state)
{
	struct port *port = host_endpoint(host_table_find(&softibd->core.hosts, "h1"), 0, 1)->port;
	struct reader readers[2];

	(void)state;
	reader_start(&readers[0], "\"ports\":[\"h1\"]");
	reader_start(&readers[1], "\"ports\":[\"h1\",\"h2\"]");
	assert_int_equal(port->tap_count, 2);
	assert_int_equal(softibd->packets.capture_count, 2);

	json_t *rows = captures_describe(&softibd->packets);

	assert_int_equal(json_array_size(rows), 2);
	assert_string_equal(json_string_value(json_array_get(
				    json_object_get(json_array_get(rows, 1), "ports"), 1)),
			    "h2:1");
	json_decref(rows);
	reader_end(&readers[0]);
	assert_int_equal(port->tap_count, 1);
	reader_end(&readers[1]);
	assert_int_equal(port->tap_count, 0);
	assert_int_equal(softibd->packets.capture_count, 0);
}

static void test_bad_requests_are_refused_and_leave_no_tap(void **state)
{
	static const char *const requests[] = {
		"{\"command\":\"capture\"}",
		"{\"command\":\"capture\",\"ports\":[]}",
		"{\"command\":\"capture\",\"ports\":[\"h9\"]}",
		"{\"command\":\"capture\",\"ports\":[\"h1\",7]}",
		"{\"command\":\"capture\",\"ports\":[\"h1:9\"]}",
		"{\"command\":\"capture\",\"ports\":[\"h1\"],\"ring_bytes\":5}",
		"{\"command\":\"capture\",\"ports\":[\"h1\"],\"ring_bytes\":100000}",
		"{\"command\":\"capture\",\"ports\":[\"h1\"],\"opcodes\":[\"NO\"]}",
	};
	int tool = fixture_connect();

	(void)state;
	for (unsigned index = 0; index < ARRAY_COUNT(requests); index++) {
		json_t *answer = fixture_ask(tool, "%s", requests[index]);

		assert_false(json_is_true(json_object_get(answer, "ok")));
		assert_non_null(json_string_value(json_object_get(answer, "error")));
		json_decref(answer);
	}
	assert_int_equal(softibd->packets.capture_count, 0);
	fixture_order(tool, "{\"command\":\"capture\",\"ports\":[\"h1\"]}");

	json_t *answer = fixture_ask(tool, "{\"command\":\"capture\",\"ports\":[\"h2\"]}");

	assert_false(json_is_true(json_object_get(answer, "ok")));
	json_decref(answer);
	assert_int_equal(softibd->packets.capture_count, 1);
	close(tool);
	fixture_settle();
	fixture_settle();
	assert_int_equal(softibd->packets.capture_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets_are_in_the_ring_in_order_with_their_direction),
		cmocka_unit_test(test_a_drop_at_once_is_told_with_its_packet),
		cmocka_unit_test(test_what_finds_no_room_is_counted_and_gone),
		cmocka_unit_test(test_flows_that_cross_a_capture_go_through_softibd),
		cmocka_unit_test(test_a_capture_ends_with_its_connection),
		cmocka_unit_test(test_bad_requests_are_refused_and_leave_no_tap),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
