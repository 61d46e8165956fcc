/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of librspreload.so, which runs unmodified socket programs on rsockets (rsocket(7)).
 *
 * The program gets a descriptor of /dev/null that stands for an rsocket. If the rsocket cannot
 * connect, an ordinary socket replaces it under the same number. epoll is not supported.
 */
#ifndef SOFTIB_API_LIBRSPRELOAD_PRELOAD_H
#define SOFTIB_API_LIBRSPRELOAD_PRELOAD_H

#include <dlfcn.h>

#define PUBLIC __attribute__((visibility("default")))

/* Above 0 while the RDMA libraries run: their own socket calls must not be redirected. */
extern __thread unsigned preload_depth;

/* The C library's function of this name. */
#define REAL(name)                                                                                 \
	({                                                                                         \
		static __typeof__(&name) real_##name;                                              \
		if (!real_##name)                                                                  \
			real_##name = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                  \
		real_##name;                                                                       \
	})

#define INSIDE(call)                                                                               \
	({                                                                                         \
		preload_depth++;                                                                   \
		__typeof__(call) result_ = (call);                                                 \
		preload_depth--;                                                                   \
		result_;                                                                           \
	})

/* The rsocket behind a descriptor; -1: none. */
int preload_behind(int descriptor);

/* Calls the C library's function, or the rsocket's (recv and rrecv) if one is behind the
 * descriptor. */
#define REDIRECT(name, descriptor, ...)                                                            \
	({                                                                                         \
		int other_ = preload_behind(descriptor);                                           \
		other_ < 0 ? REAL(name)(descriptor, __VA_ARGS__)                                   \
			   : INSIDE(r##name(other_, __VA_ARGS__));                                 \
	})

#endif
