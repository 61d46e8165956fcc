/* SPDX-License-Identifier: Apache-2.0 */
/* Which transfer a MAD belongs to, and which transfer is dropped when there are too many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "mgmt/mad/rmpp_transfer.h"

static struct rmpp rmpp;
static const struct mad_address peer = {.lid = 3, .qpn = 1};

static int setup(void **state)
{
	(void)state;
	const struct rmpp_options options = {.transfers_max = 2};

	return rmpp_init(&rmpp, &options);
}

static int teardown(void **state)
{
	(void)state;
	rmpp_release(&rmpp);
	return 0;
}

static struct mad_message make(uint8_t method, uint8_t transaction_id)
{
	return (struct mad_message){.address = peer,
				    .bytes = {1, 3, 2, method, [15] = transaction_id}};
}

static struct rmpp_transfer *add(uint8_t method, uint8_t transaction_id)
{
	struct mad_message mad = make(method, transaction_id);
	const struct rmpp_receiver_options options = {
		.window = 1, .byte_count_max = 1000, .total_timeout = SECONDS(1)};
	struct rmpp_transfer *transfer = rmpp_transfer_new(&rmpp, RMPP_RECEIVES, &peer, mad.bytes);

	if (transfer)
		rmpp_receiver_begin(&transfer->receiver, &options, 0, &mad);
	return transfer;
}

/* Changes each header byte and each part of the address that belongs to the key. */
static void test_transfer_is_found_by_all_of_its_key(void **state)
{
	(void)state;
	static const uint8_t key_bytes[] = {1, 2, 8, 15};
	struct rmpp_transfer *transfer = add(0x92, 7);
	struct mad_message mad = make(0x92, 7);
	struct mad_address other = peer;

	assert_ptr_equal(rmpp_transfer_find(&rmpp, RMPP_RECEIVES, &peer, mad.bytes, 0x92),
			 transfer);
	assert_null(rmpp_transfer_find(&rmpp, RMPP_SENDS, &peer, mad.bytes, 0x92));
	assert_null(rmpp_transfer_find(&rmpp, RMPP_RECEIVES, &peer, mad.bytes, 0x12));
	for (unsigned i = 0; i < sizeof(key_bytes); i++) {
		mad = make(0x92, 7);
		mad.bytes[key_bytes[i]] ^= 1;
		assert_null(rmpp_transfer_find(&rmpp, RMPP_RECEIVES, &peer, mad.bytes, 0x92));
	}
	mad = make(0x92, 7);
	other.lid = 4;
	assert_null(rmpp_transfer_find(&rmpp, RMPP_RECEIVES, &other, mad.bytes, 0x92));
	other = peer;
	other.qpn = 2;
	assert_null(rmpp_transfer_find(&rmpp, RMPP_RECEIVES, &other, mad.bytes, 0x92));
}

static void test_peers_with_a_grh_differ_by_their_gid(void **state)
{
	(void)state;
	struct rmpp_transfer *transfer = add(0x92, 7);
	struct mad_message mad = make(0x92, 7);
	struct mad_address other = peer;

	transfer->address.has_grh = true;
	transfer->address.gid.bytes[15] = 1;
	other.has_grh = true;
	other.gid.bytes[15] = 2;
	assert_null(rmpp_transfer_find(&rmpp, RMPP_RECEIVES, &other, mad.bytes, 0x92));
	other.gid.bytes[15] = 1;
	assert_ptr_equal(rmpp_transfer_find(&rmpp, RMPP_RECEIVES, &other, mad.bytes, 0x92),
			 transfer);
}

static void test_only_what_is_kept_makes_way(void **state)
{
	(void)state;
	struct rmpp_transfer *first = add(0x92, 1);
	struct mad_message mad = make(0x92, 1);

	assert_non_null(first);
	assert_non_null(add(0x92, 2));
	assert_null(add(0x92, 3));
	rmpp_transfer_keep(&rmpp, first, 0);
	assert_non_null(add(0x92, 3));
	assert_null(rmpp_transfer_find(&rmpp, RMPP_RECEIVES, &peer, mad.bytes, 0x92));
	assert_int_equal(rmpp.transfer_count, 2);
}

static void test_kept_transfer_ends_with_its_time(void **state)
{
	(void)state;
	struct rmpp_transfer *transfer = add(0x92, 1);
	struct mad_message out;

	transfer->receiver.state = RMPP_RECEIVER_DONE;
	rmpp_transfer_keep(&rmpp, transfer, SECONDS(1));
	rmpp_transfer_schedule(&rmpp, transfer);
	assert_int_equal(rmpp_deadline(&rmpp), SECONDS(1) + RMPP_KEPT_DEFAULT);
	assert_int_equal(rmpp_transmit(&rmpp, SECONDS(1) + RMPP_KEPT_DEFAULT, 1, &out), 0);
	assert_int_equal(rmpp.transfer_count, 0);
}

#define transfer_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		transfer_test(test_transfer_is_found_by_all_of_its_key),
		transfer_test(test_peers_with_a_grh_differ_by_their_gid),
		transfer_test(test_only_what_is_kept_makes_way),
		transfer_test(test_kept_transfer_ends_with_its_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
