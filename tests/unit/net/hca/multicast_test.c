/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast groups: which queue pairs may attach, which get a copy, and what attaching keeps alive
 * (transport 7.7). */
#include <errno.h>
#include "adapter_pair.h"

enum { MULTICAST_LID = 0xc001, QKEY = 0x1234, QPN_OF_MULTICAST = 0xffffff, INBOX_BYTES = 64 };

static const struct gid group = {{0xff, 0x12, 0x40, 0x1b, [15] = 1}};
static const struct gid other_group = {{0xff, 0x12, 0x40, 0x1b, [15] = 2}};

static struct adapter_pair pair;
static struct hca *hca;
static struct protection_domain *pd;
static struct cq *cq;
static struct region *region;
static uint8_t inbox[INBOX_BYTES];

static void begin(void)
{
	adapter_pair_init(&pair);
	hca = &pair.adapters[0].hca;
	assert_int_equal(hca_pd_alloc(hca, &pd), 0);
	assert_int_equal(cq_create(hca, 64, NULL, &cq), 0);
	assert_int_equal(region_register(&hca->memory, pd, inbox, sizeof(inbox), (uintptr_t)inbox,
					 ACCESS_LOCAL_WRITE, &region),
			 0);
}

static void end(void)
{
	assert_int_equal(region_deregister(&hca->memory, region), 0);
	assert_int_equal(cq_destroy(cq), 0);
	assert_int_equal(hca_pd_dealloc(hca, pd), 0);
	adapter_pair_release(&pair);
}

/* A datagram queue pair in RTR, with this Q_Key and this many receive requests. */
static struct qp_object *make_receiver(uint32_t qkey, unsigned receive_count)
{
	struct qp_object *object = make_qp(hca, QP_UD, pd, cq, NULL);
	struct qp_attributes attributes = {.state = QP_INIT, .port_number = 1, .qkey = qkey};
	const struct sge sge = {(uintptr_t)inbox, sizeof(inbox), region->key};

	assert_int_equal(
		qp_object_modify(object, pair.now, &attributes,
				 QP_HAS_STATE | QP_HAS_PKEY_INDEX | QP_HAS_PORT | QP_HAS_QKEY),
		0);
	attributes.state = QP_RTR;
	assert_int_equal(qp_object_modify(object, pair.now, &attributes, QP_HAS_STATE), 0);
	for (unsigned i = 0; i < receive_count; i++)
		assert_int_equal(qp_object_post_receive(object, pair.now,
							&(struct receive_request){i, 1, &sge}),
				 0);
	return object;
}

static struct packet packet_to(const struct gid *gid)
{
	return (struct packet){
		.lrh = {.dlid = MULTICAST_LID, .slid = FIRST_LID + 1},
		.has_grh = true,
		.grh = {.dgid = *gid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = 0xffff,
			.destination_qpn = QPN_OF_MULTICAST},
		.deth = {.qkey = QKEY, .source_qpn = 5},
		.packet_count = 1,
	};
}

static unsigned copies(void)
{
	unsigned count = 0;

	for (; cq_first(cq); cq_advance(cq))
		count++;
	return count;
}

static void test_each_attached_qp_with_the_right_keys_gets_a_copy(void **state)
{
	struct qp_object *receivers[4];
	struct packet packet = packet_to(&group);

	(void)state;
	begin();
	receivers[0] = make_receiver(QKEY, 4);
	receivers[1] = make_receiver(QKEY, 4);
	receivers[2] = make_receiver(QKEY + 1, 4);
	receivers[3] = make_receiver(QKEY, 0); /* only its copy is dropped */
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(multicast_attach(receivers[i], &group, MULTICAST_LID), 0);
	hca_receive(hca, pair.now, 1, &packet);
	assert_int_equal(copies(), 2);
	packet.bth.pkey = 0x8001;
	hca_receive(hca, pair.now, 1, &packet);
	assert_int_equal(copies(), 0);
	assert_int_equal(hca->drops[HCA_DROP_MULTICAST_NOT_ATTACHED], 0);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(multicast_detach(receivers[i], &group, MULTICAST_LID), 0);
		assert_int_equal(qp_object_destroy(receivers[i]), 0);
	}
	end();
}

static void test_packets_of_other_groups_are_dropped_and_counted(void **state)
{
	struct packet packet = packet_to(&other_group);

	(void)state;
	begin();

	struct qp_object *receiver = make_receiver(QKEY, 4);

	assert_int_equal(multicast_attach(receiver, &group, MULTICAST_LID), 0);
	hca_receive(hca, pair.now, 1, &packet);
	packet = packet_to(&group);
	packet.lrh.dlid++;
	hca_receive(hca, pair.now, 1, &packet);
	packet = packet_to(&group);
	packet.has_grh = false;
	hca_receive(hca, pair.now, 1, &packet);
	assert_int_equal(copies(), 0);
	assert_int_equal(hca->drops[HCA_DROP_MULTICAST_NOT_ATTACHED], 3);
	multicast_detach_all(receiver);
	assert_int_equal(hca->multicast.group_count, 0);
	assert_int_equal(qp_object_destroy(receiver), 0);
	end();
}

static void test_attaching_twice_is_once_and_detaching_twice_an_error(void **state)
{
	struct packet packet = packet_to(&group);

	(void)state;
	begin();

	struct qp_object *receiver = make_receiver(QKEY, 4);

	assert_int_equal(multicast_attach(receiver, &group, MULTICAST_LID), 0);
	assert_int_equal(multicast_attach(receiver, &group, MULTICAST_LID), 0);
	hca_receive(hca, pair.now, 1, &packet);
	assert_int_equal(copies(), 1);
	assert_int_equal(qp_object_destroy(receiver), -EBUSY);
	assert_int_equal(multicast_detach(receiver, &group, MULTICAST_LID), 0);
	assert_int_equal(multicast_detach(receiver, &group, MULTICAST_LID), -EINVAL);
	assert_int_equal(qp_object_destroy(receiver), 0);
	end();
}

static void test_only_datagram_qps_and_multicast_addresses_are_taken(void **state)
{
	const struct gid unicast = {{0xfe, 0x80}};

	(void)state;
	begin();

	struct qp_object *connected = make_qp(hca, QP_RC, pd, cq, NULL);
	struct qp_object *datagram = make_qp(hca, QP_UD, pd, cq, NULL);

	assert_int_equal(multicast_attach(connected, &group, MULTICAST_LID), -EINVAL);
	assert_int_equal(multicast_attach(datagram, &unicast, MULTICAST_LID), -EINVAL);
	assert_int_equal(multicast_attach(datagram, &group, 0xbfff), -EINVAL);
	assert_int_equal(multicast_attach(datagram, &group, 0xffff), -EINVAL);
	assert_int_equal(multicast_attach(datagram, &group, 0xfffe), 0);
	multicast_detach_all(datagram);
	assert_int_equal(qp_object_destroy(connected), 0);
	assert_int_equal(qp_object_destroy(datagram), 0);
	end();
}

static void test_limits_of_groups_and_members_are_kept(void **state)
{
	(void)state;
	begin();
	hca->limits.multicast_groups_max = 1;
	hca->limits.multicast_members_max = 1;

	struct qp_object *first = make_qp(hca, QP_UD, pd, cq, NULL);
	struct qp_object *second = make_qp(hca, QP_UD, pd, cq, NULL);

	assert_int_equal(multicast_attach(first, &group, MULTICAST_LID), 0);
	assert_int_equal(multicast_attach(first, &other_group, MULTICAST_LID), -ENOMEM);
	assert_int_equal(multicast_attach(second, &group, MULTICAST_LID), -ENOMEM);
	hca->limits.multicast_groups_max = 2;
	hca->limits.multicast_total_members_max = 1;
	assert_int_equal(multicast_attach(first, &other_group, MULTICAST_LID), -ENOMEM);
	assert_int_equal(hca->multicast.group_count, 1);
	multicast_detach_all(first);
	assert_int_equal(qp_object_destroy(first), 0);
	assert_int_equal(qp_object_destroy(second), 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_attached_qp_with_the_right_keys_gets_a_copy),
		cmocka_unit_test(test_packets_of_other_groups_are_dropped_and_counted),
		cmocka_unit_test(test_attaching_twice_is_once_and_detaching_twice_an_error),
		cmocka_unit_test(test_only_datagram_qps_and_multicast_addresses_are_taken),
		cmocka_unit_test(test_limits_of_groups_and_members_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
