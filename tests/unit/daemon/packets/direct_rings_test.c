/* SPDX-License-Identifier: Apache-2.0 */
/* Direct rings: offered, fetched by their two processes only, closed when one ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "ipc/control_socket.h"
#include "ipc/memory_file.h"
#include "unit/daemon/daemon_fixture.h"
#include "wire/pkey.h"

static struct daemon *softibd;
static struct program a, b;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start_pair("star:2", &a, &b);
	return 0;
}

struct end {
	int outgoing, incoming;
	uint8_t *memory;
};

static struct end fetch(const struct program *program, uint32_t id)
{
	struct control_message message;
	struct end end = {0};
	char text[64];
	int error = -110 /* ETIMEDOUT */;

	snprintf(text, sizeof(text), "{\"command\":\"ring\",\"id\":%u}", id);
	assert_int_equal(control_send(program->socket, text, NULL, 0), 0);
	for (unsigned step = 0; step < 1000 && error; step++) {
		fixture_settle();
		error = control_receive(program->socket, 0, &message);
	}
	assert_int_equal(error, 0);

	json_t *answer = json_loadb(message.text, message.byte_count, 0, NULL);

	if (message.descriptor_count == 2)
		assert_int_equal(memory_file_map(message.descriptors[0],
						 direct_layout().total_bytes, (void **)&end.memory),
				 0);
	end.outgoing = (int)json_integer_value(json_object_get(answer, "outgoing"));
	end.incoming = (int)json_integer_value(json_object_get(answer, "incoming"));
	json_decref(answer);
	control_message_release(&message);
	return end;
}

static uint32_t offered(struct program *program)
{
	const struct ring_record *record = program_next_of(program, RECORD_RING_OFFERED);

	assert_non_null(record);
	return record->word;
}

static bool is_closed(const struct end *end)
{
	struct direct_layout layout = direct_layout();

	return ring_is_closed((const struct ring_shared *)(end->memory + layout.offset[0])) &&
	       ring_is_closed((const struct ring_shared *)(end->memory + layout.offset[1]));
}

static void test_both_ends_see_the_same_memory_the_other_way_round(void **state)
{
	struct resolve_answer answer = program_resolve(&a, b.lid, b.first_qpn, PKEY_DEFAULT_FULL);
	struct end end_a, end_b;

	(void)state;
	assert_int_equal(answer.verdict, RESOLVED_DIRECT);
	assert_int_equal(offered(&b), answer.ring_id);
	end_a = fetch(&a, answer.ring_id);
	end_b = fetch(&b, answer.ring_id);
	assert_int_equal(end_a.outgoing, end_b.incoming);
	assert_int_equal(end_b.outgoing, end_a.incoming);
	assert_int_not_equal(end_a.outgoing, end_a.incoming);
	end_a.memory[direct_layout().offset[end_a.outgoing] + 4096] = 42;
	assert_int_equal(end_b.memory[direct_layout().offset[end_b.incoming] + 4096], 42);
	/* The other direction uses the same ring. */
	assert_int_equal(program_resolve(&b, a.lid, a.first_qpn, PKEY_DEFAULT_FULL).ring_id,
			 answer.ring_id);

	assert_false(is_closed(&end_b));
	program_end(&a);
	assert_true(is_closed(&end_b));
	program_end(&b);
}

static void test_a_third_process_can_not_fetch_it(void **state)
{
	struct resolve_answer answer = program_resolve(&a, b.lid, b.first_qpn, PKEY_DEFAULT_FULL);
	struct program stranger;

	(void)state;
	program_start(&stranger, "h1");
	assert_null(fetch(&stranger, answer.ring_id).memory);
	program_end(&stranger);
	program_end(&a);
	program_end(&b);
}

/* The sender may end before its peer fetches the ring. */
static void test_a_ring_outlives_its_sender_until_it_is_fetched(void **state)
{
	struct resolve_answer answer = program_resolve(&a, b.lid, b.first_qpn, PKEY_DEFAULT_FULL);
	struct end end_a = fetch(&a, answer.ring_id);
	struct end end_b;

	(void)state;
	end_a.memory[direct_layout().offset[end_a.outgoing] + 4096] = 43;
	program_end(&a);
	end_b = fetch(&b, answer.ring_id);
	assert_non_null(end_b.memory);
	assert_true(is_closed(&end_b));
	assert_int_equal(end_b.memory[direct_layout().offset[end_b.incoming] + 4096], 43);
	assert_null(fetch(&b, answer.ring_id).memory);
	program_end(&b);
}

static void test_a_process_has_a_ring_to_itself(void **state)
{
	struct resolve_answer answer = program_resolve(&a, a.lid, a.first_qpn, PKEY_DEFAULT_FULL);
	struct end end;

	(void)state;
	assert_int_equal(answer.verdict, RESOLVED_DIRECT);
	end = fetch(&a, answer.ring_id);
	assert_non_null(end.memory);
	assert_int_equal(end.outgoing, end.incoming);
	program_end(&a);
	assert_true(is_closed(&end));
	program_end(&b);
}

/* A program without a free descriptor refuses the ring, and uses the fabric. */
static void test_a_refused_ring_is_closed_and_the_fabric_takes_its_place(void **state)
{
	struct resolve_answer answer = program_resolve(&a, b.lid, b.first_qpn, PKEY_DEFAULT_FULL);
	struct end end_a = fetch(&a, answer.ring_id);
	struct control_message message;
	char text[64];

	(void)state;
	assert_non_null(fetch(&b, answer.ring_id).memory);
	snprintf(text, sizeof(text), "{\"command\":\"refuse\",\"id\":%u}", answer.ring_id);
	assert_int_equal(control_send(b.socket, text, NULL, 0), 0);
	fixture_settle();
	assert_int_equal(control_receive(b.socket, 0, &message), 0);
	control_message_release(&message);
	assert_true(is_closed(&end_a));
	assert_int_equal(program_resolve(&a, b.lid, b.first_qpn, PKEY_DEFAULT_FULL).verdict,
			 RESOLVED_FABRIC);
	assert_int_equal(program_resolve(&b, a.lid, a.first_qpn, PKEY_DEFAULT_FULL).verdict,
			 RESOLVED_FABRIC);
	program_end(&a);
	program_end(&b);
}

/* The number of a ring between others is easy to guess. */
static void test_a_program_refuses_its_own_rings_only(void **state)
{
	struct resolve_answer answer = program_resolve(&a, b.lid, b.first_qpn, PKEY_DEFAULT_FULL);
	struct end end_a = fetch(&a, answer.ring_id);
	struct program stranger;
	json_t *refusal;

	(void)state;
	program_start(&stranger, "h1");
	refusal =
		fixture_ask(stranger.socket, "{\"command\":\"refuse\",\"id\":%u}", answer.ring_id);
	assert_int_equal(json_integer_value(json_object_get(refusal, "errno")), ENOENT);
	json_decref(refusal);
	assert_false(is_closed(&end_a));
	/* It still gets rings of its own. */
	assert_int_equal(program_resolve(&stranger, b.lid, b.first_qpn, PKEY_DEFAULT_FULL).verdict,
			 RESOLVED_DIRECT);
	program_end(&stranger);
	program_end(&a);
	program_end(&b);
}

static unsigned mappings_of_rings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned count = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		count += strstr(line, "softib-direct") != NULL;
	fclose(maps);
	return count;
}

/* The system limits the mappings of a process, and programs that all talk to each other have more
 * rings than that. */
static void test_softibd_keeps_no_ring_mapped(void **state)
{
	unsigned before = mappings_of_rings();

	(void)state;
	assert_int_equal(program_resolve(&a, b.lid, b.first_qpn, PKEY_DEFAULT_FULL).verdict,
			 RESOLVED_DIRECT);
	assert_int_equal(mappings_of_rings(), before);
	program_end(&a);
	program_end(&b);
}

/* Beyond its limit a process still talks to everybody, through the fabric. */
static void test_a_process_with_too_many_rings_uses_the_fabric(void **state)
{
	struct resolve_answer answer;

	(void)state;
	softibd->core.accounts.process_max[LIMIT_RINGS] = 1;
	answer = program_resolve(&a, b.lid, b.first_qpn, PKEY_DEFAULT_FULL);
	assert_int_equal(answer.verdict, RESOLVED_DIRECT);
	assert_non_null(fetch(&a, answer.ring_id).memory);
	assert_int_equal(program_resolve(&a, a.lid, a.first_qpn, PKEY_DEFAULT_FULL).verdict,
			 RESOLVED_FABRIC);
	program_end(&b);
	fixture_settle();
	assert_int_equal(program_resolve(&a, a.lid, a.first_qpn, PKEY_DEFAULT_FULL).verdict,
			 RESOLVED_DIRECT);
	program_end(&a);
	assert_int_equal(softibd->core.accounts.by_process.count, 0);
}

/* One process could have 256 grants on each of 4,096 rings, which delayed the check of all grants
 * by 21 s. */
static void test_a_process_with_too_many_grants_uses_the_fabric(void **state)
{
	struct resolve_answer answer;

	(void)state;
	softibd->core.accounts.process_max[LIMIT_GRANTS] = 1;
	answer = program_resolve(&a, b.lid, b.first_qpn, PKEY_DEFAULT_FULL);
	assert_int_equal(answer.verdict, RESOLVED_DIRECT);
	assert_non_null(fetch(&a, answer.ring_id).memory);
	/* The same again is no other grant. */
	assert_int_equal(program_resolve(&a, b.lid, b.first_qpn, PKEY_DEFAULT_FULL).verdict,
			 RESOLVED_DIRECT);
	assert_int_equal(program_resolve(&a, a.lid, a.first_qpn, PKEY_DEFAULT_FULL).verdict,
			 RESOLVED_FABRIC);
	program_end(&b);
	fixture_settle();
	assert_int_equal(softibd->core.accounts.used[LIMIT_GRANTS], 0);
	assert_int_equal(program_resolve(&a, a.lid, a.first_qpn, PKEY_DEFAULT_FULL).verdict,
			 RESOLVED_DIRECT);
	program_end(&a);
	assert_int_equal(softibd->core.accounts.by_process.count, 0);
}

static void expose(struct program *program, uint32_t id)
{
	struct ring_record *record = ring_reserve(&program->up, 0);

	assert_non_null(record);
	record->kind = RECORD_EXPOSE;
	record->word = id;
	record->byte_count = 0;
	program_show(program, record);
	fixture_settle();
}

/* Whether the program gets the shared pages of its peer on that ring. */
static bool gets_exposure(const struct program *program, uint32_t id)
{
	json_t *answer = fixture_ask(program->socket, "{\"command\":\"exposure\",\"id\":%u}", id);
	const bool is_given = json_is_true(json_object_get(answer, "ok"));

	json_decref(answer);
	return is_given;
}

/* A ring alone, which any program can have, gives no access to memory. */
static void test_shared_pages_are_given_by_their_owner_only(void **state)
{
	uint32_t id = program_resolve(&a, b.lid, b.first_qpn, PKEY_DEFAULT_FULL).ring_id;
	struct program stranger;

	(void)state;
	program_start(&stranger, "h1");
	assert_false(gets_exposure(&a, id));
	/* What a does concerns a's own memory. */
	expose(&a, id);
	assert_false(gets_exposure(&a, id));
	assert_int_equal(program_next_of(&b, RECORD_EXPOSED)->word, id);
	assert_true(gets_exposure(&b, id));
	assert_null(program_next_of(&a, RECORD_EXPOSED));
	expose(&b, id);
	expose(&b, id);
	assert_int_equal(program_next_of(&a, RECORD_EXPOSED)->word, id);
	assert_null(program_next_of(&a, RECORD_EXPOSED));
	assert_true(gets_exposure(&a, id));
	/* Neither another's ring nor one that does not exist. */
	expose(&stranger, id);
	expose(&stranger, id + 1);
	assert_false(gets_exposure(&stranger, id));
	program_end(&stranger);
	program_end(&b);
	assert_false(gets_exposure(&a, id));
	expose(&a, id);
	program_end(&a);
}

static void test_isolated_programs_share_no_pages(void **state)
{
	uint32_t id;

	(void)state;
	softibd->core.isolates = true;
	id = program_resolve(&a, b.lid, b.first_qpn, PKEY_DEFAULT_FULL).ring_id;
	expose(&a, id);
	assert_null(program_next_of(&b, RECORD_EXPOSED));
	assert_false(gets_exposure(&b, id));
	program_end(&a);
	program_end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_both_ends_see_the_same_memory_the_other_way_round, set_up,
			fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_third_process_can_not_fetch_it, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_ring_outlives_its_sender_until_it_is_fetched,
						set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_process_has_a_ring_to_itself, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_softibd_keeps_no_ring_mapped, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_process_with_too_many_rings_uses_the_fabric,
						set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_process_with_too_many_grants_uses_the_fabric,
						set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_refused_ring_is_closed_and_the_fabric_takes_its_place, set_up,
			fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_a_program_refuses_its_own_rings_only, set_up,
						fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_shared_pages_are_given_by_their_owner_only,
						set_up, fixture_tear_down),
		cmocka_unit_test_setup_teardown(test_isolated_programs_share_no_pages, set_up,
						fixture_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
