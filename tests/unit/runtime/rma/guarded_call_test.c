/* SPDX-License-Identifier: Apache-2.0 */
/* A call that is no longer allowed does not happen, even if the thread was stopped right before it.
 */
#include "runtime/rma/guarded_call.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/rseq.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "ipc/rma_area.h"

enum { WORKED = 40, CANCELED = 41, OTHERWISE = 42 };

/* The linker's name for the beginning of the section. */
extern const struct rseq_cs __start___rseq_cs[];

/* In memory that a child shares. */
static struct shared {
	uint64_t word;
	int ends[2]; /* of a pipe: the call writes a byte into it */
} * shared;

static ssize_t write_a_byte(const uint64_t *word)
{
	const struct guarded_call call = {SYS_write, {shared->ends[1], (long)"x", 1}};

	return guarded_call(&call, word);
}

static bool has_byte(void)
{
	char byte;

	return read(shared->ends[0], &byte, 1) == 1;
}

static int start(void **state)
{
	(void)state;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return -1;
	return pipe2(shared->ends, O_NONBLOCK);
}

static void test_the_word_decides(void **state)
{
	(void)state;
	shared->word = 7;
	assert_int_equal(write_a_byte(&shared->word), 1);
	assert_true(has_byte());
	shared->word = 7 | RMA_HAZARD_CUT_OFF;
	assert_int_equal(write_a_byte(&shared->word), -ECANCELED);
	assert_false(has_byte());
	assert_int_equal(write_a_byte(NULL), 1);
	assert_true(has_byte());
}

static void test_the_kernel_s_error_is_returned(void **state)
{
	const struct guarded_call call = {SYS_write, {-1, (long)"x", 1}};

	(void)state;
	shared->word = 0;
	assert_int_equal(guarded_call(&call, &shared->word), -EBADF);
	assert_int_equal(guarded_call(&call, NULL), -EBADF);
}

static void call_in_child(void)
{
	ssize_t result;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(OTHERWISE);
	raise(SIGSTOP);
	result = write_a_byte(&shared->word);
	_exit(result == 1 ? WORKED : result == -ECANCELED ? CANCELED : OTHERWISE);
}

/* Stops a child at the system call itself, after it has looked at the word, and changes the word.
 */
static int exit_code_after_stop(uint64_t word_after)
{
	const uint64_t place =
		__start___rseq_cs->start_ip + __start___rseq_cs->post_commit_offset - 2;
	struct user_regs_struct registers;
	int status;
	long code;
	pid_t child;

	assert_int_equal(*(const uint16_t *)(uintptr_t)place, 0x050f); /* syscall */
	shared->word = 7;
	child = fork();
	if (child == 0)
		call_in_child();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status));
	code = ptrace(PTRACE_PEEKTEXT, child, (void *)place, NULL);
	assert_int_equal(ptrace(PTRACE_POKETEXT, child, (void *)place, (code & ~0xffL) | 0xcc), 0);
	assert_int_equal(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(WSTOPSIG(status), SIGTRAP);
	shared->word = word_after;
	assert_int_equal(ptrace(PTRACE_POKETEXT, child, (void *)place, code), 0);
	assert_int_equal(ptrace(PTRACE_GETREGS, child, NULL, &registers), 0);
	assert_int_equal(registers.rip, place + 1);
	registers.rip = place;
	assert_int_equal(ptrace(PTRACE_SETREGS, child, NULL, &registers), 0);
	assert_int_equal(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_a_stop_between_look_and_call_makes_it_look_again(void **state)
{
	(void)state;
	assert_int_equal(exit_code_after_stop(7 | RMA_HAZARD_CUT_OFF), CANCELED);
	assert_false(has_byte());
	assert_int_equal(exit_code_after_stop(7), WORKED);
	assert_true(has_byte());
	assert_false(has_byte());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_word_decides),
		cmocka_unit_test(test_the_kernel_s_error_is_returned),
		cmocka_unit_test(test_a_stop_between_look_and_call_makes_it_look_again),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
