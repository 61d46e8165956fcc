/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many connections between connection managers over a wire that loses, duplicates and reorders,
 * from seeds. Programs on both sides accept, refuse, delay, send MRAs, call each other at once,
 * load alternate paths, look up datagram services, disconnect and exit at random; in some seeds a
 * whole side restarts with the same queue pair numbers.
 *
 * Checked: a connection that stays established on one side is established on the other too; a path
 * that the peer reported as loaded is loaded; every service lookup ends; timewait lasts as long as
 * the REQ said; a connection's number is never in use twice; nothing is left at the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "base/random.h"
#include "mgmt/cm/cm.h"
#include "wire/pkey.h"

enum {
	SIDES = 2,
	PROGRAMS_MAX = 64, /* connections of one side at once */
	WIRE_MAX = 512,
	SEEDS = 40,
	STEPS = 3000,
	SERVICE = 0x1061234,
	PEER_SERVICE = 0x2000000, /* and above: both sides call each other with the same */
	ACK_TIMEOUT = 16,
	PATHS_MAX = 64, /* of one connection */
	LOSS_PERCENT_MAX = 20,
	/* Enough tries that losing all of them is out of the question: a REJ is never repeated, so
	 * a side that gives up may leave the other believing. */
	CM_RETRIES = 15,
};

struct program {
	struct cm_connection *connection; /* NULL: free */
	bool is_open;			  /* it is established as far as this side knows */
	bool is_lookup;			  /* of a datagram service */
	bool is_over;			  /* it waits for the end of timewait */
	time_ns over_at;
	uint32_t own_qpn, peer_qpn;
	unsigned paths_asked; /* from the peer, one after the other */
	bool is_asking;
	uint64_t loaded; /* a bit per path that the peer asked for */
};

struct on_wire {
	time_ns arrives_at;
	unsigned to;
	struct cm_message message;
};

struct world {
	struct random random;
	time_ns now;
	unsigned loss_percent;
	struct side {
		struct world *world;
		unsigned index;
		struct cm *cm;
		uint64_t ca_guid;
		struct cm_listener *listener;
		struct program programs[PROGRAMS_MAX];
		uint32_t next_qpn;
	} sides[SIDES];
	struct on_wire wire[WIRE_MAX];
	unsigned wire_count;
	unsigned established_count, loaded_count, lookup_count, timewait_count, peer_count;
	bool was_restarted;
	uint64_t next_peer_service;
};

static const struct cm_private_data nothing;

static unsigned percent(struct world *world)
{
	return (unsigned)random_below(&world->random, 100);
}

static struct program *program_of(struct side *side, const struct cm_connection *connection)
{
	for (unsigned index = 0; index < PROGRAMS_MAX; index++) {
		if (side->programs[index].connection == connection)
			return &side->programs[index];
	}
	return NULL;
}

static void let_go(struct side *side, struct program *program)
{
	struct cm_connection *connection = program->connection;

	*program = (struct program){0};
	cm_release(connection, side->world->now);
}

static void take_request(struct side *side, struct cm_connection *connection,
			 const struct cm_event *event)
{
	struct program *program = program_of(side, NULL);
	struct cm_request request;

	cm_request_decode(event->data, &request);
	if (!program || percent(side->world) < 10) {
		cm_release(connection, side->world->now);
		return;
	}
	*program = (struct program){.connection = connection,
				    .own_qpn = side->next_qpn++,
				    .peer_qpn = request.req.local_qpn};
	cm_connection_set_context(connection, side);
	if (percent(side->world) < 20)
		cm_delay_when_asked(connection, 20);
	else if (percent(side->world) < 10)
		assert_int_equal(cm_delay(connection, side->world->now, 20), 0);
	/* The others are answered later, by the steps below. */
	if (percent(side->world) < 80) {
		const struct cm_rep rep = {.local_qpn = program->own_qpn};

		assert_int_equal(cm_accept(connection, side->world->now, &rep, 0, nothing), 0);
	}
}

static void take_reply(struct side *side, struct program *program, const struct cm_event *event)
{
	struct cm_rep rep;

	cm_rep_decode(event->data, &rep);
	program->peer_qpn = rep.local_qpn;
	if (percent(side->world) < 5) {
		let_go(side, program);
		return;
	}
	assert_int_equal(cm_establish(program->connection, side->world->now, nothing), 0);
	program->is_open = true;
	side->world->established_count++;
}

/* Its peer called at the same time, and this side becomes the passive one. */
static void turn_passive(struct side *side, struct program *program, const struct cm_event *event)
{
	struct cm_request request;
	const struct cm_rep rep = {.local_qpn = program->own_qpn};

	cm_request_decode(event->data, &request);
	program->peer_qpn = request.req.local_qpn;
	side->world->peer_count++;
	assert_int_equal(cm_accept(program->connection, side->world->now, &rep, 0, nothing), 0);
}

static void take_lookup(struct side *side, struct cm_connection *connection)
{
	const struct cm_sidr_rep rep = {
		.status = percent(side->world) < 80 ? CM_SIDR_OK : CM_SIDR_REJECTED, .qpn = 0x77};

	assert_int_equal(cm_sidr_answer(connection, side->world->now, &rep, 0, nothing), 0);
	cm_release(connection, side->world->now);
}

static struct program *partner_of(struct side *side, const struct program *program)
{
	struct side *other = &side->world->sides[1 - side->index];

	for (unsigned index = 0; index < PROGRAMS_MAX; index++) {
		struct program *found = &other->programs[index];

		if (found->connection && found->own_qpn == program->peer_qpn &&
		    found->peer_qpn == program->own_qpn)
			return found;
	}
	return NULL;
}

/* The flow label distinguishes paths. */
static void take_path(struct side *side, struct program *program, const struct cm_event *event)
{
	bool is_taken = percent(side->world) < 80;
	struct cm_lap lap;

	cm_lap_decode(event->data, &lap);
	assert_true(lap.flow_label < PATHS_MAX);
	if (is_taken)
		program->loaded |= 1ull << lap.flow_label;
	assert_int_equal(cm_answer_alternate(program->connection, side->world->now,
					     is_taken ? CM_APR_LOADED : CM_APR_REJECTED, nothing),
			 0);
}

static void take_path_answer(struct side *side, struct program *program,
			     const struct cm_event *event)
{
	const struct program *partner = partner_of(side, program);
	struct cm_apr apr;

	assert_true(program->is_asking);
	program->is_asking = false;
	cm_apr_decode(event->data, &apr);
	if (apr.status != CM_APR_LOADED)
		return;
	side->world->loaded_count++;
	if (partner)
		assert_true(partner->loaded >> (program->paths_asked - 1) & 1);
}

/* Half of the programs stay until the end of timewait. */
static void wait_or_go(struct side *side, struct program *program)
{
	program->is_open = false;
	if (percent(side->world) < 50) {
		let_go(side, program);
		return;
	}
	program->is_over = true;
	program->over_at = side->world->now;
}

static void end_timewait(struct side *side, struct program *program)
{
	if (program->is_over) {
		side->world->timewait_count++;
		assert_true(side->world->now - program->over_at >= time_from_code(ACK_TIMEOUT));
	}
	let_go(side, program);
}

static void take_event(void *context, struct cm_connection *connection,
		       const struct cm_event *event)
{
	struct side *side = context;
	struct program *program = program_of(side, connection);

	if (event->kind == CM_EVENT_REQUEST && program) {
		turn_passive(side, program, event);
		return;
	}
	if (event->kind == CM_EVENT_REQUEST) {
		take_request(side, connection, event);
		return;
	}
	if (event->kind == CM_EVENT_SIDR_REQUEST) {
		take_lookup(side, connection);
		return;
	}
	assert_non_null(program);
	switch (event->kind) {
	case CM_EVENT_REPLY:
		take_reply(side, program, event);
		break;
	case CM_EVENT_ESTABLISHED:
		program->is_open = true;
		break;
	case CM_EVENT_DISCONNECTED:
		program->is_open = false;
		if (percent(side->world) < 50)
			let_go(side, program);
		else
			assert_int_equal(cm_disconnect(connection, side->world->now, nothing), 0);
		break;
	case CM_EVENT_REJECTED:
	case CM_EVENT_UNREACHABLE:
		program->is_open = false;
		let_go(side, program);
		break;
	case CM_EVENT_DISCONNECT_DONE:
		wait_or_go(side, program);
		break;
	case CM_EVENT_TIMEWAIT_EXIT:
		end_timewait(side, program);
		break;
	case CM_EVENT_ALTERNATE_PATH:
		take_path(side, program, event);
		break;
	case CM_EVENT_ALTERNATE_ANSWER:
		take_path_answer(side, program, event);
		break;
	case CM_EVENT_ALTERNATE_UNREACHABLE:
		assert_true(program->is_asking);
		program->is_asking = false;
		break;
	case CM_EVENT_SIDR_REPLY:
	case CM_EVENT_SIDR_UNREACHABLE:
		assert_true(program->is_lookup);
		side->world->lookup_count++;
		let_go(side, program);
		break;
	case CM_EVENT_REQUEST:
	case CM_EVENT_SIDR_REQUEST:
		fail_msg("an event that nobody asked for");
	}
}

enum way { TO_A_LISTENER, TO_A_CALLER };

static void call(struct side *side, uint64_t service_id, enum way way)
{
	struct program *program = program_of(side, NULL);
	const struct side *other = &side->world->sides[1 - side->index];

	if (!program)
		return;

	const struct cm_call parameters = {
		.address = {.lid = (uint16_t)(other->index + 1)},
		.packet_life_time = 12,
		.is_peer_to_peer = way == TO_A_CALLER,
		.request = {.req = {.service_id = service_id,
				    .local_qpn = side->next_qpn,
				    .remote_response_timeout = 17,
				    .local_response_timeout = 17,
				    .max_cm_retries = CM_RETRIES},
			    .primary = {.local_gid_guid = side->ca_guid,
					.remote_gid_guid = other->ca_guid,
					.ack_timeout = ACK_TIMEOUT}},
	};
	struct cm_connection *connection;

	assert_int_equal(cm_connect(side->cm, side->world->now, &parameters, side, &connection), 0);
	*program = (struct program){.connection = connection, .own_qpn = side->next_qpn++};
}

static void call_each_other(struct world *world)
{
	uint64_t service_id = PEER_SERVICE + world->next_peer_service++;

	for (unsigned index = 0; index < SIDES; index++)
		call(&world->sides[index], service_id, TO_A_CALLER);
}

static void look_up(struct side *side)
{
	struct program *program = program_of(side, NULL);
	const struct cm_sidr_call lookup = {
		.address = {.lid = (uint16_t)(2 - side->index)},
		.request = {.service_id = SERVICE},
		.timeout = MILLISECONDS(50),
		.retries = CM_RETRIES,
	};

	if (!program)
		return;
	*program = (struct program){.is_lookup = true};
	assert_int_equal(
		cm_sidr_resolve(side->cm, side->world->now, &lookup, side, &program->connection),
		0);
}

static void ask_for_path(struct side *side, struct program *program)
{
	const struct cm_lap lap = {.flow_label = program->paths_asked};

	if (program->paths_asked == PATHS_MAX)
		return;
	/* Refused while the peer's LAP is pending. */
	if (cm_load_alternate(program->connection, side->world->now, &lap, nothing) != 0)
		return;
	program->paths_asked++;
	program->is_asking = true;
}

/* A program that exits now sends a REJ, which is never repeated. If it is lost, a caller that has
 * the REP learns of it only by its data. */
static bool waits_for_rtu(const struct program *program)
{
	enum cm_state state = cm_connection_state(program->connection);

	return state == CM_REP_SENT || state == CM_MRA_REP_RCVD;
}

static void act(struct side *side)
{
	struct program *program = &side->programs[random_below(&side->world->random, PROGRAMS_MAX)];
	const struct cm_rep rep = {.local_qpn = program->own_qpn};

	if (!program->connection || program->is_over || program->is_lookup)
		return;
	if (program->is_open && !program->is_asking && percent(side->world) < 30) {
		ask_for_path(side, program);
		return;
	}
	if (cm_connection_state(program->connection) == CM_REQ_RCVD ||
	    cm_connection_state(program->connection) == CM_MRA_REQ_SENT) {
		assert_int_equal(cm_accept(program->connection, side->world->now, &rep, 0, nothing),
				 0);
	} else if (program->is_open && percent(side->world) < 50) {
		program->is_open = false;
		assert_int_equal(cm_disconnect(program->connection, side->world->now, nothing), 0);
	} else if (percent(side->world) < 20 && !waits_for_rtu(program)) {
		let_go(side, program);
	}
}

static void put_on_wire(struct world *world, unsigned to, const struct cm_message *message)
{
	unsigned copies = percent(world) < world->loss_percent	 ? 0
			  : percent(world) < world->loss_percent ? 2
								 : 1;

	for (unsigned copy = 0; copy < copies && world->wire_count < WIRE_MAX; copy++) {
		time_ns delay = MICROSECONDS(1 + random_below(&world->random, 20));

		/* Some are so late that they meet later messages. */
		if (percent(world) < world->loss_percent)
			delay += MILLISECONDS(random_below(&world->random, 300));
		world->wire[world->wire_count++] = (struct on_wire){
			.arrives_at = world->now + delay, .to = to, .message = *message};
	}
}

static void move(struct world *world)
{
	for (unsigned index = 0; index < SIDES; index++) {
		struct side *side = &world->sides[index];
		struct cm_message message;

		while (cm_transmit(side->cm, world->now, 1, &message)) {
			message.mad.address.lid = (uint16_t)(index + 1);
			put_on_wire(world, 1 - index, &message);
		}
	}
	for (unsigned index = 0; index < world->wire_count;) {
		struct on_wire arrived = world->wire[index];

		if (arrived.arrives_at > world->now) {
			index++;
			continue;
		}
		world->wire[index] = world->wire[--world->wire_count];
		cm_receive(world->sides[arrived.to].cm, world->now, &arrived.message);
	}
}

static time_ns next_time(const struct world *world)
{
	time_ns next = TIME_NEVER;

	for (unsigned index = 0; index < SIDES; index++)
		next = time_earlier(next, cm_deadline(world->sides[index].cm));
	for (unsigned index = 0; index < world->wire_count; index++)
		next = time_earlier(next, world->wire[index].arrives_at);
	return next;
}

static void run_until_quiet(struct world *world)
{
	for (unsigned steps = 0; steps < 1000000; steps++) {
		move(world);

		time_ns next = next_time(world);

		if (next == TIME_NEVER)
			return;
		world->now = next > world->now ? next : world->now;
	}
	fail_msg("no end");
}

/* A side that is established has a partner that is established. */
static void check_agreement(const struct world *world, uint64_t seed)
{
	for (unsigned index = 0; index < PROGRAMS_MAX; index++) {
		const struct program *mine = &world->sides[0].programs[index];
		bool has_partner = false;

		if (!mine->is_open)
			continue;
		for (unsigned other = 0; other < PROGRAMS_MAX; other++) {
			const struct program *theirs = &world->sides[1].programs[other];

			has_partner |= theirs->is_open && theirs->own_qpn == mine->peer_qpn &&
				       theirs->peer_qpn == mine->own_qpn;
		}
		if (!has_partner)
			fail_msg("seed %u: QP %x believes in a peer that does not", (unsigned)seed,
				 mine->own_qpn);
	}
}

static void open_side(struct side *side, uint64_t seed)
{
	const struct cm_options options = {.seed = seed,
					   .ca_guids = &side->ca_guid,
					   .port_count = 1,
					   .event = take_event,
					   .context = side};

	side->next_qpn = 0x1000;
	assert_int_equal(cm_create(&options, &side->cm), 0);
	assert_int_equal(
		cm_listen(side->cm, side->world->now, SERVICE, UINT64_MAX, NULL, &side->listener),
		0);
}

/* A host that was switched off and on: its peer's queue pairs get errors, and their programs
 * disconnect. */
static void restart(struct side *side, uint64_t seed)
{
	struct side *other = &side->world->sides[1 - side->index];

	cm_destroy(side->cm);
	memset(side->programs, 0, sizeof(side->programs));
	open_side(side, seed);
	for (unsigned index = 0; index < PROGRAMS_MAX; index++) {
		struct program *program = &other->programs[index];

		if (!program->connection || program->is_over || program->is_lookup)
			continue;
		if (cm_connection_state(program->connection) == CM_ESTABLISHED) {
			program->is_open = false;
			assert_int_equal(
				cm_disconnect(program->connection, side->world->now, nothing), 0);
		} else if (!waits_for_rtu(program)) {
			let_go(other, program);
		}
	}
	side->world->was_restarted = true;
}

static void world_init(struct world *world, uint64_t seed)
{
	*world = (struct world){.random = random_seeded(seed), .now = SECONDS(1)};
	world->loss_percent = (unsigned)random_below(&world->random, LOSS_PERCENT_MAX + 1);
	for (unsigned index = 0; index < SIDES; index++) {
		struct side *side = &world->sides[index];

		side->world = world;
		side->index = index;
		side->ca_guid = 0x100 + index;
		open_side(side, seed + index);
	}
}

static void soak(uint64_t seed)
{
	static struct world world;

	world_init(&world, seed);
	for (unsigned step = 0; step < STEPS; step++) {
		struct side *side = &world.sides[random_below(&world.random, SIDES)];
		unsigned chance = percent(&world);

		if (chance < 16)
			call(side, SERVICE, TO_A_LISTENER);
		else if (chance < 18)
			call_each_other(&world);
		else if (chance < 20)
			look_up(side);
		else
			act(side);
		if (step == STEPS / 2 && seed % 4 == 0)
			restart(side, seed + 1000);
		move(&world);
		world.now += MICROSECONDS(random_below(&world.random, 5000));
	}
	run_until_quiet(&world);
	check_agreement(&world, seed);
	assert_true(world.established_count > 50 && world.loaded_count > 10);
	assert_true(world.lookup_count > 10 && world.timewait_count > 5 && world.peer_count > 2);
	for (unsigned index = 0; index < SIDES; index++) {
		for (unsigned program = 0; program < PROGRAMS_MAX; program++) {
			if (world.sides[index].programs[program].connection)
				let_go(&world.sides[index], &world.sides[index].programs[program]);
		}
	}
	run_until_quiet(&world);
	for (unsigned index = 0; index < SIDES; index++) {
		assert_int_equal(cm_count(world.sides[index].cm).connections, 0);
		assert_int_equal(cm_count(world.sides[index].cm).orphans, 0);
		cm_destroy(world.sides[index].cm);
	}
}

static void test_both_sides_agree_and_nothing_is_left(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		soak(seed);
}

int main(int argument_count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_sides_agree_and_nothing_is_left),
	};

	if (argument_count > 1) {
		soak(strtoull(arguments[1], NULL, 0));
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
