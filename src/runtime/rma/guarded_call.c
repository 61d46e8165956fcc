/* SPDX-License-Identifier: Apache-2.0 */
/* A system call as the last instruction of a restartable sequence: see guarded_call.h. */
#include "runtime/rma/guarded_call.h"

#include <errno.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "ipc/rma_area.h"

/* A debugger that steps through the sequence interrupts it each time. */
enum { TRIES_MAX = 1000 };

/* This thread's area, which the C library registers; NULL: it did not. */
static struct rseq *own_rseq(void)
{
	struct rseq *rseq =
		(struct rseq *)(void *)((uint8_t *)__builtin_thread_pointer() + __rseq_offset);

	return __rseq_size && (int32_t)__atomic_load_n(&rseq->cpu_id, __ATOMIC_RELAXED) >= 0 ? rseq
											     : NULL;
}

/*
 * The sequence ends where the system call returns to. In the kernel the thread is past its end, so
 * the kernel neither restarts the call nor minds that there is one. The descriptor is taken back
 * afterwards: the kernel reads it whenever it finds one, even if this library was unloaded.
 */
static long look_and_call(const struct guarded_call *call, const uint64_t *word, struct rseq *rseq)
{
	/* All loads come first: a sanitizer calls a function before each of them, and the function
	 * may change the registers. */
	const long *arguments = call->arguments;
	const long first = arguments[0], second = arguments[1], third = arguments[2];
	const long fourth = arguments[3], fifth = arguments[4], sixth = arguments[5];
	long result = call->number;
	register long a4 __asm__("r10") = fourth;
	register long a5 __asm__("r8") = fifth;
	register long a6 __asm__("r9") = sixth;

	__asm__ volatile(".pushsection __rseq_cs, \"aw\"\n\t"
			 ".balign 32\n"
			 "3:\n\t"
			 ".long 0, 0\n\t"
			 ".quad 1f, 2f - 1f, 4f\n\t"
			 ".popsection\n\t"
			 "leaq 3b(%%rip), %%rcx\n\t"
			 "movq %%rcx, %[sequence]\n"
			 "1:\n\t"
			 "btq %[bit], %[word]\n\t"
			 "jc 5f\n\t"
			 "syscall\n"
			 "2:\n\t"
			 "jmp 6f\n\t"
			 /* The kernel checks the signature before the place that it restarts at. */
			 ".long %c[signature]\n"
			 "4:\n\t"
			 "movq %[again], %%rax\n\t"
			 "jmp 6f\n"
			 "5:\n\t"
			 "movq %[canceled], %%rax\n"
			 "6:\n\t"
			 "movq $0, %[sequence]\n\t"
			 : "+a"(result), [sequence] "=m"(rseq->rseq_cs)
			 : "D"(first), "S"(second), "d"(third), "r"(a4), "r"(a5),
			   "r"(a6), [word] "m"(*word), [bit] "i"(63), [signature] "i"(RSEQ_SIG),
			   [again] "i"(-ERESTART), [canceled] "i"(-ECANCELED)
			 : "rcx", "r11", "memory", "cc");
	return result;
}

static_assert(RMA_HAZARD_CUT_OFF == (uint64_t)1 << 63, "the bit that the sequence looks at");

ssize_t guarded_call(const struct guarded_call *call, const uint64_t *word)
{
	const long *arguments = call->arguments;
	struct rseq *rseq = own_rseq();

	if (!word) {
		const long result = syscall(call->number, arguments[0], arguments[1], arguments[2],
					    arguments[3], arguments[4], arguments[5]);

		return result < 0 ? -errno : result;
	}
	if (!rseq)
		return -ENOSYS;
	for (unsigned i = 0; i < TRIES_MAX; i++) {
		const long result = look_and_call(call, word, rseq);

		if (result != -ERESTART)
			return result;
	}
	return -EAGAIN;
}
