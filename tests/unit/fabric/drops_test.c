/* SPDX-License-Identifier: Apache-2.0 */
/* Every drop reason, caused in a fabric: counted at the port where it happens, once by its reason
 * and once by the specification's counter, and nowhere else (management 6.1). */
#include "rig.h"

#include "fabric/link_faults.h"
#include "fabric/routers.h"
#include "fabric/topology/subnets.h"
#include "mgmt/agents/traps.h"
#include "net/link/counters.h"
#include "net/link/port_queues.h"
#include "wire/notice.h"

static struct rig rig;

static void send(struct frame *frame, time_ns now)
{
	if (!fabric_inject(&rig.fabric, rig_host(&rig, 1), frame, now))
		frame_give_back(&rig.fabric.frames, frame);
	rig_run(&rig, now);
}

static void send_data(uint16_t dlid, uint32_t bytes)
{
	send(rig_data_frame(&rig, 1, dlid, bytes), 0);
}

static struct port *at_switch(unsigned number)
{
	return &rig.switch_node->ports[number];
}

/* Each function causes a drop, and returns the port that must count it. */

static struct port *make_malformed(void)
{
	struct frame *frame = rig_data_frame(&rig, 1, 2, 64);

	frame->bytes[5]++; /* PktLen */
	send(frame, 0);
	return rig_host(&rig, 1);
}

static struct port *make_port_inactive(void)
{
	at_switch(2)->info.port_state = PORT_INIT;
	send_data(2, 64);
	return at_switch(2);
}

static struct port *make_no_route(void)
{
	send_data(50, 64);
	return at_switch(1);
}

static struct port *make_looping(void)
{
	rig.switch_node->lft[50] = 1;
	send_data(50, 64);
	return at_switch(1);
}

static struct port *make_vl_mapping(void)
{
	at_switch(2)->sl_to_vl[1][0] = VL_MANAGEMENT;
	send_data(2, 64);
	return at_switch(1);
}

static struct port *make_mtu(void)
{
	at_switch(2)->info.neighbor_mtu = MTU_256;
	send_data(2, 257);
	return at_switch(2);
}

/* More frames than host 2 takes, so that some wait in the switch, one at the head of its queue. */
static void fill_switch(void)
{
	rig.room = 0;
	for (unsigned i = 0; at_switch(2)->queues->vls[0].frame_count == 0; i++) {
		assert_true(i < 1000);
		send_data(2, 4096);
	}
}

static struct port *make_lifetime(void)
{
	at_switch(2)->info.hoq_life = 20;
	rig.switch_node->switch_info.life_time_value = 1;
	fill_switch();
	rig_run(&rig, time_from_code(1));
	return at_switch(2);
}

static struct port *make_head_of_queue(void)
{
	at_switch(2)->info.hoq_life = 1;
	rig.switch_node->switch_info.life_time_value = 20;
	fill_switch();
	rig_run(&rig, time_from_code(1));
	return at_switch(2);
}

static struct port *make_pkey_inbound(void)
{
	at_switch(1)->info.partition_enforcement_inbound = 1;
	at_switch(1)->pkeys[0] = 0x8001;
	send_data(2, 64);
	return at_switch(1);
}

static struct port *make_pkey_outbound(void)
{
	at_switch(2)->info.partition_enforcement_outbound = 1;
	at_switch(2)->pkeys[0] = 0x8001;
	send_data(2, 64);
	return at_switch(2);
}

/* A manager on host 2 that takes nothing: answers for it are queued. */
static struct port *make_vl15(void)
{
	static const uint8_t answer[MAD_BYTES] = {1, MAD_CLASS_SUBNET_LID, 1, MAD_GET_RESPONSE};

	rig.room = 0;
	for (unsigned i = 0; i <= VL15_FRAMES_MAX; i++)
		send(rig_mad_frame(&rig, VL_MANAGEMENT, 1, 2, 0, answer), 0);
	return rig_host(&rig, 2);
}

static struct port *make_no_listener(void)
{
	send_data(RIG_SWITCH_LID, 64);
	return at_switch(0);
}

/* One frame for two members: the copy finds no memory. */
static struct port *make_no_frame(void)
{
	struct frame *frame = rig_data_frame(&rig, 1, 0xc000, 64);

	rig.switch_node->switch_info.multicast_fdb_cap = 1;
	rig.switch_node->mft[0][0] = 1 << 2;
	while (frame_take_for(&rig.fabric.frames, 1))
		;
	send(frame, 0);
	return rig_host(&rig, 1); /* the port whose own copy it was */
}

static void make_faulty(const struct fault_settings *settings)
{
	assert_int_equal(faults_set(&rig.fabric, rig_host(&rig, 1), settings, 1, 0), 0);
}

static struct port *make_vcrc(void)
{
	make_faulty(&(struct fault_settings){.corrupt = FAULT_CERTAIN});
	send_data(2, 64);
	return at_switch(1);
}

static struct port *make_icrc(void)
{
	make_faulty(&(struct fault_settings){.corrupt_inside = FAULT_CERTAIN});
	send_data(2, 64);
	return rig_host(&rig, 2);
}

static struct port *make_overrun(void)
{
	make_faulty(&(struct fault_settings){.duplicate = FAULT_CERTAIN});
	rig.room = 0;
	for (unsigned i = 0; at_switch(1)->counters.drops[DROP_OVERRUN] == 0; i++) {
		assert_true(i < 1000);
		send_data(2, 4096);
	}
	return at_switch(1);
}

static struct port *make_fault(void)
{
	make_faulty(&(struct fault_settings){.drop = FAULT_CERTAIN});
	send_data(2, 64);
	return NULL; /* lost on the cable: no port counts it */
}

static struct port *make_hop_limit(void);

#define COUNTER(member) offsetof(struct link_counters, member)

enum { NO_COUNTER = -1 };

/* clang-format off */
static const struct {
	enum drop_reason reason;
	struct port *(*make)(void);
	int counter;
} rows[] = {
	{DROP_MALFORMED,     make_malformed,     COUNTER(receive_errors)},
	{DROP_PORT_INACTIVE, make_port_inactive, COUNTER(transmit_discards)},
	{DROP_NO_ROUTE,      make_no_route,      COUNTER(receive_switch_relay_errors)},
	{DROP_LOOPING,       make_looping,       COUNTER(receive_switch_relay_errors)},
	{DROP_HOP_LIMIT,     make_hop_limit,     COUNTER(receive_switch_relay_errors)},
	{DROP_VL_MAPPING,    make_vl_mapping,    COUNTER(receive_switch_relay_errors)},
	{DROP_MTU,           make_mtu,           COUNTER(transmit_discards)},
	{DROP_LIFETIME,      make_lifetime,      COUNTER(transmit_discards)},
	{DROP_HEAD_OF_QUEUE, make_head_of_queue, COUNTER(transmit_discards)},
	{DROP_PKEY_INBOUND,  make_pkey_inbound,  COUNTER(receive_constraint_errors)},
	{DROP_PKEY_OUTBOUND, make_pkey_outbound, COUNTER(transmit_constraint_errors)},
	{DROP_VL15,          make_vl15,          COUNTER(vl15_dropped)},
	{DROP_NO_LISTENER,   make_no_listener,   NO_COUNTER},
	{DROP_NO_FRAME,      make_no_frame,      COUNTER(transmit_discards)},
	{DROP_VCRC,          make_vcrc,          COUNTER(receive_errors)},
	{DROP_ICRC,          make_icrc,          COUNTER(receive_errors)},
	{DROP_OVERRUN,       make_overrun,       COUNTER(receive_errors)},
	{DROP_FAULT,         make_fault,         NO_COUNTER},
};
/* clang-format on */

/* Router of routed:2x2, one host and the router at each switch. */
static struct port *make_hop_limit(void)
{
	struct node *router;
	struct frame *frame;
	struct packet packet = {
		.lrh = {.dlid = 3, .slid = 1},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY, .pkey = PKEY_DEFAULT_FULL},
		.has_grh = true,
		.grh = {.hop_limit = 1, .dgid = gid_from(SUBNET_PREFIX(1), 1)},
		.packet_count = 1,
	};
	struct topology_error error;

	fabric_release(&rig.fabric);
	rig_init(&rig);
	assert_int_equal(topology_generate(&rig.fabric, "routed:2x2", &error), 0);
	router = rig.fabric.routers.nodes[0];
	rig.switch_node = router->ports[1].peer->node;
	rig.switch_node->switch_info.linear_fdb_top = 10;
	for (unsigned number = 1; number <= 3; number++) {
		rig.switch_node->lft[number] = (uint8_t)number;
		at_switch(number)->info.port_state = PORT_ACTIVE;
		rig_host(&rig, number)->info.port_state = PORT_ACTIVE;
		rig_host(&rig, number)->info.lid = (uint16_t)number;
		rig_host(&rig, number)->info.gid_prefix = SUBNET_PREFIX(0);
	}
	router->ports[2].info.port_state = PORT_ACTIVE;
	router->ports[2].info.lid = 3;
	router->ports[2].info.gid_prefix = SUBNET_PREFIX(1);
	routers_note_change(&rig.fabric);
	frame = frame_take(&rig.fabric.frames);
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	send(frame, 0);
	return &router->ports[1];
}

static uint64_t sum_of(uint64_t (*value)(const struct port *port))
{
	uint64_t sum = 0;

	for (uint32_t index = 0; index < rig.fabric.node_count; index++)
		for (unsigned number = 0; number <= rig.fabric.by_index[index]->port_count;
		     number++)
			sum += value(&rig.fabric.by_index[index]->ports[number]);
	return sum;
}

static uint64_t all_drops(const struct port *port)
{
	uint64_t sum = 0;

	for (unsigned reason = 0; reason < DROP_REASON_COUNT; reason++)
		sum += port->counters.drops[reason];
	return sum;
}

/* All error counters of the specification. */
static uint64_t all_counted(const struct port *port)
{
	const struct link_counters *counters = &port->counters;

	return counters->receive_errors + counters->receive_switch_relay_errors +
	       counters->transmit_discards + counters->transmit_constraint_errors +
	       counters->receive_constraint_errors + counters->vl15_dropped;
}

static void test_each_drop_is_counted_once_where_it_happens(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct port *port;

		rig_star(&rig, "star:3");
		port = rows[i].make();

		uint64_t drops = port ? port->counters.drops[rows[i].reason] : 0;
		uint64_t counted =
			port && rows[i].counter != NO_COUNTER
				? *(uint64_t *)((char *)&port->counters + rows[i].counter)
				: 0;

		if (drops != (port ? 1 : 0) || counted != (rows[i].counter == NO_COUNTER ? 0 : 1) ||
		    sum_of(all_drops) != drops || sum_of(all_counted) != counted)
			fail_msg("%s: %llu drops there, %llu in all, counted %llu there, %llu in "
				 "all",
				 drop_reason_name(rows[i].reason), (unsigned long long)drops,
				 (unsigned long long)sum_of(all_drops), (unsigned long long)counted,
				 (unsigned long long)sum_of(all_counted));
		rig_release(&rig);
	}
}

/* The table above has every drop reason. */
static void test_no_reason_is_left_out(void **state)
{
	bool seen[DROP_REASON_COUNT] = {[DROP_NONE] = true};

	(void)state;
	/* The owner of endpoints drops these: unit/daemon/packets/delivery_test.c. */
	seen[DROP_RECEIVER_FULL] = true;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		seen[rows[i].reason] = true;
	for (unsigned reason = 0; reason < DROP_REASON_COUNT; reason++)
		assert_true(seen[reason]);
}

/* Raw packets dropped by the filters of a switch's ports: constraint errors, but no P_Key trap,
 * because they have no P_Key. */
static void test_filtered_raw_packets_are_constraint_errors(void **state)
{
	(void)state;
	for (unsigned is_outbound = 0; is_outbound < 2; is_outbound++) {
		struct frame *frame;
		struct port *port;

		rig_star(&rig, "star:3");
		port = at_switch(is_outbound ? 2 : 1);
		frame = rig_data_frame(&rig, 1, 2, 64);
		frame->bytes[1] &= 0xfc; /* LNH: raw */
		frame->bytes[5]--;	 /* PktLen: no ICRC */
		if (is_outbound)
			port->info.filter_raw_outbound = 1;
		else
			port->info.filter_raw_inbound = 1;
		send(frame, 0);
		assert_int_equal(is_outbound ? port->counters.transmit_constraint_errors
					     : port->counters.receive_constraint_errors,
				 1);
		assert_int_equal(at_switch(0)->info.pkey_violations, 0);
		assert_int_equal(agent_deadline(&rig.fabric.agent_memory), TIME_NEVER);
		rig_release(&rig);
	}
}

/* The trap that the switch repeats until its manager represses it; 0: none. */
static unsigned told_trap(void)
{
	struct notice notice;

	trap_peek(&rig.fabric.agent_memory, at_switch(0), &notice);
	return notice.header.type == NOTICE_EMPTY ? 0 : notice.header.trap_number;
}

/* LocalPhyErrors and OverrunErrors 0: the first error exceeds them. */
static void test_thresholds_count_and_tell(void **state)
{
	(void)state;
	rig_star(&rig, "star:3");
	at_switch(1)->info.local_phy_errors = 0;
	(void)make_vcrc();
	assert_int_equal(at_switch(1)->counters.symbol_errors, 1);
	assert_int_equal(at_switch(1)->counters.local_link_integrity_errors, 1);
	assert_int_equal(at_switch(1)->counters.link_error_recovery, 1);
	assert_true(port_is_active(at_switch(1)));
	assert_int_equal(told_trap(), TRAP_LINK_INTEGRITY);
	rig_release(&rig);

	rig_star(&rig, "star:3");
	at_switch(1)->info.overrun_errors = 0;
	(void)make_overrun();
	assert_int_equal(at_switch(1)->counters.excessive_buffer_overruns, 1);
	assert_int_equal(told_trap(), TRAP_BUFFER_OVERRUN);
	rig_release(&rig);
}

/* The largest switch: unicast and multicast by its last port. */
static void test_switch_may_have_254_ports(void **state)
{
	enum { LAST = 254 };
	(void)state;
	rig_star(&rig, "star:254");
	assert_int_equal(rig.switch_node->port_count, LAST);
	rig.switch_node->switch_info.linear_fdb_top = LAST;
	rig.switch_node->lft[RIG_SWITCH_LID] = RIG_SWITCH_LID;
	send_data(LAST, 64);
	assert_int_equal(rig.delivered_count, 1);
	assert_ptr_equal(rig.delivered_at[0], rig_host(&rig, LAST));
	rig.switch_node->switch_info.multicast_fdb_cap = 1;
	rig.switch_node->mft[0][15] = 0xffff; /* 240 .. 255 */
	send_data(0xc000, 64);
	/* One copy stays at the sender's own port. */
	assert_int_equal(rig.delivered_count, 1 + 15 + 1);
	assert_int_equal(rig_host(&rig, LAST)->counters.multicast_receive_packets, 1);
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_drop_is_counted_once_where_it_happens),
		cmocka_unit_test(test_no_reason_is_left_out),
		cmocka_unit_test(test_filtered_raw_packets_are_constraint_errors),
		cmocka_unit_test(test_thresholds_count_and_tell),
		cmocka_unit_test(test_switch_may_have_254_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
