/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A baseboard manager on a whole fabric whose links lose and duplicate packets, from seeds: every
 * port gets its key, nodes vanish and come back, nodes lie, wrong keys and sensors are reported,
 * another manager takes over when the first has failed (management 6.2).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "mgmt/agents/baseboard.h"
#include "mgmt/baseboard/baseboard_client.h"
#include "mgmt/baseboard/baseboard_manager.h"
#include "sa_rig.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum {
	SEEDS = 6,
	MANAGER = 1, /* the hosts of the managers, a subscriber and a stranger */
	SECOND = 2,
	SUBSCRIBER = 3,
	STRANGER = 4,
	VICTIM = 5,
	BOASTER = 6, /* lie, each in its way */
	REFUSER = 7,
	FORGETFUL = 8,
	LEASE_S = 6,
	BATCH = 16,
	AGENT = 0x500,
	WRONG = 0x4321,
};

static struct sa_rig rig;

static enum lie {
	NO_LIE,
	LIE_OTHER_KEY, /* tells another key than was set, from the answer to the Set on */
	LIE_NOT_DONE,  /* answers a Set of the key without an error, and tells that it has no key */
	LIE_FORGETS,   /* tells the key that was set, and forgets it at once */
} lies[SA_RIG_HOSTS_MAX];
static unsigned request_counts[SA_RIG_HOSTS_MAX]; /* of the managers, to each host */

/* One per host that manages; is_running ends it as a kill would. */
static struct manager {
	bool is_running;
	unsigned host;
	struct baseboard_manager manager;
	unsigned gone_count, bad_key_count, sensor_count;
} managers[2];

static unsigned report_count;

static void tell(void *context, const struct baseboard_event *event)
{
	struct manager *manager = context;

	manager->gone_count += event->kind == BASEBOARD_PORT_GONE;
	if (event->kind != BASEBOARD_TRAP)
		return;
	manager->bad_key_count += event->notice->header.trap_number == TRAP_BAD_BKEY;
	manager->sensor_count += event->notice->header.trap_number == TRAP_BASEBOARD;
}

static void start(unsigned index, unsigned host, uint8_t secret, bool takes_over)
{
	struct manager *manager = &managers[index];
	const struct baseboard_manager_options options = {
		.agent_number = AGENT + host,
		.sa_agent_number = AGENT + 0x80 + host,
		.keys = {.has_secret = true, .secret = {secret}},
		.lease_period = LEASE_S,
		.protects = true,
		.takes_over = takes_over,
		.tell = tell,
		.context = manager,
	};

	*manager = (struct manager){.host = host, .is_running = true};
	assert_int_equal(baseboard_manager_init(&manager->manager, &options), 0);
}

static void stop(unsigned index)
{
	if (managers[index].is_running)
		baseboard_manager_release(&managers[index].manager);
	managers[index].is_running = false;
}

static unsigned host_with(uint16_t lid)
{
	for (unsigned host = 0; host < rig.host_count; host++)
		if (sa_rig_port(&rig, host)->info.lid == lid)
			return host;
	return SA_RIG_HOSTS_MAX;
}

static void send_all(const struct manager *manager, const struct mad_message messages[],
		     unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned to = host_with(messages[i].address.lid);

		if (to < SA_RIG_HOSTS_MAX &&
		    messages[i].bytes[MAD_CLASS_OFFSET] == MAD_CLASS_BASEBOARD &&
		    messages[i].bytes[MAD_METHOD_OFFSET] != MAD_TRAP_REPRESS)
			request_counts[to]++;
		sa_rig_send(&rig, sa_rig_port(&rig, manager->host), &messages[i]);
	}
}

static void run_manager(struct manager *manager, time_ns now)
{
	const struct port *port = sa_rig_port(&rig, manager->host);
	const struct baseboard_manager_port place = {
		.lid = port->info.lid,
		.gid = gid_from(port->info.gid_prefix, port->guid),
		.sm_lid = port->info.master_sm_lid,
	};
	struct mad_message messages[BATCH];
	unsigned count;

	baseboard_manager_set_port(&manager->manager, &place);
	while ((count = baseboard_manager_transmit(&manager->manager, now, BATCH, messages)))
		send_all(manager, messages, count);
}

static struct class_key *key_of(const struct port *port)
{
	struct baseboard *baseboard = baseboard_find(&rig.sim.fabric.agent_memory, port->node);

	return baseboard ? baseboard_key(baseboard, port) : NULL;
}

static void forget_key(unsigned host)
{
	struct class_key *key = key_of(sa_rig_port(&rig, host));

	if (key)
		class_key_init(key);
}

static void run(unsigned host)
{
	if (lies[host] == LIE_FORGETS)
		forget_key(host);
	for (unsigned i = 0; i < 2; i++)
		if (managers[i].is_running && managers[i].host == host)
			run_manager(&managers[i], rig.sim.now);
}

static time_ns deadline(void)
{
	time_ns earliest = TIME_NEVER;

	for (unsigned i = 0; i < 2; i++)
		if (managers[i].is_running)
			earliest = time_earlier(earliest,
						baseboard_manager_deadline(&managers[i].manager));
	return earliest;
}

/* What a node that lies answers instead of the truth. */
static void tell_lie(struct mad_message *answer)
{
	unsigned host = host_with(answer->address.lid);
	enum lie lie = host < SA_RIG_HOSTS_MAX ? lies[host] : NO_LIE;
	struct class_key_info info;

	if (answer->bytes[MAD_METHOD_OFFSET] != MAD_GET_RESPONSE ||
	    get_be16(answer->bytes + MAD_ATTRIBUTE_ID_OFFSET) != ATTRIBUTE_BKEY_INFO ||
	    (lie != LIE_OTHER_KEY && lie != LIE_NOT_DONE))
		return;
	class_key_info_decode(answer->bytes + BASEBOARD_DATA_OFFSET, &info);
	if (lie == LIE_NOT_DONE)
		info = (struct class_key_info){0};
	else if (info.key)
		info.key = WRONG;
	class_key_info_encode(&info, answer->bytes + BASEBOARD_DATA_OFFSET);
}

static bool received(unsigned host, const struct mad_message *message)
{
	struct mad_message answer = *message;

	if (message->bytes[MAD_CLASS_OFFSET] == MAD_CLASS_SUBNET_ADMINISTRATION)
		return false;
	tell_lie(&answer);
	for (unsigned i = 0; i < 2; i++)
		if (managers[i].is_running && managers[i].host == host)
			baseboard_manager_receive(&managers[i].manager, rig.sim.now, &answer);
	if (host != SUBSCRIBER || message->bytes[MAD_METHOD_OFFSET] != MAD_REPORT)
		return true;
	report_count++;
	answer.bytes[MAD_METHOD_OFFSET] = MAD_REPORT_RESPONSE;
	sa_rig_send(&rig, sa_rig_port(&rig, host), &answer);
	return true;
}

/* The tables of NodeRecords come by the manager's own SA client; the rig passes SA responses to its
 * clients only, so this one looks at them first. */
static bool (*rig_receive)(void *context, struct port *port, const struct frame *frame);

static bool receive(void *context, struct port *port, const struct frame *frame)
{
	struct mad_message message = {0};
	uint8_t bytes[PACKET_BYTES_MAX];
	struct packet packet;

	memcpy(bytes, frame->bytes, frame->byte_count);
	if (packet_decode(bytes, frame->byte_count, 1, &packet) == PACKET_OK &&
	    packet.payload.byte_count == MAD_BYTES && packet.bth.destination_qpn == QPN_GSI) {
		message.address = (struct mad_address){.lid = packet.lrh.slid,
						       .qpn = QPN_GSI,
						       .qkey = QKEY_GSI,
						       .pkey = packet.bth.pkey};
		payload_copy(&packet.payload, 0, MAD_BYTES, message.bytes);
		for (unsigned i = 0; i < 2; i++)
			if (managers[i].is_running && port == sa_rig_port(&rig, managers[i].host) &&
			    message.bytes[MAD_CLASS_OFFSET] == MAD_CLASS_SUBNET_ADMINISTRATION)
				baseboard_manager_receive(&managers[i].manager, rig.sim.now,
							  &message);
	}
	return rig_receive(context, port, frame);
}

static uint64_t key_at(const struct port *port)
{
	const struct class_key *key = key_of(port);

	return key ? key->info.key : 0;
}

/* Every end port with a link has the key of this manager. */
static unsigned strange_count(const struct manager *manager)
{
	unsigned count = 0;

	for (uint32_t i = 0; i < rig.sim.fabric.node_count; i++) {
		struct node *node = rig.sim.fabric.by_index[i];
		struct port *port = node_management_port(node, 1);

		if (node_is_switch(node) || port_is_active(port))
			count +=
				key_at(port) != bkey_of(&manager->manager.options.keys, port->guid);
	}
	return count;
}

static bool wait_for_keys(const struct manager *manager, time_ns limit)
{
	time_ns end = rig.sim.now + limit;

	while (strange_count(manager) && rig.sim.now < end)
		sa_rig_run_for(&rig, MILLISECONDS(100));
	return strange_count(manager) == 0;
}

static void send_wrong_key(unsigned to)
{
	const struct mad_address address = {.lid = sa_rig_port(&rig, to)->info.lid,
					    .qpn = QPN_GSI,
					    .qkey = QKEY_GSI,
					    .pkey = PKEY_DEFAULT_FULL};
	struct mad_message message;

	baseboard_mad_make(&address, WRONG, MAD_SET, ATTRIBUTE_BKEY_INFO, &message);
	sa_rig_send(&rig, sa_rig_port(&rig, STRANGER), &message);
}

static void subscribe(void)
{
	const struct mad_address address = {.lid = sa_rig_port(&rig, MANAGER)->info.lid,
					    .qpn = QPN_GSI,
					    .qkey = QKEY_GSI,
					    .pkey = PKEY_DEFAULT_FULL};
	const struct inform_info info = {.lid_range_begin = INFORM_ANY_LID,
					 .is_generic = INFORM_GENERIC,
					 .subscribe = 1,
					 .type = INFORM_ANY_TYPE,
					 .trap_number = TRAP_BASEBOARD,
					 .producer_type = INFORM_ANY_PRODUCER};
	struct mad_message message;

	baseboard_mad_make(&address, 0, MAD_SET, ATTRIBUTE_INFORM_INFO, &message);
	put_be64(message.bytes + MAD_TRANSACTION_ID_OFFSET, 0x123);
	inform_info_encode(&info, message.bytes + BASEBOARD_DATA_OFFSET);
	sa_rig_send(&rig, sa_rig_port(&rig, SUBSCRIBER), &message);
}

static void begin(uint64_t seed, const struct sim_faults *faults)
{
	static const struct sa_rig_programs programs = {
		.run = run, .received = received, .deadline = deadline};

	memset(managers, 0, sizeof(managers));
	memset(lies, 0, sizeof(lies));
	memset(request_counts, 0, sizeof(request_counts));
	report_count = 0;
	sa_rig_begin(&rig, seed, 0, &programs);
	rig_receive = rig.sim.programs.receive;
	rig.sim.programs.receive = receive;
	assert_int_equal(sim_set_faults(&rig.sim, faults), 0);
}

static void end(void)
{
	stop(0);
	stop(1);
	sa_rig_end(&rig);
}

static void heat(unsigned host, int32_t value)
{
	struct baseboard *baseboard =
		baseboard_of(&rig.sim.fabric.agent_memory, sa_rig_port(&rig, host)->node);

	sensor_set_value(&baseboard->sensors[0], value);
	baseboard_changed(&rig.sim.fabric.agents, baseboard, rig.sim.now);
}

static void run_story(uint64_t seed, const struct sim_faults *faults)
{
	struct port *victim;

	printf("seed %llu\n", (unsigned long long)seed);
	begin(seed, faults);
	start(0, MANAGER, 1, false);
	assert_true(wait_for_keys(&managers[0], SECONDS(60)));

	/* A node that vanishes while it is managed, and comes back. */
	victim = sa_rig_port(&rig, VICTIM);
	fabric_set_cable(&rig.sim.fabric, victim, false, rig.sim.now);
	for (unsigned i = 0; i < 60 && !managers[0].gone_count; i++)
		sa_rig_run_for(&rig, SECONDS(1));
	assert_true(managers[0].gone_count >= 1);
	fabric_set_cable(&rig.sim.fabric, victim, true, rig.sim.now);
	sa_rig_run_for(&rig, SECONDS(5));
	assert_true(wait_for_keys(&managers[0], SECONDS(60)));

	/* A sensor: the manager hears each crossing once, however often the trap comes. */
	for (unsigned i = 0; i < 60 && !managers[0].manager.subscriptions.count; i++) {
		subscribe();
		sa_rig_run_for(&rig, SECONDS(1));
	}
	assert_int_equal(managers[0].manager.subscriptions.count, 1);
	heat(VICTIM, 90000);
	for (unsigned i = 0; i < 60 && !report_count; i++)
		sa_rig_run_for(&rig, SECONDS(1));
	sa_rig_run_for(&rig, SECONDS(30));
	assert_true(report_count >= 1);
	assert_int_equal(managers[0].sensor_count, 1);
	end();
}

static void test_manager_manages_every_port(void **state)
{
	(void)state;
	run_story(1, &(struct sim_faults){0});
}

static void test_manager_manages_every_port_despite_faults(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		run_story(seed, &(struct sim_faults){.drop = 15, .duplicate = 15, .reorder = 10});
}

/* While the manager is active, the key stays hidden however often somebody tries another one; after
 * it has failed, its lease ends and another manager takes over. */
static void test_another_manager_takes_over_after_the_lease(void **state)
{
	struct class_key *key;

	(void)state;
	for (uint64_t seed = 11; seed < 11 + SEEDS / 2; seed++) {
		begin(seed, &(struct sim_faults){.drop = 5, .duplicate = 10});
		start(0, MANAGER, 1, false);
		assert_true(wait_for_keys(&managers[0], SECONDS(60)));
		key = key_of(sa_rig_port(&rig, VICTIM));
		for (unsigned i = 0; i < 5 * LEASE_S; i++) {
			send_wrong_key(VICTIM);
			sa_rig_run_for(&rig, SECONDS(1));
			assert_int_equal(key->info.protect_bit, 1);
		}
		assert_true(managers[0].bad_key_count >= 1);
		/* A polite second manager leaves the ports alone. */
		start(1, SECOND, 2, false);
		sa_rig_run_for(&rig, SECONDS(20));
		assert_int_equal(strange_count(&managers[0]), 0);
		stop(1);
		stop(0);
		start(1, SECOND, 2, true);
		assert_true(wait_for_keys(&managers[1], SECONDS(120)));
		end();
	}
}

/* A trap 259 that no agent sent, about a port that is not the sender's. */
static void send_foreign_trap(uint64_t transaction_id)
{
	const struct mad_address address = {.lid = sa_rig_port(&rig, MANAGER)->info.lid,
					    .qpn = QPN_GSI,
					    .qkey = QKEY_GSI,
					    .pkey = PKEY_DEFAULT_FULL};
	const struct notice notice = {
		.header = {.is_generic = 1,
			   .type = NOTICE_SECURITY,
			   .producer_type = PRODUCER_CA,
			   .trap_number = TRAP_BAD_BKEY,
			   .issuer_lid = sa_rig_port(&rig, VICTIM)->info.lid},
		.details = {0xff, 0xff, 0xff, 0xff},
	};
	struct mad_message message;

	baseboard_mad_make(&address, WRONG, MAD_TRAP, ATTRIBUTE_NOTICE, &message);
	put_be64(message.bytes + MAD_TRANSACTION_ID_OFFSET, transaction_id);
	notice_encode(&notice, message.bytes + BASEBOARD_DATA_OFFSET);
	sa_rig_send(&rig, sa_rig_port(&rig, STRANGER), &message);
}

static enum managed_state state_of(unsigned host)
{
	const struct managed_port *port =
		managed_ports_by_lid(&managers[0].manager.ports, sa_rig_port(&rig, host)->info.lid);

	assert_non_null(port);
	return port->state;
}

/* A port is read in every sweep, and gets address and key where they are missing; each request may
 * be repeated. */
static void expect_few_requests(unsigned sweeps)
{
	enum { STEPS = 3, TRIES = 3 };

	for (unsigned host = 0; host < rig.host_count; host++)
		assert_true(request_counts[host] <= sweeps * STEPS * TRIES);
}

/* The manager believes what a node answers and not what it sent, asks it no oftener than others,
 * and goes on with them. */
static void test_nodes_that_lie_keep_nobody_from_being_managed(void **state)
{
	enum { DURATION_S = 20, SWEEPS = DURATION_S * 3 / LEASE_S + 1, TRAPS_PER_SECOND = 20 };

	(void)state;
	for (uint64_t seed = 21; seed < 21 + SEEDS; seed++) {
		printf("seed %llu\n", (unsigned long long)seed);
		begin(seed, &(struct sim_faults){.drop = 10, .duplicate = 10, .reorder = 10});
		lies[BOASTER] = LIE_OTHER_KEY;
		lies[REFUSER] = LIE_NOT_DONE;
		lies[FORGETFUL] = LIE_FORGETS;
		start(0, MANAGER, 1, false);
		for (unsigned i = 0; i < 60 && strange_count(&managers[0]) > 1; i++)
			sa_rig_run_for(&rig, SECONDS(1));
		/* The forgetful node alone has no key. */
		assert_int_equal(strange_count(&managers[0]), 1);
		memset(request_counts, 0, sizeof(request_counts));
		for (unsigned i = 0; i < DURATION_S * TRAPS_PER_SECOND; i++) {
			send_foreign_trap(i + 1);
			sa_rig_run_for(&rig, SECONDS(1) / TRAPS_PER_SECOND);
			assert_int_equal(state_of(BOASTER), MANAGED_FOREIGN);
			assert_int_equal(state_of(REFUSER), MANAGED_SILENT);
			assert_int_equal(state_of(VICTIM), MANAGED_OURS);
		}
		assert_int_equal(strange_count(&managers[0]), 1);
		/* The stranger's port is read once more for each of its traps. */
		assert_true(managers[0].bad_key_count > DURATION_S * TRAPS_PER_SECOND / 2);
		assert_true(request_counts[STRANGER] < 2 * DURATION_S * TRAPS_PER_SECOND);
		request_counts[STRANGER] = 0;
		expect_few_requests(SWEEPS);
		/* Who tells the truth again is managed. */
		memset(lies, 0, sizeof(lies));
		assert_true(wait_for_keys(&managers[0], SECONDS(60)));
		sa_rig_run_for(&rig, SECONDS(LEASE_S));
		assert_int_equal(baseboard_manager_count(&managers[0].manager, MANAGED_OURS),
				 managers[0].manager.ports.count);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manager_manages_every_port),
		cmocka_unit_test(test_manager_manages_every_port_despite_faults),
		cmocka_unit_test(test_another_manager_takes_over_after_the_lease),
		cmocka_unit_test(test_nodes_that_lie_keep_nobody_from_being_managed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
