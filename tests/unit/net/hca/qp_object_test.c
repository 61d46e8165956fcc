/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs as objects: numbers, limits, the objects they use, and their memory (transport 7.4,
 * 10.4). */
#include <errno.h>
#include "adapter_pair.h"
#include "net/memory/window.h"

static struct adapter_pair pair;
static struct hca *hca;
static struct protection_domain *pd;
static struct cq *cq;

static void begin(void)
{
	adapter_pair_init(&pair);
	hca = &pair.adapters[0].hca;
	assert_int_equal(hca_pd_alloc(hca, &pd), 0);
	assert_int_equal(cq_create(hca, 64, NULL, &cq), 0);
}

static void end(void)
{
	assert_int_equal(cq_destroy(cq), 0);
	assert_int_equal(hca_pd_dealloc(hca, pd), 0);
	adapter_pair_release(&pair);
}

static void test_a_qp_holds_what_it_uses(void **state)
{
	struct srq *srq;

	(void)state;
	begin();
	assert_int_equal(srq_create(hca, pd, 4, 1, 0, NULL, &srq), 0);

	struct qp_object *object = make_qp(hca, QP_RC, pd, cq, srq);

	assert_ptr_equal(index_table_get(&hca->qps, object->qp.qpn), object);
	assert_int_equal(cq_destroy(cq), -EBUSY);
	assert_int_equal(srq_destroy(srq), -EBUSY);
	assert_int_equal(hca_pd_dealloc(hca, pd), -EBUSY);

	uint32_t qpn = object->qp.qpn;

	assert_int_equal(qp_object_destroy(object), 0);
	assert_null(index_table_get(&hca->qps, qpn));
	assert_int_equal(srq_destroy(srq), 0);
	end();
}

/* Only privileged consumers configure Q_Keys whose highest bit is set. */
static void test_controlled_qkey_needs_privilege(void **state)
{
	struct qp_attributes attributes = {.state = QP_INIT, .port_number = 1, .qkey = 0x7fffffff};
	uint32_t mask = QP_HAS_STATE | QP_HAS_PKEY_INDEX | QP_HAS_PORT | QP_HAS_QKEY;

	(void)state;
	begin();
	hca->is_unprivileged = true;

	struct qp_object *object = make_qp(hca, QP_UD, pd, cq, NULL);

	assert_int_equal(qp_object_modify(object, 0, &attributes, mask), 0);
	attributes.qkey = 0x80000000;
	assert_int_equal(qp_object_modify(object, 0, &attributes, QP_HAS_STATE | QP_HAS_QKEY),
			 -EPERM);
	assert_int_equal(object->qp.attributes.qkey, 0x7fffffff);
	hca->is_unprivileged = false;
	assert_int_equal(qp_object_modify(object, 0, &attributes, QP_HAS_STATE | QP_HAS_QKEY), 0);
	assert_int_equal(object->qp.attributes.qkey, 0x80000000);
	/* A queue pair that has it keeps it. */
	hca->is_unprivileged = true;
	attributes = (struct qp_attributes){.state = QP_RTR};
	assert_int_equal(qp_object_modify(object, 0, &attributes, QP_HAS_STATE), 0);
	assert_int_equal(qp_object_destroy(object), 0);
	end();
}

static void test_options_beyond_the_limits_are_refused(void **state)
{
	struct qp_object *object;

	(void)state;
	begin();

	const struct hca_limits *limits = &hca->limits;
	const struct qp_capabilities refused[] = {
		{limits->requests_max + 1, 1, 1, 1, 0},	    {1, limits->requests_max + 1, 1, 1, 0},
		{1, 1, limits->sges_max + 1, 1, 0},	    {1, 1, 1, limits->sges_max + 1, 0},
		{1, 1, 1, 1, limits->inline_bytes_max + 1},
	};

	for (unsigned i = 0; i < ARRAY_COUNT(refused); i++) {
		const struct qp_options options = {.type = QP_RC,
						   .pd = pd,
						   .send_cq = cq,
						   .receive_cq = cq,
						   .capabilities = refused[i]};

		assert_int_equal(qp_object_create(hca, &options, &object), -EINVAL);
	}
	assert_int_equal(
		qp_object_create(hca, &(struct qp_options){.type = QP_RC, .pd = pd}, &object),
		-EINVAL);
	assert_int_equal(hca->qp_count, 0);
	end();
}

static void test_the_greatest_options_are_given(void **state)
{
	struct qp_object *object;

	(void)state;
	begin();

	const struct hca_limits *limits = &hca->limits;
	const struct qp_options options = {
		.type = QP_RC,
		.pd = pd,
		.send_cq = cq,
		.receive_cq = cq,
		.capabilities = {limits->requests_max, limits->requests_max, limits->sges_max,
				 limits->sges_max, limits->inline_bytes_max},
	};

	assert_int_equal(qp_object_create(hca, &options, &object), 0);
	assert_true(object->qp.capabilities.send_requests_max >= limits->requests_max);
	assert_true(object->qp.capabilities.inline_bytes_max >= limits->inline_bytes_max);
	assert_int_equal(qp_object_destroy(object), 0);
	end();
}

static void test_room_of_sges_is_given_for_inline_bytes(void **state)
{
	struct qp_object *object;

	(void)state;
	begin();

	const struct qp_options options = {
		.type = QP_RC,
		.pd = pd,
		.send_cq = cq,
		.receive_cq = cq,
		.capabilities = {4, 4, 5, 5, 64},
	};

	assert_int_equal(qp_object_create(hca, &options, &object), 0);
	assert_true(object->qp.capabilities.inline_bytes_max > 64);
	assert_true(object->qp.capabilities.inline_bytes_max <= hca->limits.inline_bytes_max);
	assert_int_equal(qp_object_destroy(object), 0);
	end();
}

static void test_running_out_of_numbers_asks_for_more(void **state)
{
	enum { GIVEN = 1024 };
	static struct qp_object *objects[GIVEN + 1];
	const struct qp_options *options;

	(void)state;
	begin();
	options = &(struct qp_options){.type = QP_UD,
				       .pd = pd,
				       .send_cq = cq,
				       .receive_cq = cq,
				       .capabilities = {1, 1, 1, 1, 0}};
	for (unsigned i = 0; i < GIVEN; i++)
		assert_int_equal(qp_object_create(hca, options, &objects[i]), 0);
	assert_int_equal(qp_object_create(hca, options, &objects[GIVEN]), -EAGAIN);
	assert_int_equal(hca->qp_count, GIVEN);
	assert_int_equal(hca_add_qpns(hca, 0x8000, 1), 0);
	assert_int_equal(qp_object_create(hca, options, &objects[GIVEN]), 0);
	assert_int_equal(objects[GIVEN]->qp.qpn, 0x8000);
	for (unsigned i = 0; i <= GIVEN; i++)
		assert_int_equal(qp_object_destroy(objects[i]), 0);
	end();
}

static void test_an_idle_qp_is_small(void **state)
{
	/* With the public ibv_qp of 160 bytes and the entry that points to it, an idle queue pair
	 * stays within 1 KiB. */
	enum { PUBLIC_BYTES = 160 + 64, TABLE_BYTES = 8 + 8, ALLOCATOR_BYTES = 32 };

	(void)state;
	assert_true(sizeof(struct qp_object) + PUBLIC_BYTES + TABLE_BYTES + ALLOCATOR_BYTES <=
		    1024);
}

static void test_reset_and_destroy_take_unread_completions_along(void **state)
{
	(void)state;
	begin();

	struct qp_object *first = make_qp(hca, QP_RC, pd, cq, NULL);
	struct qp_object *second = make_qp(hca, QP_RC, pd, cq, NULL);

	assert_true(cq_push(cq, &(struct completion){.qpn = first->qp.qpn}));
	assert_true(cq_push(cq, &(struct completion){.qpn = second->qp.qpn}));
	assert_int_equal(qp_object_modify(first, pair.now,
					  &(struct qp_attributes){.state = QP_RESET}, QP_HAS_STATE),
			 0);
	assert_int_equal(cq_first(cq)->qpn, second->qp.qpn);
	assert_int_equal(qp_object_destroy(second), 0);
	assert_null(cq_first(cq));
	assert_int_equal(qp_object_destroy(first), 0);
	end();
}

/* The next queue pair may get its number (transport 7.3). */
static void test_windows_bound_through_a_qp_end_with_it(void **state)
{
	static uint8_t bytes[100];
	struct window *window;
	struct region *region;
	uint8_t *found;

	(void)state;
	begin();

	struct qp_object *object = make_qp(hca, QP_RC, pd, cq, NULL);
	uint32_t qpn = object->qp.qpn;

	assert_int_equal(region_register(&hca->memory, pd, bytes, sizeof(bytes), 0,
					 ACCESS_WINDOW_BIND, &region),
			 0);
	assert_int_equal(window_create(&hca->memory, pd, WINDOW_TYPE_2, &window), 0);

	const struct window_binding binding = {window->grant.key, region->key, 0, 100,
					       ACCESS_REMOTE_READ};

	assert_true(window_bind(&hca->memory, pd, qpn, &binding));
	assert_int_equal(qp_object_destroy(object), 0);
	assert_int_equal(memory_resolve_remote(&hca->memory, pd, qpn, binding.key, 0, 1,
					       ACCESS_REMOTE_READ, &found),
			 MEMORY_BAD_KEY);
	assert_int_equal(region_deregister(&hca->memory, region), 0);
	assert_int_equal(hca_pd_dealloc(hca, pd), -EBUSY);
	window_destroy(&hca->memory, window);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows_bound_through_a_qp_end_with_it),
		cmocka_unit_test(test_a_qp_holds_what_it_uses),
		cmocka_unit_test(test_controlled_qkey_needs_privilege),
		cmocka_unit_test(test_options_beyond_the_limits_are_refused),
		cmocka_unit_test(test_the_greatest_options_are_given),
		cmocka_unit_test(test_room_of_sges_is_given_for_inline_bytes),
		cmocka_unit_test(test_running_out_of_numbers_asks_for_more),
		cmocka_unit_test(test_an_idle_qp_is_small),
		cmocka_unit_test(test_reset_and_destroy_take_unread_completions_along),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
