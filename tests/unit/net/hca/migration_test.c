/* SPDX-License-Identifier: Apache-2.0 */
/* Path migration from one port of an adapter to the other (transport 4.9). */
#include "net/hca/hca.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "wire/mtu.h"
#include "wire/packet.h"

enum { PEER_LID = 9, PEER_SECOND_LID = 10 };

static struct hca hca;
static struct qp_object *object;
static struct cq *cq;
static struct protection_domain *pd;
static enum hca_event_type events[8];
static unsigned event_count;

static void collect(void *context, const struct hca_event *event)
{
	(void)context;
	assert_true(event_count < ARRAY_COUNT(events));
	events[event_count++] = event->type;
}

static void no_notify(void *context, struct cq *notified)
{
	(void)context;
	(void)notified;
}

static void modify(const struct qp_attributes *attributes, uint32_t mask)
{
	assert_int_equal(qp_object_modify(object, 0, attributes, mask), 0);
}

static void connect(void)
{
	struct qp_attributes attributes = {
		.state = QP_INIT,
		.port_number = 1,
		.address = {.dlid = PEER_LID, .port_number = 1},
		.path_mtu_code = MTU_256,
		.destination_qpn = 5,
		.path_migration = PATH_REARM,
		.alternate_address = {.dlid = PEER_SECOND_LID, .port_number = 2},
	};

	modify(&attributes, QP_HAS_STATE | QP_HAS_PKEY_INDEX | QP_HAS_PORT | QP_HAS_ACCESS);
	attributes.state = QP_RTR;
	modify(&attributes, QP_HAS_STATE | QP_HAS_ADDRESS | QP_HAS_PATH_MTU |
				    QP_HAS_DESTINATION_QPN | QP_HAS_RQ_PSN | QP_HAS_ALTERNATE_PATH);
	attributes.state = QP_RTS;
	modify(&attributes, QP_HAS_STATE | QP_HAS_SQ_PSN | QP_HAS_PATH_MIGRATION);
}

static void open_adapter(void)
{
	const struct hca_owner owner = {.event = collect, .cq_notify = no_notify};
	struct qp_options options = {
		.type = QP_UC,
		.capabilities = {4, 4, 1, 1, 0},
	};

	event_count = 0;
	assert_int_equal(hca_init(&hca, &hca_limits_default, &owner, 1, 2), 0);
	assert_int_equal(hca_add_qpns(&hca, 0x100, 8), 0);
	for (uint8_t number = 1; number <= 2; number++) {
		struct port_view view = {
			.number = number,
			.mtu_code = MTU_256,
			.lid = number,
			.pkey_count = 1,
			.gid_count = 1,
			.pkeys = {0xffff},
		};

		hca_port_update(&hca, &view, false);
	}
	assert_int_equal(hca_pd_alloc(&hca, &pd), 0);
	assert_int_equal(cq_create(&hca, 8, NULL, &cq), 0);
	options.pd = pd;
	options.send_cq = options.receive_cq = cq;
	assert_int_equal(qp_object_create(&hca, &options, &object), 0);
	connect();
}

static void close_adapter(void)
{
	assert_int_equal(qp_object_destroy(object), 0);
	assert_int_equal(cq_destroy(cq), 0);
	assert_int_equal(hca_pd_dealloc(&hca, pd), 0);
	hca_release(&hca);
}

static void receive_by(uint8_t port_number, uint16_t slid, bool is_migrated)
{
	struct packet packet = {
		.lrh = {.slid = slid, .dlid = port_number},
		.bth = {.opcode = TRANSPORT_UC | OPCODE_SEND_ONLY,
			.pkey = 0xffff,
			.migrated = is_migrated,
			.destination_qpn = object->qp.qpn},
		.packet_count = 1,
	};

	hca_receive(&hca, 0, port_number, &packet);
}

static void test_the_peer_s_migration_takes_a_queue_pair_to_the_other_port(void **state)
{
	(void)state;
	open_adapter();
	/* Not before it is armed. */
	receive_by(2, PEER_SECOND_LID, true);
	assert_int_equal(hca.drops[HCA_DROP_WRONG_PORT], 1);
	receive_by(1, PEER_LID, false);
	assert_int_equal(object->qp.attributes.path_migration, PATH_ARMED);
	receive_by(2, PEER_SECOND_LID, true);
	assert_int_equal(object->qp.port->number, 2);
	assert_int_equal(event_count, 1);
	assert_int_equal(events[0], HCA_EVENT_PATH_MIGRATED);
	/* And now the first port is the wrong one. */
	receive_by(1, PEER_LID, true);
	assert_int_equal(hca.drops[HCA_DROP_WRONG_PORT], 2);
	close_adapter();
}

static void test_a_wrong_request_to_migrate_is_an_event(void **state)
{
	(void)state;
	open_adapter();
	receive_by(1, PEER_LID, false);
	receive_by(2, PEER_LID, true);
	assert_int_equal(object->qp.port->number, 1);
	assert_int_equal(event_count, 1);
	assert_int_equal(events[0], HCA_EVENT_PATH_MIGRATION_ERROR);
	close_adapter();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_peer_s_migration_takes_a_queue_pair_to_the_other_port),
		cmocka_unit_test(test_a_wrong_request_to_migrate_is_an_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
