/* SPDX-License-Identifier: Apache-2.0 */
/* Tag matching: which buffer a message gets, synchronisation after unexpected ones, rendezvous. */
#include <errno.h>
#include "adapter_pair.h"

enum { TAGS = 4, OUTBOX_BYTES = 256, ORDINARY_WR_ID = 500 };

static struct adapter_pair pair;

/* Adapter 1 matches tags, adapter 0 sends. */
static struct hca *hca;
static struct protection_domain *pd, *sender_pd;
static struct cq *cq, *sender_cq;
static struct srq *srq;
static struct qp_object *receiver, *sender;
static struct region *region, *sender_region;
static uint8_t inbox[TAGS][64], ordinary[128], outbox[OUTBOX_BYTES], sender_inbox[64];

static struct region *make_region(struct hca *owner, struct protection_domain *domain, void *bytes,
				  size_t byte_count)
{
	const uint32_t access = ACCESS_LOCAL_WRITE | ACCESS_REMOTE_READ;
	struct region *made;

	assert_int_equal(region_register(&owner->memory, domain, bytes, byte_count,
					 (uintptr_t)bytes, access, &made),
			 0);
	return made;
}

static struct region *ordinary_region, *sender_inbox_region;

static void begin(void)
{
	adapter_pair_init(&pair);
	memset(inbox, 0, sizeof(inbox));
	memset(ordinary, 0, sizeof(ordinary));
	hca = &pair.adapters[1].hca;
	assert_int_equal(hca_pd_alloc(hca, &pd), 0);
	assert_int_equal(hca_pd_alloc(&pair.adapters[0].hca, &sender_pd), 0);
	assert_int_equal(cq_create(hca, 64, NULL, &cq), 0);
	assert_int_equal(cq_create(&pair.adapters[0].hca, 64, NULL, &sender_cq), 0);
	assert_int_equal(srq_create(hca, pd, 8, 1, 0, NULL, &srq), 0);
	assert_int_equal(srq_match_tags(srq, TAGS, cq), 0);
	region = make_region(hca, pd, inbox, sizeof(inbox));
	ordinary_region = make_region(hca, pd, ordinary, sizeof(ordinary));
	sender_region = make_region(&pair.adapters[0].hca, sender_pd, outbox, sizeof(outbox));
	sender_inbox_region =
		make_region(&pair.adapters[0].hca, sender_pd, sender_inbox, sizeof(sender_inbox));

	const struct qp_options options = {
		.type = QP_RC, .pd = pd, .send_cq = cq, .receive_cq = cq, .srq = srq};

	/* Rendezvous works even for a consumer that has no send queue. */
	assert_int_equal(qp_object_create(hca, &options, &receiver), 0);
	sender = make_qp(&pair.adapters[0].hca, QP_RC, sender_pd, sender_cq, NULL);
	connect_rc(&pair, sender, FIRST_LID + 1, receiver->qp.qpn);
	connect_rc(&pair, receiver, FIRST_LID, sender->qp.qpn);
}

static void end(void)
{
	assert_int_equal(qp_object_destroy(sender), 0);
	assert_int_equal(qp_object_destroy(receiver), 0);
	assert_int_equal(cq_destroy(cq), -EBUSY);
	assert_int_equal(srq_destroy(srq), 0);
	assert_int_equal(cq_destroy(cq), 0);
	assert_int_equal(cq_destroy(sender_cq), 0);
	assert_int_equal(region_deregister(&hca->memory, region), 0);
	assert_int_equal(region_deregister(&hca->memory, ordinary_region), 0);
	assert_int_equal(region_deregister(&pair.adapters[0].hca.memory, sender_region), 0);
	assert_int_equal(region_deregister(&pair.adapters[0].hca.memory, sender_inbox_region), 0);
	assert_int_equal(hca_pd_dealloc(hca, pd), 0);
	assert_int_equal(hca_pd_dealloc(&pair.adapters[0].hca, sender_pd), 0);
	adapter_pair_release(&pair);
}

static uint32_t add(unsigned number, uint64_t tag, uint64_t mask)
{
	const struct tag_operation operation = {
		.kind = TAG_ADD,
		.wr_id = 100 + number,
		.is_signaled = true,
		.tag = tag,
		.mask = mask,
		.receive_wr_id = number,
		.sge_count = 1,
		.sge = {(uintptr_t)inbox[number], sizeof(inbox[number]), region->key},
	};
	uint32_t handle = 0;

	assert_int_equal(srq_post_tag(srq, pair.now, &operation, &handle), 0);
	assert_int_not_equal(handle, 0);
	return handle;
}

static void synchronise(uint32_t unexpected_count)
{
	const struct tag_operation operation = {
		.kind = TAG_SYNC, .is_signaled = true, .unexpected_count = unexpected_count};

	assert_int_equal(srq_post_tag(srq, pair.now, &operation, NULL), 0);
}

static struct completion next(struct cq *from)
{
	const struct completion *first = cq_first(from);

	assert_non_null(first);

	struct completion completion = *first;

	cq_advance(from);
	return completion;
}

static void post_ordinary(void)
{
	const struct sge sge = {(uintptr_t)ordinary, sizeof(ordinary), ordinary_region->key};

	assert_int_equal(srq_post(srq, &(struct receive_request){ORDINARY_WR_ID, 1, &sge}), 0);
}

static void send_bytes(uint32_t byte_count)
{
	const struct sge sge = {(uintptr_t)outbox, byte_count, sender_region->key};
	const struct send_request request = {.opcode = SEND_SEND, .sge_count = 1, .sges = &sge};

	assert_int_equal(qp_object_post_send(sender, pair.now, &request), 0);
	carry_packets(&pair);
	assert_int_equal(next(sender_cq).status, COMPLETION_SUCCESS);
}

static void send_tagged(enum tag_message message, uint64_t tag)
{
	const struct tag_header header = {.message = (uint8_t)message, .context = 77, .tag = tag};

	tag_header_encode(&header, outbox);
	memset(outbox + TAG_HEADER_BYTES, 0xab, 32);
	send_bytes(TAG_HEADER_BYTES + 32);
}

static void expect(unsigned opcode, unsigned flags, uint64_t wr_id, uint64_t tag)
{
	const struct completion completion = next(cq);

	assert_int_equal(completion.status, COMPLETION_SUCCESS);
	assert_int_equal(completion.opcode, opcode);
	assert_int_equal(completion.flags, flags);
	assert_int_equal(completion.wr_id, wr_id);
	assert_int_equal(completion.tag, tag);
}

static const unsigned whole_match = COMPLETION_TAG_MATCHED | COMPLETION_TAG_DATA_VALID;

static void
test_an_eager_message_goes_to_the_first_tag_that_matches_without_its_header(void **state)
{
	(void)state;
	begin();
	add(0, 0x10, UINT64_MAX);
	add(1, 0x21, 0xf0); /* any 0x2? */
	add(2, 0x22, UINT64_MAX);
	for (unsigned i = 0; i < 3; i++)
		expect(COMPLETED_TAG_ADD, 0, 100 + i, 0);
	/* No ordinary request is needed. */
	send_tagged(TAG_EAGER, 0x22);
	expect(COMPLETED_TAG_RECEIVE, whole_match, 1, 0x22);
	assert_int_equal(inbox[1][0], 0xab);
	assert_int_equal(inbox[1][31], 0xab);
	assert_int_equal(inbox[1][32], 0);
	/* A tag is used once. */
	send_tagged(TAG_EAGER, 0x22);
	expect(COMPLETED_TAG_RECEIVE, whole_match, 2, 0x22);
	end();
}

static void test_tags_added_after_an_unexpected_message_wait_for_synchronisation(void **state)
{
	(void)state;
	begin();
	post_ordinary();
	post_ordinary();
	send_tagged(TAG_EAGER, 5);
	expect(COMPLETED_TAG_RECEIVE, 0, ORDINARY_WR_ID, 0);
	assert_int_equal(ordinary[0], TAG_EAGER); /* it holds the header */
	add(0, 5, UINT64_MAX);
	expect(COMPLETED_TAG_ADD, COMPLETION_NEEDS_TAG_SYNC, 100, 0);
	send_tagged(TAG_EAGER, 5);
	expect(COMPLETED_TAG_RECEIVE, 0, ORDINARY_WR_ID, 0);
	synchronise(1);
	expect(COMPLETED_TAG_SYNC, COMPLETION_NEEDS_TAG_SYNC, 0, 0);
	synchronise(2);
	expect(COMPLETED_TAG_SYNC, 0, 0, 0);
	send_tagged(TAG_EAGER, 5);
	expect(COMPLETED_TAG_RECEIVE, whole_match, 0, 5);
	end();
}

static void
test_a_message_without_a_tag_takes_an_ordinary_request_and_counts_as_nothing(void **state)
{
	(void)state;
	begin();
	add(0, 5, 0); /* would match any tag */
	expect(COMPLETED_TAG_ADD, 0, 100, 0);
	post_ordinary();
	post_ordinary();
	send_tagged(TAG_MESSAGE_NONE, 5);
	expect(COMPLETED_TAG_NONE, 0, ORDINARY_WR_ID, 0);
	/* Too short for a header. */
	send_bytes(TAG_HEADER_BYTES - 1);
	expect(COMPLETED_TAG_NONE, 0, ORDINARY_WR_ID, 0);
	assert_int_equal(srq->tags->unexpected_count, 0);
	end();
}

static void post_rendezvous(uint64_t tag, uint32_t rkey, uint32_t byte_count)
{
	const struct sge answer = {(uintptr_t)sender_inbox, sizeof(sender_inbox),
				   sender_inbox_region->key};
	const struct tag_header header = {.message = TAG_RENDEZVOUS, .context = 77, .tag = tag};

	assert_int_equal(qp_object_post_receive(sender, pair.now,
						&(struct receive_request){900, 1, &answer}),
			 0);
	tag_header_encode(&header, outbox);
	put_be64(outbox + 16, (uintptr_t)outbox + 64);
	put_be32(outbox + 24, rkey);
	put_be32(outbox + 28, byte_count);
	memset(outbox + 64, 0xcd, 64);
	send_bytes(TAG_HEADER_BYTES + RENDEZVOUS_HEADER_BYTES);
}

static void test_a_rendezvous_is_read_by_the_adapter_which_then_tells_the_sender(void **state)
{
	(void)state;
	begin();
	add(0, 5, UINT64_MAX);
	expect(COMPLETED_TAG_ADD, 0, 100, 0);
	post_rendezvous(5, sender_region->key, 60);
	expect(COMPLETED_TAG_RECEIVE, COMPLETION_TAG_MATCHED, 0, 5);
	expect(COMPLETED_TAG_RECEIVE, COMPLETION_TAG_DATA_VALID, 0, 0);
	assert_null(cq_first(cq)); /* none of the adapter's own requests */
	assert_int_equal(inbox[0][0], 0xcd);
	assert_int_equal(inbox[0][59], 0xcd);
	assert_int_equal(inbox[0][60], 0);

	const struct completion told = next(sender_cq);

	assert_int_equal(told.wr_id, 900);
	assert_int_equal(told.byte_count, TAG_HEADER_BYTES);

	const struct tag_header finished = tag_header_decode(sender_inbox);

	assert_int_equal(finished.message, TAG_FINISHED);
	assert_int_equal(finished.tag, 5);
	assert_int_equal(finished.context, 77);
	end();
}

static void test_a_rendezvous_larger_than_its_buffer_is_left_to_the_consumer(void **state)
{
	(void)state;
	begin();
	add(0, 5, UINT64_MAX);
	expect(COMPLETED_TAG_ADD, 0, 100, 0);
	post_rendezvous(5, sender_region->key, sizeof(inbox[0]) + 1);

	const struct completion completion = next(cq);

	/* The tag is used up, and both headers are in the place of the data. */
	assert_int_equal(completion.status, COMPLETION_RENDEZVOUS_INCOMPLETE);
	assert_int_equal(completion.wr_id, 0);
	assert_null(cq_first(cq));
	assert_memory_equal(inbox[0], outbox, TAG_HEADER_BYTES + RENDEZVOUS_HEADER_BYTES);
	assert_int_equal(srq->tags->entries[0].state, TAG_FREE);
	assert_int_equal(receiver->qp.state, QP_RTS);
	end();
}

static void test_a_rendezvous_with_a_bad_key_ends_with_the_status_of_the_read(void **state)
{
	(void)state;
	begin();
	add(0, 5, UINT64_MAX);
	expect(COMPLETED_TAG_ADD, 0, 100, 0);
	post_rendezvous(5, sender_region->key + 0x100000, 8);
	expect(COMPLETED_TAG_RECEIVE, COMPLETION_TAG_MATCHED, 0, 5);
	assert_int_equal(next(cq).status, COMPLETION_REMOTE_ACCESS);
	assert_int_equal(receiver->qp.state, QP_ERROR);
	assert_int_equal(srq->tags->entries[0].state, TAG_FREE);
	end();
}

static void test_a_deleted_tag_matches_no_more_and_a_used_one_cannot_be_deleted(void **state)
{
	(void)state;
	begin();

	uint32_t first = add(0, 5, UINT64_MAX);
	uint32_t second = add(1, 6, UINT64_MAX);
	struct tag_operation removal = {.kind = TAG_DELETE, .wr_id = 9, .handle = first};

	expect(COMPLETED_TAG_ADD, 0, 100, 0);
	expect(COMPLETED_TAG_ADD, 0, 101, 0);
	removal.is_signaled = true;
	assert_int_equal(srq_post_tag(srq, pair.now, &removal, NULL), 0);
	expect(COMPLETED_TAG_DELETE, 0, 9, 0);
	send_tagged(TAG_EAGER, 6);
	expect(COMPLETED_TAG_RECEIVE, whole_match, 1, 6);
	/* A new tag in the same slot does not respond to the old handle. */
	assert_int_not_equal(add(2, 7, UINT64_MAX), second);
	expect(COMPLETED_TAG_ADD, 0, 102, 0);
	removal.handle = second;
	assert_int_equal(srq_post_tag(srq, pair.now, &removal, NULL), 0);
	assert_int_equal(next(cq).status, COMPLETION_TAG_MATCHING);
	removal.handle = 0;
	assert_int_equal(srq_post_tag(srq, pair.now, &removal, NULL), -EINVAL);
	removal.handle = TAGS + 1;
	assert_int_equal(srq_post_tag(srq, pair.now, &removal, NULL), -EINVAL);
	end();
}

static void test_limits_and_wrong_kinds_are_refused(void **state)
{
	const struct tag_operation operation = {.kind = TAG_ADD, .mask = UINT64_MAX};
	const struct tag_operation two_sges = {.kind = TAG_ADD, .sge_count = 2};
	struct srq *plain;
	struct qp_object *object;
	uint32_t handle;

	(void)state;
	begin();
	for (unsigned i = 0; i < TAGS; i++)
		assert_int_equal(srq_post_tag(srq, 0, &operation, &handle), 0);
	assert_int_equal(srq_post_tag(srq, 0, &operation, &handle), -ENOMEM);
	assert_int_equal(srq_post_tag(srq, 0, &two_sges, &handle), -EINVAL);
	assert_int_equal(srq_create(hca, pd, 8, 1, 0, NULL, &plain), 0);
	assert_int_equal(srq_post_tag(plain, 0, &operation, &handle), -EINVAL);
	assert_int_equal(srq_match_tags(plain, 0, cq), -EINVAL);
	assert_int_equal(srq_match_tags(plain, TAGS_MAX + 1, cq), -EINVAL);
	assert_int_equal(srq_destroy(plain), 0);

	const struct qp_options datagram = {
		.type = QP_UD, .pd = pd, .send_cq = cq, .receive_cq = cq, .srq = srq};

	assert_int_equal(qp_object_create(hca, &datagram, &object), -EINVAL);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_an_eager_message_goes_to_the_first_tag_that_matches_without_its_header),
		cmocka_unit_test(
			test_tags_added_after_an_unexpected_message_wait_for_synchronisation),
		cmocka_unit_test(
			test_a_message_without_a_tag_takes_an_ordinary_request_and_counts_as_nothing),
		cmocka_unit_test(
			test_a_rendezvous_is_read_by_the_adapter_which_then_tells_the_sender),
		cmocka_unit_test(test_a_rendezvous_larger_than_its_buffer_is_left_to_the_consumer),
		cmocka_unit_test(test_a_rendezvous_with_a_bad_key_ends_with_the_status_of_the_read),
		cmocka_unit_test(
			test_a_deleted_tag_matches_no_more_and_a_used_one_cannot_be_deleted),
		cmocka_unit_test(test_limits_and_wrong_kinds_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
