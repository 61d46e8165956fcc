/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The task of every monitoring program: nodes subscribe to a trap, another port goes down, and the
 * report arrives at every subscriber. A whole fabric with its manager and SA, links that lose
 * packets, several seeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/sa/sa.h"
#include "mgmt/sa/sa_client.h"
#include "mgmt/subnet/multicast_groups.h"
#include "sim/sim.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum { HOSTS_MAX = 16, SA_AGENT = 1, CLIENT_AGENT_FIRST = 100, BATCH = 16, SEEDS = 8 };

struct listener {
	struct sim_host *host;
	struct sa_client client;
	bool is_subscribed;
	bool heard_of[HOSTS_MAX][2]; /* [host][0: it went down, 1: it came up] */
};

struct world {
	struct sim sim;
	struct sa *sa;
	struct listener listeners[HOSTS_MAX];
	unsigned host_count;
	uint32_t psn;
};

static struct world world;

static void send(struct port *port, const struct mad_message *message)
{
	struct sim *sim = &world.sim;
	struct frame *frame = frame_take(&sim->fabric.frames);
	struct packet packet = {
		.lrh = {.dlid = message->address.lid, .slid = port->info.lid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = QPN_GSI,
			.psn = {world.psn++ & 0xffffff}},
		.deth = {.qkey = QKEY_GSI, .source_qpn = QPN_GSI},
		.packet_count = 1,
	};
	uint8_t bytes[MAD_BYTES];

	/* A frame that finds no room is lost, and repeated like one that a link loses. */
	if (!frame)
		return;
	memcpy(bytes, message->bytes, sizeof(bytes));
	packet_set_payload(&packet, bytes, sizeof(bytes));
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	frame->source = NULL;
	if (!fabric_inject(&sim->fabric, port, frame, sim->now))
		frame_give_back(&sim->fabric.frames, frame);
}

static struct listener *listener_at(const struct port *port)
{
	for (unsigned i = 0; i < world.host_count; i++)
		if (&world.listeners[i].host->node->ports[1] == port)
			return &world.listeners[i];
	return NULL;
}

static unsigned host_with_guid(uint64_t guid)
{
	for (unsigned i = 0; i < world.host_count; i++)
		if (world.listeners[i].host->node->ports[1].guid == guid)
			return i;
	fail_msg("a report about nobody");
	return 0;
}

static void take_report(struct listener *listener, struct mad_message *message)
{
	struct notice notice;

	notice_decode(message->bytes + SA_DATA_OFFSET, &notice);
	if (notice.header.trap_number == TRAP_GID_IN_SERVICE ||
	    notice.header.trap_number == TRAP_GID_OUT_OF_SERVICE) {
		unsigned about = host_with_guid(get_be64(notice.details + 6 + 8));

		listener->heard_of[about][notice.header.trap_number == TRAP_GID_IN_SERVICE] = true;
	}
	message->bytes[3] = MAD_REPORT_RESPONSE;
	send(&listener->host->node->ports[1], message);
}

static bool receive(void *context, struct port *port, const struct frame *frame)
{
	struct listener *listener = listener_at(port);
	struct mad_message message = {0};
	uint8_t bytes[PACKET_BYTES_MAX];
	struct packet packet;

	(void)context;
	memcpy(bytes, frame->bytes, frame->byte_count);
	if (packet_decode(bytes, frame->byte_count, 1, &packet) != PACKET_OK ||
	    packet.bth.destination_qpn != QPN_GSI || packet.payload.byte_count != MAD_BYTES)
		return false;
	message.address = (struct mad_address){
		.lid = packet.lrh.slid, .qpn = QPN_GSI, .qkey = QKEY_GSI, .pkey = packet.bth.pkey};
	payload_copy(&packet.payload, 0, MAD_BYTES, message.bytes);
	if (message.bytes[3] == MAD_REPORT) {
		take_report(listener, &message);
	} else if (message.bytes[3] == MAD_REPORT_RESPONSE || !(message.bytes[3] & MAD_RESPONSE)) {
		if (port == world.sim.managers[0].port)
			sa_receive(world.sa, world.sim.now, &message);
	} else {
		sa_client_receive(&listener->client, world.sim.now, &message);
	}
	return true;
}

static void run(void *context, time_ns now)
{
	struct mad_message messages[BATCH];
	unsigned count;

	(void)context;
	while ((count = sa_transmit(world.sa, now, BATCH, messages)))
		for (unsigned i = 0; i < count; i++)
			send(world.sim.managers[0].port, &messages[i]);
	for (unsigned host = 0; host < world.host_count; host++) {
		struct listener *listener = &world.listeners[host];
		struct sa_client_result result;

		count = sa_client_transmit(&listener->client, now, BATCH, messages);
		for (unsigned i = 0; i < count; i++)
			send(&listener->host->node->ports[1], &messages[i]);
		while (sa_client_take_result(&listener->client, &result)) {
			assert_int_equal(result.outcome, SA_CLIENT_ANSWERED);
			listener->is_subscribed = true;
		}
	}
}

static time_ns deadline(const void *context)
{
	time_ns earliest = sa_deadline(world.sa);

	(void)context;
	for (unsigned host = 0; host < world.host_count; host++)
		earliest =
			time_earlier(earliest, sa_client_deadline(&world.listeners[host].client));
	return earliest;
}

static void sweep_finished(void *context, time_ns now)
{
	(void)context;
	if (world.sa)
		sa_subnet_changed(world.sa, now, sm_subnet(world.sim.managers[0].sm));
}

static void trap(void *context, time_ns now, const struct notice *notice, uint16_t source_lid)
{
	(void)context;
	(void)source_lid;
	if (world.sa)
		sa_notice(world.sa, now, notice);
}

static void start_sa(void)
{
	const struct sa_options options = {.port_guid = world.sim.managers[0].port->guid,
					   .agent_number = SA_AGENT,
					   .groups = sm_multicast_groups(world.sim.managers[0].sm)};

	assert_int_equal(sa_create(&options, &world.sa), 0);
	sa_subnet_changed(world.sa, world.sim.now, sm_subnet(world.sim.managers[0].sm));
}

static void begin(uint64_t seed)
{
	const struct sm_options options = {
		.sweep_interval = SECONDS(1),
		.owner = {.sweep_finished = sweep_finished, .trap = trap},
	};
	struct topology_error error;

	memset(&world, 0, sizeof(world));
	assert_int_equal(sim_init(&world.sim, "fat-tree:4", seed, &error), 0);
	assert_int_equal(sim_start_sm_with(&world.sim, &world.sim.hosts[0], &options), 0);
	assert_true(sim_bring_up(&world.sim, SECONDS(60)));
	world.host_count = world.sim.host_count < HOSTS_MAX ? world.sim.host_count : HOSTS_MAX;
	for (unsigned i = 0; i < world.host_count; i++) {
		const struct sa_client_options client = {.agent_number = CLIENT_AGENT_FIRST + i,
							 .timeout = MILLISECONDS(100),
							 .tries = 50};

		world.listeners[i].host = &world.sim.hosts[i];
		assert_int_equal(sa_client_init(&world.listeners[i].client, &client), 0);
	}
	start_sa();
	world.sim.programs =
		(struct sim_programs){.receive = receive, .run = run, .deadline = deadline};
}

static void end(void)
{
	world.sim.programs = (struct sim_programs){0};
	for (unsigned i = 0; i < world.host_count; i++)
		sa_client_release(&world.listeners[i].client);
	sa_destroy(world.sa);
	world.sa = NULL;
	sim_release(&world.sim);
}

static void subscribe(struct listener *listener)
{
	const struct inform_info info = {.lid_range_begin = INFORM_ANY_LID,
					 .is_generic = 1,
					 .subscribe = 1,
					 .type = INFORM_ANY_TYPE,
					 .trap_number = INFORM_ANY_TRAP,
					 .producer_type = INFORM_ANY_PRODUCER};
	uint8_t data[INFORM_INFO_BYTES];

	inform_info_encode(&info, data);
	sa_client_set_sa(&listener->client, listener->host->node->ports[1].info.master_sm_lid, 0,
			 PKEY_DEFAULT_FULL);
	assert_int_equal(sa_client_ask(&listener->client, MAD_SET, SA_INFORM_INFO, 0, data,
				       sizeof(data), (struct mad_purpose){0}),
			 0);
}

static void expect_heard(unsigned about, unsigned which, unsigned listener_count, uint64_t seed)
{
	for (unsigned i = 0; i < listener_count; i++) {
		if (!world.listeners[i].heard_of[about][which])
			printf("seed %llu: host %u did not hear that host %u %s\n",
			       (unsigned long long)seed, i, about, which ? "came" : "went");
		assert_true(world.listeners[i].heard_of[about][which]);
	}
}

static void run_story(uint64_t seed, uint16_t loss)
{
	unsigned subscriber_count, victim;

	begin(seed);
	assert_int_equal(sim_set_faults(&world.sim, &(struct sim_faults){.drop = loss}), 0);
	victim = world.host_count - 1;
	subscriber_count = world.host_count - 2;
	for (unsigned i = 0; i < subscriber_count; i++)
		subscribe(&world.listeners[i]);
	sim_run_until(&world.sim, world.sim.now + SECONDS(10));
	for (unsigned i = 0; i < subscriber_count; i++)
		assert_true(world.listeners[i].is_subscribed);

	struct port *cable = &world.listeners[victim].host->node->ports[1];

	fabric_set_cable(&world.sim.fabric, cable, false, world.sim.now);
	sim_run_until(&world.sim, world.sim.now + SECONDS(10));
	expect_heard(victim, 0, subscriber_count, seed);
	fabric_set_cable(&world.sim.fabric, cable, true, world.sim.now);
	sim_run_until(&world.sim, world.sim.now + SECONDS(10));
	expect_heard(victim, 1, subscriber_count, seed);
	/* A host that did not subscribe gets no report. */
	assert_false(world.listeners[world.host_count - 2].heard_of[victim][0]);
	end();
}

static void test_every_subscriber_hears_of_a_port_that_goes_and_comes(void **state)
{
	(void)state;
	run_story(1, 0);
}

/* Two percent on every one of up to six links; a report has three tries. */
static void test_lost_reports_are_repeated(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		run_story(seed, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_subscriber_hears_of_a_port_that_goes_and_comes),
		cmocka_unit_test(test_lost_reports_are_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
