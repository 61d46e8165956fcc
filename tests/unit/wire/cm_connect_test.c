/* SPDX-License-Identifier: Apache-2.0 */
/* REQ, MRA, REJ, REP, RTU: real hardware's messages, literal bytes, and the properties of every
 * field table (management 7.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "vectors/attribute_checks.h"
#include "vectors/vector_file.h"
#include "wire/cm_connect.h"
#include "wire/packet.h"

enum { CAPTURED_REQ = 7, CAPTURED_REP = 8, CAPTURED_RTU = 9 };

static unsigned wanted;
static uint8_t found[MAD_BYTES];

static void take_wanted(struct vector *vector)
{
	struct packet packet;

	if (vector->number != wanted)
		return;
	assert_int_equal(packet_decode(vector->bytes, vector->byte_count - ICRC_BYTES - VCRC_BYTES,
				       1, &packet),
			 PACKET_OK);
	assert_int_equal(packet.payload.byte_count, MAD_BYTES);
	payload_copy(&packet.payload, 0, MAD_BYTES, found);
}

/* The data of a message in the capture of real hardware. */
static const uint8_t *captured(unsigned number, uint16_t attribute_id)
{
	struct mad_header header;

	wanted = number;
	assert_true(vector_file_each(VECTORS "/captured_packets.txt", take_wanted) > 0);
	assert_true(mad_header_decode(found, MAD_BYTES, &header));
	assert_int_equal(header.management_class, MAD_CLASS_COMMUNICATION);
	assert_int_equal(header.class_version, CM_CLASS_VERSION);
	assert_int_equal(header.method, MAD_SEND);
	assert_int_equal(header.attribute_id, attribute_id);
	return found + CM_DATA_OFFSET;
}

/* The values that Wireshark shows for the same packet. */
static void test_captured_req_reads_as_wireshark_reads_it(void **state)
{
	(void)state;
	const uint8_t *data = captured(CAPTURED_REQ, CM_REQ);
	uint8_t again[CM_REQ_PRIVATE_OFFSET];
	struct cm_request request;

	cm_request_decode(data, &request);
	assert_int_equal(request.req.local_comm_id, 0xe9488627);
	assert_true(request.req.service_id == 0x1000000000000404);
	assert_true(request.req.local_ca_guid == 0x0002c9020024f634);
	assert_int_equal(request.req.local_qpn, 0x870408);
	assert_int_equal(request.req.responder_resources, 4);
	assert_int_equal(request.req.remote_response_timeout, 0x14);
	assert_int_equal(request.req.transport, CM_TRANSPORT_RC);
	assert_int_equal(request.req.local_response_timeout, 0x14);
	assert_int_equal(request.req.pkey, 0xffff);
	assert_int_equal(request.req.path_mtu, 4);
	assert_int_equal(request.req.max_cm_retries, 15);
	assert_int_equal(request.req.srq, 1);
	assert_int_equal(request.primary.local_lid, 4);
	assert_int_equal(request.primary.remote_lid, 1);
	assert_true(request.primary.local_gid_guid == 0x0002c9020024f636);
	assert_true(request.primary.remote_gid_guid == 0x0002c9020020b4dd);
	assert_int_equal(request.primary.subnet_local, 1);
	assert_int_equal(request.primary.ack_timeout, 0x13);
	assert_true(cm_path_is_given(&request.primary));
	assert_false(cm_path_is_given(&request.alternate));
	cm_request_encode(&request, again);
	assert_memory_equal(again, data, sizeof(again));
}

static void test_captured_rep_and_rtu_answer_the_captured_req(void **state)
{
	(void)state;
	uint8_t again[CM_REP_PRIVATE_OFFSET];
	const uint8_t *data = captured(CAPTURED_REP, CM_REP);
	struct cm_rep rep;
	struct cm_rtu rtu;

	cm_rep_decode(data, &rep);
	assert_int_equal(rep.local_comm_id, 0xf9024539);
	assert_int_equal(rep.remote_comm_id, 0xe9488627);
	assert_int_equal(rep.local_qpn, 0xfc0407);
	assert_int_equal(rep.starting_psn, 0xd40a55);
	assert_int_equal(rep.target_ack_delay, 15);
	assert_int_equal(rep.failover, CM_FAILOVER_ACCEPTED);
	assert_int_equal(rep.srq, 1);
	assert_true(rep.local_ca_guid == 0x0002c9020020b4dc);
	cm_rep_encode(&rep, again);
	assert_memory_equal(again, data, sizeof(again));
	cm_rtu_decode(captured(CAPTURED_RTU, CM_RTU), &rtu);
	assert_int_equal(rtu.local_comm_id, 0xe9488627);
	assert_int_equal(rtu.remote_comm_id, 0xf9024539);
}

static void test_rej_and_mra_lie_where_the_tables_put_them(void **state)
{
	(void)state;
	const struct cm_rej rej = {.local_comm_id = 0x01020304,
				   .remote_comm_id = 0x05060708,
				   .answered = CM_ANSWERED_REP,
				   .info_bytes = 8,
				   .reason = CM_REJECT_TIMEOUT};
	const struct cm_mra mra = {.answered = CM_ANSWERED_OTHER, .service_timeout = 0x18};
	const uint8_t expected_rej[CM_REJ_INFO_OFFSET] = {1, 2, 3, 4, 5, 6, 7, 8, 0x40, 0x10, 0, 4};
	uint8_t bytes[CM_REJ_INFO_OFFSET];

	cm_rej_encode(&rej, bytes);
	assert_memory_equal(bytes, expected_rej, sizeof(bytes));
	cm_mra_encode(&mra, bytes);
	assert_int_equal(bytes[8], 0x80);
	assert_int_equal(bytes[9], 0xc0);
}

static void test_vendor_id_of_a_rep_lies_in_three_pieces(void **state)
{
	(void)state;
	const struct cm_rep rep = {
		.vendor_id_high = 0xaa, .vendor_id_middle = 0xbb, .vendor_id_low = 0xcc};
	uint8_t bytes[CM_REP_PRIVATE_OFFSET];

	cm_rep_encode(&rep, bytes);
	assert_int_equal(bytes[15], 0xaa);
	assert_int_equal(bytes[19], 0xbb);
	assert_int_equal(bytes[23], 0xcc);
}

static void test_any_bytes_round_trip(void **state)
{
	(void)state;
	const struct attribute_layout *const layouts[] = {&cm_path_layout, &cm_req_layout,
							  &cm_mra_layout,  &cm_rej_layout,
							  &cm_rep_layout,  &cm_rtu_layout};

	for (unsigned index = 0; index < ARRAY_COUNT(layouts); index++) {
		expect_fields_apart(layouts[index]);
		expect_round_trips(layouts[index], 70 + index);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_captured_req_reads_as_wireshark_reads_it),
		cmocka_unit_test(test_captured_rep_and_rtu_answer_the_captured_req),
		cmocka_unit_test(test_rej_and_mra_lie_where_the_tables_put_them),
		cmocka_unit_test(test_vendor_id_of_a_rep_lies_in_three_pieces),
		cmocka_unit_test(test_any_bytes_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
