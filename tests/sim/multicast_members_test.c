/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multicast pruning in a whole fabric with its manager and SA: every host joins a group by MADs,
 * half of the programs vanish, and the SA finds out by its queries. Links lose packets; several
 * seeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/sa/sa.h"
#include "mgmt/sa/sa_client.h"
#include "mgmt/subnet/multicast_groups.h"
#include "mgmt/subnet/subnet.h"
#include "sim/sim.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum { HOSTS_MAX = 16, SA_AGENT = 1, CLIENT_AGENT_FIRST = 100, BATCH = 16, SEEDS = 4 };

#define INTERVAL SECONDS(60)

struct member {
	struct sim_host *host;
	struct sa_client client;
	bool is_alive;		  /* its program answers queries */
	unsigned seen_reregister; /* of the adapter's events */
	unsigned answered_count;
};

struct world {
	struct sim sim;
	struct sa *sa;
	struct member members[HOSTS_MAX];
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

static struct member *member_at(const struct port *port)
{
	for (unsigned i = 0; i < world.host_count; i++)
		if (&world.members[i].host->node->ports[1] == port)
			return &world.members[i];
	return NULL;
}

static bool receive(void *context, struct port *port, const struct frame *frame)
{
	struct member *member = member_at(port);
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
	if (message.bytes[3] & MAD_RESPONSE)
		sa_client_receive(&member->client, world.sim.now, &message);
	else if (port == world.sim.managers[0].port)
		sa_receive(world.sa, world.sim.now, &message);
	return true;
}

static const uint64_t components = SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID) |
				   SA_COMPONENT(MCR_JOIN_STATE) | SA_COMPONENT(MCR_QKEY) |
				   SA_COMPONENT(MCR_TRAFFIC_CLASS) | SA_COMPONENT(MCR_PKEY) |
				   SA_COMPONENT(MCR_SL) | SA_COMPONENT(MCR_FLOW_LABEL);

static void join(struct member *member)
{
	const struct port *port = &member->host->node->ports[1];
	const struct mc_member_record wanted = {.mgid_high = 0xff12a01cfe800000,
						.mgid_low = 7,
						.port_gid_prefix = GID_PREFIX_LINK_LOCAL,
						.port_gid_guid = port->guid,
						.pkey = PKEY_DEFAULT_FULL,
						.join_state = JOIN_FULL};

	sa_client_set_sa(&member->client, port->info.master_sm_lid, 0, PKEY_DEFAULT_FULL);
	assert_int_equal(
		sa_client_join(&member->client, &wanted, components, (struct mad_purpose){0}), 0);
}

static void answer_question(struct member *member)
{
	unsigned count = member->host->event_counts[HCA_EVENT_CLIENT_REREGISTER];

	if (member->is_alive && count != member->seen_reregister)
		join(member);
	member->seen_reregister = count;
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
		struct member *member = &world.members[host];
		struct sa_client_result result;

		answer_question(member);
		count = sa_client_transmit(&member->client, now, BATCH, messages);
		for (unsigned i = 0; i < count; i++)
			send(&member->host->node->ports[1], &messages[i]);
		while (sa_client_take_result(&member->client, &result)) {
			assert_int_equal(result.outcome, SA_CLIENT_ANSWERED);
			member->answered_count++;
		}
	}
}

static time_ns deadline(const void *context)
{
	time_ns earliest = sa_deadline(world.sa);

	(void)context;
	for (unsigned host = 0; host < world.host_count; host++)
		earliest = time_earlier(earliest, sa_client_deadline(&world.members[host].client));
	return earliest;
}

static void sweep_finished(void *context, time_ns now)
{
	(void)context;
	if (world.sa)
		sa_subnet_changed(world.sa, now, sm_subnet(world.sim.managers[0].sm));
}

static void ask_reregistration(void *context, uint64_t port_guid)
{
	(void)context;
	sm_ask_reregistration(world.sim.managers[0].sm, port_guid);
}

static void reregistration_asked(void *context, time_ns now, const struct subnet_port *port)
{
	(void)context;
	if (world.sa)
		sa_reregistration_asked(world.sa, now, port->guid);
}

static void multicast_changed(void *context, uint16_t mlid)
{
	(void)context;
	sm_multicast_changed(world.sim.managers[0].sm, mlid);
}

static void start_sa(void)
{
	const struct sa_options options = {
		.port_guid = world.sim.managers[0].port->guid,
		.agent_number = SA_AGENT,
		.groups = sm_multicast_groups(world.sim.managers[0].sm),
		.owner = {.multicast_changed = multicast_changed,
			  .ask_reregistration = ask_reregistration},
		.prune_interval = INTERVAL,
	};

	assert_int_equal(sa_create(&options, &world.sa), 0);
	sa_subnet_changed(world.sa, world.sim.now, sm_subnet(world.sim.managers[0].sm));
}

static void begin(uint64_t seed)
{
	const struct sm_options options = {
		.sweep_interval = SECONDS(1),
		.owner = {.sweep_finished = sweep_finished,
			  .reregistration_asked = reregistration_asked},
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

		world.members[i].host = &world.sim.hosts[i];
		assert_int_equal(sa_client_init(&world.members[i].client, &client), 0);
	}
	start_sa();
	world.sim.programs =
		(struct sim_programs){.receive = receive, .run = run, .deadline = deadline};
}

static void end(void)
{
	world.sim.programs = (struct sim_programs){0};
	for (unsigned i = 0; i < world.host_count; i++)
		sa_client_release(&world.members[i].client);
	sa_destroy(world.sa);
	world.sa = NULL;
	sim_release(&world.sim);
}

static bool is_member(unsigned host)
{
	struct gid mgid = gid_from(0xff12a01cfe800000, 7);
	const struct multicast_group *group =
		multicast_groups_find(sm_multicast_groups(world.sim.managers[0].sm), &mgid);

	return group &&
	       multicast_group_member(group, world.members[host].host->node->ports[1].guid);
}

/* Whether packets of the group get to the port: its switch has it in the MFT. */
static bool is_on_tree(unsigned host)
{
	const struct port *at_switch = world.members[host].host->node->ports[1].peer;
	struct gid mgid = gid_from(0xff12a01cfe800000, 7);
	const struct multicast_group *group =
		multicast_groups_find(sm_multicast_groups(world.sim.managers[0].sm), &mgid);

	return group &&
	       at_switch->node->mft[group->mlid - LID_MULTICAST_FIRST][at_switch->number / 16] >>
			       (at_switch->number % 16) &
		       1;
}

static void run_story(uint64_t seed, uint16_t loss)
{
	begin(seed);
	for (unsigned i = 0; i < world.host_count; i++)
		join(&world.members[i]);
	assert_int_equal(sim_set_faults(&world.sim, &(struct sim_faults){.drop = loss}), 0);
	sim_run_until(&world.sim, world.sim.now + SECONDS(10));
	for (unsigned i = 0; i < world.host_count; i++) {
		assert_int_equal(world.members[i].answered_count, 1);
		assert_true(is_member(i) && is_on_tree(i));
		world.members[i].is_alive = i % 2;
	}
	sim_run_until(&world.sim, world.sim.now + 2 * INTERVAL);
	for (unsigned i = 0; i < world.host_count; i++) {
		assert_int_equal(is_member(i), i % 2);
		assert_int_equal(is_on_tree(i), i % 2);
	}
	/* Members that answer stay. */
	sim_run_until(&world.sim, world.sim.now + 5 * INTERVAL);
	for (unsigned i = 0; i < world.host_count; i++) {
		assert_int_equal(is_member(i), i % 2);
		assert_true(world.members[i].answered_count > 5 || !(i % 2));
	}
	end();
}

static void test_vanished_members_are_pruned_and_the_others_stay(void **state)
{
	(void)state;
	run_story(1, 0);
}

/* Two percent on each of up to six links, for queries and answers alike. */
static void test_loss_prunes_nobody_who_answers(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		run_story(seed, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vanished_members_are_pruned_and_the_others_stay),
		cmocka_unit_test(test_loss_prunes_nobody_who_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
