/* SPDX-License-Identifier: Apache-2.0 */
/* SENDs from and to registered memory that the program has unmapped: there is no fault, nothing
 * wrong is sent, and no other message is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sys/mman.h>
#include "runtime/memory/memory_guard.h"
#include "unit/runtime/burst_paths.h"
#include "wire/packet.h"

enum { PAGE_BYTES = 4096, UNMAPPED = PATHS_HALF - 2 /* the number of a message */ };

/* A registered page of one end. */
struct page {
	uint8_t *bytes;
	struct memory *memory;
	struct region *region;
};

static struct page page_of(const struct pair_end *end, uint32_t access)
{
	struct page page = {
		.bytes = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			      -1, 0),
		.memory = &adapter_hca(end->adapter)->memory,
	};

	assert_ptr_not_equal(page.bytes, MAP_FAILED);
	assert_int_equal(region_register(page.memory, end->pd, page.bytes, PAGE_BYTES,
					 (uintptr_t)page.bytes, access, &page.region),
			 0);
	/* cmocka has handlers of its own for each test. */
	memory_guard_renew();
	return page;
}

/* The guard removes its pages when the lock is released. */
static void leave_lock_for_a_moment(void)
{
	adapter_unlock(pair.ends[0].adapter);
	memory_guard_take_back(pair_runtime());
	adapter_lock(pair.ends[0].adapter);
	pair_runtime()->progress.mode = PROGRESS_STAYING_OUT;
	assert_false(memory_guard_has_gaps());
}

static void release_page(struct page *page)
{
	leave_lock_for_a_moment();
	assert_int_equal(region_deregister(page->memory, page->region), 0);
}

/* A plain message from the page. */
struct page_send {
	struct address_vector address;
	struct sge sge;
	struct send_request request;
};

static const struct send_request *send_from(const struct page *page, unsigned path, uint32_t number,
					    struct page_send *ret_send)
{
	*ret_send = (struct page_send){
		.address = {.dlid = 2, .port_number = 1},
		.sge = {(uintptr_t)page->bytes, path_plain.byte_count, page->region->key},
		.request = {.wr_id = number,
			    .opcode = SEND_SEND,
			    .flags = SEND_SIGNALED,
			    .address = &ret_send->address,
			    .address_pd = paths[path][0].pd,
			    .remote_qpn = paths[path][1].qp->qp.qpn,
			    .remote_qkey = PAIR_QKEY,
			    .sge_count = 1,
			    .sges = &ret_send->sge},
	};
	return &ret_send->request;
}

enum way { BY_POST, BY_TEMPLATE };

/* Neither as a record of its own, nor as a payload record behind so many messages of a burst. */
static void expect_no_send(unsigned path, uint32_t before_count, enum way way)
{
	struct page page = page_of(&pair.ends[0], 0);
	const struct requester *requester = &paths[path][0].qp->qp.requester;
	const struct pair_end *end = &paths[path][0];
	struct page_send send;

	paths_end_bursts();
	path_post_receives(path, 0, PATHS_HALF);
	for (uint32_t number = 0; number < before_count; number++) {
		pair_fill(page.bytes, path_plain.byte_count, number);
		assert_true(
			adapter_post(end->adapter, end->qp, send_from(&page, path, number, &send)));
	}
	munmap(page.bytes, PAGE_BYTES);

	const uint64_t ring_tail = pair_channel()->out.tail;
	const uint32_t queue_tail = requester->queue.tail;
	const struct send_request *request = send_from(&page, path, before_count, &send);

	if (way == BY_TEMPLATE)
		assert_false(adapter_post_by_template(end->adapter, end->qp, before_count,
						      request->flags, request->sges));
	else
		assert_false(adapter_post(end->adapter, end->qp, request));
	assert_true(memory_guard_has_gaps());
	assert_int_equal(pair_channel()->out.tail, ring_tail);
	assert_int_equal(requester->queue.tail, queue_tail);
	leave_lock_for_a_moment();
	paths_take();
	path_expect_plain(path, 0, before_count);
	paths_expect_all_sent(0, before_count);
	/* The engine reports it. */
	assert_int_equal(qp_post_send(&end->qp->qp, adapter_now(end->adapter), request), 0);
	adapter_send(end->adapter, end->qp);
	paths_expect_sent(before_count, COMPLETION_LOCAL_PROTECTION);
	paths_expect_nothing();
	release_page(&page);
}

static void test_a_send_from_unmapped_memory_fails(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++)
		expect_no_send(path, 0, BY_POST);
}

static void test_a_send_from_unmapped_memory_ends_a_burst(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++)
		expect_no_send(path, PATHS_HALF - 1, BY_POST);
}

static void test_a_send_by_template_from_unmapped_memory_fails(void **state)
{
	(void)state;
	expect_no_send(PATH_RC, 1, BY_TEMPLATE);
}

/* A burst whose message UNMAPPED has a receive buffer without pages. */
static void post_burst_to(const struct page *page, unsigned path)
{
	const struct sge sge = {(uintptr_t)page->bytes, PAGE_BYTES, page->region->key};
	const struct receive_request request = {.wr_id = UNMAPPED, .sge_count = 1, .sges = &sge};

	paths_end_bursts();
	path_post_receives(path, 0, UNMAPPED);
	assert_int_equal(qp_object_post_receive(paths[path][1].qp, 0, &request), 0);
	path_post_receives(path, UNMAPPED + 1, PATHS_HALF - UNMAPPED - 1);
	munmap(page->bytes, PAGE_BYTES);
	assert_int_equal(path_post_plain(path, 0, PATHS_HALF), PATHS_HALF - BURST_POSTS - 1);
}

/* A hardware adapter writes to the pages that it has pinned, so the receive succeeds. */
static void expect_burst_with_a_gap(unsigned path)
{
	const uint32_t room = path_is_datagram(path) ? GRH_BYTES : 0;

	path_expect_plain(path, 0, UNMAPPED);

	const struct completion *completion = cq_first(pair.ends[1].cq);

	assert_non_null(completion);
	assert_int_equal(completion->status, COMPLETION_SUCCESS);
	assert_int_equal(completion->wr_id, UNMAPPED);
	assert_int_equal(completion->byte_count, path_plain.byte_count + room);
	cq_advance(pair.ends[1].cq);
	path_expect_plain(path, UNMAPPED + 1, PATHS_HALF - UNMAPPED - 1);
	paths_expect_all_sent(0, PATHS_HALF);
	paths_expect_nothing();
}

static void test_a_burst_to_unmapped_memory_is_no_fault(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		struct page page = page_of(&pair.ends[1], ACCESS_LOCAL_WRITE);

		post_burst_to(&page, path);
		paths_take();
		expect_burst_with_a_gap(path);
		release_page(&page);
	}
}

/* The receiver runs with SOFTIB_FAST=0, or it is the progress thread. */
static void test_packets_to_unmapped_memory_are_no_fault(void **state)
{
	(void)state;
	for (unsigned path = 0; path < PATH_TYPES; path++) {
		struct page page = page_of(&pair.ends[1], ACCESS_LOCAL_WRITE);

		post_burst_to(&page, path);
		pair_runtime()->may_go_fast = false;
		adapter_progress(pair.ends[1].adapter, runtime_now());
		pair_runtime()->may_go_fast = true;
		expect_burst_with_a_gap(path);
		release_page(&page);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		path_test(test_a_send_from_unmapped_memory_fails),
		path_test(test_a_send_from_unmapped_memory_ends_a_burst),
		path_test(test_a_send_by_template_from_unmapped_memory_fails),
		path_test(test_a_burst_to_unmapped_memory_is_no_fault),
		path_test(test_packets_to_unmapped_memory_are_no_fault),
	};

	return cmocka_run_group_tests(tests, paths_start, pair_end_all);
}
