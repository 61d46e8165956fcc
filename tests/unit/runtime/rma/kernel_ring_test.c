/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's ring (io_uring): it reads into pinned pages, all bytes or none, and nowhere else. */
#include "runtime/rma/kernel_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { PAGE_BYTES = 4096, MEMORY_BYTES = 8 * PAGE_BYTES };

struct fixture {
	int file; /* the ring that pins */
	int source[2];
	struct kernel_ring ring; /* the ring that submits */
	uint8_t *memory;
};

static void open_fixture(struct fixture *fixture)
{
	fixture->file = kernel_ring_create();
	if (fixture->file < 0)
		skip(); /* A kernel that has no io_uring, or does not allow it. */
	fixture->memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(fixture->memory != MAP_FAILED);
	assert_int_equal(pipe2(fixture->source, O_CLOEXEC | O_NONBLOCK), 0);

	int fetched = kernel_ring_fetch(getpid(), fixture->file);

	assert_true(fetched >= 0);
	assert_int_not_equal(fetched, fixture->file);
	assert_int_equal(kernel_ring_open(&fixture->ring, fetched, fixture->source[0]), 0);
	/* The ring keeps the file. */
	close(fixture->source[0]);
}

static void close_fixture(struct fixture *fixture)
{
	kernel_ring_close(&fixture->ring);
	close(fixture->source[1]);
	close(fixture->file);
	munmap(fixture->memory, MEMORY_BYTES);
}

static void put(const struct fixture *fixture, const void *bytes, size_t byte_count)
{
	assert_int_equal(write(fixture->source[1], bytes, byte_count), byte_count);
}

static int read_to(struct fixture *fixture, unsigned index, size_t offset, uint32_t byte_count)
{
	return kernel_ring_read(&fixture->ring, index, (uintptr_t)fixture->memory + offset,
				byte_count);
}

static void test_bytes_go_where_they_are_sent(void **state)
{
	struct fixture fixture;
	char text[64];

	(void)state;
	open_fixture(&fixture);
	assert_int_equal(
		kernel_ring_pin(fixture.file, 0, fixture.memory + PAGE_BYTES, 2 * PAGE_BYTES), 0);
	/* More than the ring has entries. */
	for (unsigned i = 0; i < 100; i++) {
		const size_t offset = PAGE_BYTES + i * 64;
		const int byte_count = snprintf(text, sizeof(text), "message %u", i);

		put(&fixture, text, (size_t)byte_count);
		assert_int_equal(read_to(&fixture, 0, offset, (uint32_t)byte_count), byte_count);
		assert_memory_equal(fixture.memory + offset, text, (size_t)byte_count);
		assert_int_equal(fixture.memory[offset + (size_t)byte_count], 0);
	}
	close_fixture(&fixture);
}

static void test_each_buffer_is_its_own(void **state)
{
	struct fixture fixture;

	(void)state;
	open_fixture(&fixture);
	assert_int_equal(kernel_ring_pin(fixture.file, 0, fixture.memory, PAGE_BYTES), 0);
	assert_int_equal(kernel_ring_pin(fixture.file, KERNEL_RING_BUFFERS - 1,
					 fixture.memory + 4 * PAGE_BYTES, PAGE_BYTES),
			 0);
	assert_true(kernel_ring_pin(fixture.file, KERNEL_RING_BUFFERS, fixture.memory, PAGE_BYTES) <
		    0);
	put(&fixture, "abcd", 4);
	assert_int_equal(read_to(&fixture, KERNEL_RING_BUFFERS - 1, 4 * PAGE_BYTES, 4), 4);
	assert_memory_equal(fixture.memory + 4 * PAGE_BYTES, "abcd", 4);
	put(&fixture, "efgh", 4);
	assert_true(read_to(&fixture, 0, 4 * PAGE_BYTES, 4) < 0);
	assert_memory_equal(fixture.memory + 4 * PAGE_BYTES, "abcd", 4);
	close_fixture(&fixture);
}

static void test_what_is_not_all_of_a_buffer_is_refused(void **state)
{
	struct fixture fixture;

	(void)state;
	open_fixture(&fixture);
	assert_int_equal(kernel_ring_pin(fixture.file, 2, fixture.memory + PAGE_BYTES, PAGE_BYTES),
			 0);
	put(&fixture, "abcdefgh", 8);
	assert_true(read_to(&fixture, 2, PAGE_BYTES - 1, 8) < 0);
	assert_true(read_to(&fixture, 2, 2 * PAGE_BYTES - 7, 8) < 0);
	assert_true(read_to(&fixture, 1, PAGE_BYTES, 8) < 0);
	/* Nothing was taken from the source either. */
	assert_int_equal(read_to(&fixture, 2, 2 * PAGE_BYTES - 8, 8), 8);
	assert_memory_equal(fixture.memory + 2 * PAGE_BYTES - 8, "abcdefgh", 8);
	assert_int_equal(fixture.memory[2 * PAGE_BYTES], 0);
	close_fixture(&fixture);
}

static void test_unpinned_pages_are_not_accessible(void **state)
{
	struct fixture fixture;

	(void)state;
	open_fixture(&fixture);
	assert_int_equal(kernel_ring_pin(fixture.file, 3, fixture.memory, PAGE_BYTES), 0);
	put(&fixture, "abcd", 4);
	assert_int_equal(read_to(&fixture, 3, 0, 4), 4);
	assert_int_equal(kernel_ring_unpin(fixture.file, 3), 0);
	put(&fixture, "efgh", 4);
	assert_true(read_to(&fixture, 3, 0, 4) < 0);
	assert_memory_equal(fixture.memory, "abcd", 4);
	/* Once more at another offset. */
	assert_int_equal(kernel_ring_pin(fixture.file, 3, fixture.memory + PAGE_BYTES, PAGE_BYTES),
			 0);
	assert_int_equal(read_to(&fixture, 3, PAGE_BYTES, 4), 4);
	assert_memory_equal(fixture.memory + PAGE_BYTES, "efgh", 4);
	close_fixture(&fixture);
}

static void test_a_source_that_has_too_little_is_not_waited_for(void **state)
{
	struct fixture fixture;

	(void)state;
	open_fixture(&fixture);
	assert_int_equal(kernel_ring_pin(fixture.file, 0, fixture.memory, PAGE_BYTES), 0);
	put(&fixture, "abc", 3);
	assert_int_equal(read_to(&fixture, 0, 0, 8), 3);
	assert_memory_equal(fixture.memory, "abc\0", 4);
	/* With no bytes at all the kernel itself waits for more, or returns an error. */
	assert_true(read_to(&fixture, 0, 0, 8) < 0);
	close_fixture(&fixture);
}

static void test_memory_that_is_not_there_is_not_pinned(void **state)
{
	struct fixture fixture;

	(void)state;
	open_fixture(&fixture);
	munmap(fixture.memory + PAGE_BYTES, PAGE_BYTES);
	assert_true(kernel_ring_pin(fixture.file, 0, fixture.memory, 2 * PAGE_BYTES) < 0);
	close_fixture(&fixture);
}

/* The parent keeps the pages, whichever of parent and child writes to them first. */
static void test_the_child_of_a_fork_has_copies(void **state)
{
	struct fixture fixture;
	int go[2], status;
	char byte;

	(void)state;
	open_fixture(&fixture);
	assert_int_equal(pipe(go), 0);
	memcpy(fixture.memory, "before", 6);
	assert_int_equal(kernel_ring_pin(fixture.file, 0, fixture.memory, PAGE_BYTES), 0);

	pid_t child = fork();

	if (child == 0) {
		bool is_well = memcmp(fixture.memory, "before", 6) == 0;

		kernel_ring_abandon(&fixture.ring);
		fixture.memory[100] = 'c';
		is_well &= read(go[0], &byte, 1) == 1;
		_exit(is_well && memcmp(fixture.memory, "before", 6) == 0 ? 0 : 1);
	}
	fixture.memory[200] = 'p';
	put(&fixture, "after!", 6);
	assert_int_equal(read_to(&fixture, 0, 0, 6), 6);
	assert_memory_equal(fixture.memory, "after!", 6);
	assert_int_equal(write(go[1], "x", 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(fixture.memory[100], 0);
	assert_int_equal(fixture.memory[200], 'p');
	close_fixture(&fixture);
	close(go[0]);
	close(go[1]);
}

static void test_only_rings_are_fetched(void **state)
{
	int files[2];

	(void)state;
	assert_int_equal(pipe(files), 0);
	assert_true(kernel_ring_fetch(getpid(), files[0]) < 0);
	close(files[0]);
	close(files[1]);
	assert_true(kernel_ring_fetch(getpid(), files[0]) < 0);
	assert_true(kernel_ring_fetch(getpid(), -1) < 0);
	assert_true(kernel_ring_fetch(0x7ffffff, 0) < 0);
}

static bool forbid(long number)
{
	const struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]),
					   (struct sock_filter *)(uintptr_t)filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Exits with 0 if the filter makes the call fail. */
static void call_forbidden(const struct fixture *fixture, long number)
{
	struct kernel_ring ring;
	bool is_well = false;

	/* Without seccomp filters there is nothing to test. */
	if (!forbid(number))
		_exit(0);
	if (number == SYS_io_uring_setup || number == SYS_io_uring_register)
		is_well = kernel_ring_create() == -EPERM &&
			  kernel_ring_open(&ring, fixture->file, 0) == -EPERM;
	else
		is_well = kernel_ring_fetch(getpid(), fixture->file) == -EPERM;
	_exit(!is_well);
}

/* As in containers. */
static void test_a_call_that_is_filtered_is_an_error_and_nothing_else(void **state)
{
	static const long numbers[] = {SYS_io_uring_setup, SYS_io_uring_register, SYS_pidfd_open,
				       SYS_pidfd_getfd};
	struct fixture fixture;

	(void)state;
	open_fixture(&fixture);
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		int status;
		pid_t child = fork();

		if (child == 0)
			call_forbidden(&fixture, numbers[i]);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	close_fixture(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes_go_where_they_are_sent),
		cmocka_unit_test(test_each_buffer_is_its_own),
		cmocka_unit_test(test_what_is_not_all_of_a_buffer_is_refused),
		cmocka_unit_test(test_unpinned_pages_are_not_accessible),
		cmocka_unit_test(test_a_source_that_has_too_little_is_not_waited_for),
		cmocka_unit_test(test_memory_that_is_not_there_is_not_pinned),
		cmocka_unit_test(test_the_child_of_a_fork_has_copies),
		cmocka_unit_test(test_only_rings_are_fetched),
		cmocka_unit_test(test_a_call_that_is_filtered_is_an_error_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
