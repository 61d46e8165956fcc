/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that no scheduling point sees. A negative errno on failure. */
#ifndef SOFTIB_TESTS_SCHEDULE_RAW_CALL_H
#define SOFTIB_TESTS_SCHEDULE_RAW_CALL_H

static inline long raw_call(long number, long a0, long a1, long a2, long a3, long a4, long a5)
{
	register long r10 __asm__("r10") = a3;
	register long r8 __asm__("r8") = a4;
	register long r9 __asm__("r9") = a5;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a0), "S"(a1), "d"(a2), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#endif
