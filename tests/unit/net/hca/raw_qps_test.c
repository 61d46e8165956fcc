/* SPDX-License-Identifier: Apache-2.0 */
/* One raw queue pair of each kind per port, and which queue pair gets a port's raw packets
 * (transport 9.4). */
#include "net/hca/raw_qps.h"

#include <errno.h>
#include <string.h>
#include "net/hca/multicast.h"
#include "adapter_pair.h"

static struct adapter_pair pair;
static struct protection_domain *pd;
static struct cq *cq;
static uint8_t bytes[64] = {0x60, [5] = 24};

static struct hca *hca(void)
{
	return &pair.adapters[0].hca;
}

static void set_up_adapter(void)
{
	adapter_pair_init(&pair);
	assert_int_equal(hca_pd_alloc(hca(), &pd), 0);
	assert_int_equal(cq_create(hca(), 16, NULL, &cq), 0);
}

static void tear_down_adapter(void)
{
	assert_int_equal(cq_destroy(cq), 0);
	assert_int_equal(hca_pd_dealloc(hca(), pd), 0);
	adapter_pair_release(&pair);
}

static int make(enum qp_type type, uint8_t port_number, struct qp_object **ret_object)
{
	const struct qp_options options = {
		.type = type,
		.pd = pd,
		.send_cq = cq,
		.receive_cq = cq,
		.port_number = port_number,
		.capabilities = {4, 4, 1, 1, 0},
	};

	return qp_object_create(hca(), &options, ret_object);
}

static int move(struct qp_object *object, enum qp_state to)
{
	const struct qp_attributes attributes = {.state = to};

	return qp_object_modify(object, 0, &attributes, QP_HAS_STATE);
}

static void deliver(enum packet_kind kind, uint8_t port_number)
{
	struct packet packet = {.kind = (uint8_t)kind, .lrh = {.slid = 9}, .packet_count = 1};

	packet_set_payload(&packet, bytes, sizeof(bytes));
	hca_receive_raw(hca(), 0, port_number, &packet);
}

static void test_a_port_has_one_of_each_kind(void **state)
{
	struct qp_object *ipv6, *ethertype, *other;

	(void)state;
	set_up_adapter();
	assert_int_equal(make(QP_RAW_IPV6, 1, &ipv6), 0);
	assert_int_equal(make(QP_RAW_IPV6, 1, &other), -EBUSY);
	assert_int_equal(make(QP_RAW_ETHERTYPE, 1, &ethertype), 0);
	assert_int_equal(make(QP_RAW_ETHERTYPE, 1, &other), -EBUSY);
	assert_int_equal(qp_object_destroy(ipv6), 0);
	assert_int_equal(make(QP_RAW_IPV6, 1, &ipv6), 0);
	assert_int_equal(qp_object_destroy(ipv6), 0);
	assert_int_equal(qp_object_destroy(ethertype), 0);
	tear_down_adapter();
}

static void test_only_raw_ones_are_made_for_a_port(void **state)
{
	struct qp_object *object;

	(void)state;
	set_up_adapter();
	assert_int_equal(make(QP_RAW_IPV6, 0, &object), -EINVAL);
	assert_int_equal(make(QP_RAW_IPV6, 2, &object), -EINVAL);
	assert_int_equal(make(QP_RAW_IPV6, 255, &object), -EINVAL);
	assert_int_equal(make(QP_UD, 1, &object), -EINVAL);
	assert_int_equal(make(QP_RC, 1, &object), -EINVAL);
	assert_int_equal(hca()->qp_count, 0);
	tear_down_adapter();
}

static void test_its_port_is_no_attribute(void **state)
{
	struct qp_attributes attributes = {.state = QP_INIT, .port_number = 2};
	struct qp_object *object;

	(void)state;
	set_up_adapter();
	assert_int_equal(make(QP_RAW_ETHERTYPE, 1, &object), 0);
	assert_int_equal(qp_object_modify(object, 0, &attributes, QP_HAS_STATE | QP_HAS_PORT),
			 -EINVAL);
	assert_int_equal(move(object, QP_INIT), 0);
	qp_query(&object->qp, &attributes);
	assert_int_equal(attributes.port_number, 1);
	/* And naming the right one does no harm. */
	assert_int_equal(move(object, QP_RESET), 0);
	attributes = (struct qp_attributes){.state = QP_INIT, .port_number = 1};
	assert_int_equal(qp_object_modify(object, 0, &attributes, QP_HAS_STATE | QP_HAS_PORT), 0);
	assert_int_equal(move(object, QP_RTR), 0);
	assert_int_equal(move(object, QP_RTS), 0);
	assert_int_equal(qp_object_destroy(object), 0);
	tear_down_adapter();
}

static void test_packets_go_to_the_queue_pair_of_their_kind(void **state)
{
	struct receive_request request = {.wr_id = 1};
	struct qp_object *object;
	struct region *region;
	struct sge sge;
	static uint8_t inbox[64];

	(void)state;
	set_up_adapter();
	assert_int_equal(region_register(&hca()->memory, pd, inbox, sizeof(inbox), (uintptr_t)inbox,
					 ACCESS_LOCAL_WRITE, &region),
			 0);
	sge = (struct sge){(uintptr_t)inbox, sizeof(inbox), region->key};
	request.sges = &sge;
	request.sge_count = 1;
	assert_int_equal(make(QP_RAW_IPV6, 1, &object), 0);
	assert_int_equal(move(object, QP_INIT), 0);
	assert_int_equal(qp_object_post_receive(object, 0, &request), 0);
	assert_int_equal(move(object, QP_RTR), 0);
	deliver(PACKET_RAW_ETHERTYPE, 1);
	assert_int_equal(hca()->drops[HCA_DROP_NO_RAW_QP], 1);
	deliver(PACKET_RAW_IPV6, 0);
	deliver(PACKET_RAW_IPV6, 2);
	assert_int_equal(hca()->drops[HCA_DROP_NO_SUCH_PORT], 2);
	assert_null(cq_first(cq));
	deliver(PACKET_RAW_IPV6, 1);
	assert_non_null(cq_first(cq));
	assert_int_equal(cq_first(cq)->qpn, object->qp.qpn);
	assert_memory_equal(inbox, bytes, sizeof(bytes));
	assert_int_equal(qp_object_destroy(object), 0);
	deliver(PACKET_RAW_IPV6, 1);
	assert_int_equal(hca()->drops[HCA_DROP_NO_RAW_QP], 2);
	assert_int_equal(region_deregister(&hca()->memory, region), 0);
	tear_down_adapter();
}

static void deliver_to_group(enum packet_kind kind, uint16_t lid, const struct gid *gid)
{
	struct packet packet = {
		.kind = (uint8_t)kind, .lrh = {.slid = 9, .dlid = lid}, .packet_count = 1};
	uint8_t content[sizeof(bytes)];

	memcpy(content, bytes, sizeof(content));
	memcpy(content + 24, gid->bytes, sizeof(gid->bytes));
	packet_set_payload(&packet, content, sizeof(content));
	hca_receive_raw(hca(), 0, 1, &packet);
}

static unsigned completions(void)
{
	unsigned count = 0;

	for (; cq_first(cq); cq_advance(cq))
		count++;
	return count;
}

/* A group is a GID and a LID; a raw EtherType packet shows the LID only. */
static void group_packets_reach_who_is_attached(enum qp_type type, enum packet_kind kind)
{
	static const struct gid group = {{0xff, 0x12, [15] = 7}}, other = {{0xff, 0x12, [15] = 8}};
	static const struct gid unicast = {{0xfe, 0x80, [15] = 7}};
	struct receive_request request = {.wr_id = 1};
	struct qp_object *object;
	uint64_t *drops = &hca()->drops[HCA_DROP_MULTICAST_NOT_ATTACHED];
	struct region *region;
	struct sge sge;
	static uint8_t inbox[64];

	assert_int_equal(region_register(&hca()->memory, pd, inbox, sizeof(inbox), (uintptr_t)inbox,
					 ACCESS_LOCAL_WRITE, &region),
			 0);
	sge = (struct sge){(uintptr_t)inbox, sizeof(inbox), region->key};
	request.sges = &sge;
	request.sge_count = 1;
	assert_int_equal(make(type, 1, &object), 0);
	assert_int_equal(move(object, QP_INIT), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(qp_object_post_receive(object, 0, &request), 0);
	assert_int_equal(move(object, QP_RTR), 0);
	*drops = 0;
	deliver_to_group(kind, 0xc001, &group);
	assert_int_equal(*drops, 1);
	assert_int_equal(multicast_attach(object, &unicast, 0xc001), -EINVAL);
	assert_int_equal(multicast_attach(object, &group, 7), -EINVAL);
	assert_int_equal(multicast_attach(object, &group, 0xc001), 0);
	deliver_to_group(kind, 0xc001, &group);
	assert_int_equal(completions(), 1);
	deliver_to_group(kind, 0xc002, &group);
	assert_int_equal(*drops, 2);
	deliver_to_group(kind, 0xc001, &other);
	assert_int_equal(completions(), kind == PACKET_RAW_ETHERTYPE ? 1 : 0);
	/* Attached or not, packets for the port itself arrive. */
	deliver_to_group(kind, 9, &group);
	assert_int_equal(completions(), 1);
	assert_int_equal(qp_object_destroy(object), -EBUSY);
	assert_int_equal(multicast_detach(object, &group, 0xc001), 0);
	assert_int_equal(multicast_detach(object, &group, 0xc001), -EINVAL);
	*drops = 0;
	deliver_to_group(kind, 0xc001, &group);
	assert_int_equal(*drops, 1);
	assert_int_equal(qp_object_destroy(object), 0);
	assert_int_equal(region_deregister(&hca()->memory, region), 0);
}

static void test_packets_to_a_group_reach_who_is_attached(void **state)
{
	(void)state;
	set_up_adapter();
	group_packets_reach_who_is_attached(QP_RAW_IPV6, PACKET_RAW_IPV6);
	group_packets_reach_who_is_attached(QP_RAW_ETHERTYPE, PACKET_RAW_ETHERTYPE);
	tear_down_adapter();
}

/* A datagram for a group to which only a raw queue pair is attached is dropped. */
static void test_a_raw_member_gets_no_datagrams(void **state)
{
	static const struct gid group = {{0xff, 0x12, [15] = 7}};
	struct packet packet = {.lrh = {.slid = 9, .dlid = 0xc001},
				.has_grh = true,
				.grh = {.dgid = group},
				.packet_count = 1};
	struct qp_object *object;

	(void)state;
	set_up_adapter();
	assert_int_equal(make(QP_RAW_IPV6, 1, &object), 0);
	assert_int_equal(move(object, QP_INIT), 0);
	assert_int_equal(multicast_attach(object, &group, 0xc001), 0);
	assert_false(multicast_receive(hca(), 0, 1, &packet));
	assert_int_equal(multicast_detach(object, &group, 0xc001), 0);
	assert_int_equal(qp_object_destroy(object), 0);
	tear_down_adapter();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_port_has_one_of_each_kind),
		cmocka_unit_test(test_only_raw_ones_are_made_for_a_port),
		cmocka_unit_test(test_its_port_is_no_attribute),
		cmocka_unit_test(test_packets_go_to_the_queue_pair_of_their_kind),
		cmocka_unit_test(test_packets_to_a_group_reach_who_is_attached),
		cmocka_unit_test(test_a_raw_member_gets_no_datagrams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
