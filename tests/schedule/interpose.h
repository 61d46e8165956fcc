/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the C library that libschedule.so defines in its place. */
#ifndef SOFTIB_TESTS_SCHEDULE_INTERPOSE_H
#define SOFTIB_TESTS_SCHEDULE_INTERPOSE_H

#include <dlfcn.h>
#include <errno.h>

#define EXPORT __attribute__((visibility("default")))
#define CODE   __builtin_return_address(0)

static inline long return_errno(long result)
{
	if (result < 0 && result > -4096) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

/* As the C library's functions return: -1 and errno. */
#define RETURN(result) return_errno(result)

/* The C library's function of this name. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#endif
