/* SPDX-License-Identifier: Apache-2.0 */
/* Faults that are resolved, and all others, which go to the program's own handler: one installed
 * before, one installed later, and one that calls the handler before it. */
#include "runtime/memory/fault_signals.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

static uint8_t *page;
static bool may_resolve;
static volatile sig_atomic_t resolved, first_calls, later_calls;
static enum fault_kind last_kind;
static sigjmp_buf way_out;
static struct sigaction before_later;

static bool resolve_one(uintptr_t address, enum fault_kind kind)
{
	last_kind = kind;
	if (!may_resolve || address != (uintptr_t)page)
		return false;
	resolved++;
	if (kind == FAULT_PROTECTED)
		return mprotect(page, PAGE_BYTES, PROT_READ | PROT_WRITE) == 0;
	return mmap(page, PAGE_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page;
}

static void jump_first(int number, siginfo_t *info, void *context)
{
	(void)number, (void)context;
	assert_ptr_equal(info->si_addr, page);
	first_calls++;
	siglongjmp(way_out, 1);
}

/* As well-behaved programs do. */
static void call_the_one_before(int number, siginfo_t *info, void *context)
{
	later_calls++;
	before_later.sa_sigaction(number, info, context);
}

static void install(void (*handler)(int number, siginfo_t *info, void *context))
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	sigemptyset(&action.sa_mask);
	assert_int_equal(sigaction(SIGSEGV, &action, &before_later), 0);
}

/* cmocka has handlers of its own for each test. */
static void come_first_again(void)
{
	install(jump_first);
	fault_signals_renew();
}

static void touch(void)
{
	if (sigsetjmp(way_out, 1) == 0)
		*(volatile uint8_t *)page = 1;
}

static int begin(void **state)
{
	(void)state;
	install(jump_first);
	fault_signals_handle(resolve_one);
	first_calls = 0;
	page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED;
}

static void test_what_is_resolved_goes_on(void **state)
{
	(void)state;
	come_first_again();
	may_resolve = true;
	munmap(page, PAGE_BYTES);
	touch();
	assert_int_equal(resolved, 1);
	assert_int_equal(last_kind, FAULT_UNMAPPED);
	mprotect(page, PAGE_BYTES, PROT_READ);
	touch();
	assert_int_equal(resolved, 2);
	assert_int_equal(last_kind, FAULT_PROTECTED);
	assert_int_equal(page[0], 1);
	assert_int_equal(first_calls, 0);
}

static void test_a_page_beyond_its_file_is_a_fault_too(void **state)
{
	int file = memfd_create("fault", MFD_CLOEXEC);

	(void)state;
	come_first_again();
	assert_ptr_equal(
		mmap(page, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0),
		page);
	may_resolve = true;
	touch();
	assert_int_equal(last_kind, FAULT_TRUNCATED);
	close(file);
}

static void test_other_faults_are_the_programs(void **state)
{
	int before = resolved;

	(void)state;
	come_first_again();
	may_resolve = false;
	mprotect(page, PAGE_BYTES, PROT_NONE);
	for (int i = 1; i <= 3; i++) {
		touch();
		assert_int_equal(first_calls, i);
	}
	assert_int_equal(resolved, before);
}

/* The program's handler calls ours, which must not call it back for ever. */
static void test_a_later_handler_may_call_the_one_before(void **state)
{
	struct sigaction now;
	int before = resolved;

	(void)state;
	come_first_again();
	first_calls = 0;
	install(call_the_one_before);
	fault_signals_renew();
	assert_int_equal(sigaction(SIGSEGV, NULL, &now), 0);
	assert_ptr_not_equal(now.sa_sigaction, call_the_one_before);
	fault_signals_renew();
	for (int i = 1; i <= 3; i++) {
		may_resolve = false;
		mprotect(page, PAGE_BYTES, PROT_NONE);
		touch();
		assert_int_equal(later_calls, i);
		assert_int_equal(first_calls, i);
		/* The handler left by a jump, which changes nothing else. */
		may_resolve = true;
		touch();
		assert_int_equal(resolved, before + i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_resolved_goes_on),
		cmocka_unit_test(test_a_page_beyond_its_file_is_a_fault_too),
		cmocka_unit_test(test_other_faults_are_the_programs),
		cmocka_unit_test(test_a_later_handler_may_call_the_one_before),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}
