/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of librspreload.so: socket programs on rsockets without changing them (rsocket(7)).
 *
 * What the program has is a descriptor of /dev/null that stands for an rsocket. One that can't
 * connect becomes an ordinary socket under the same number. epoll is not served.
 */
#ifndef SOFTIB_API_LIBRSPRELOAD_PRELOAD_H
#define SOFTIB_API_LIBRSPRELOAD_PRELOAD_H

#include <dlfcn.h>

#define PUBLIC __attribute__((visibility("default")))

/* Calls that the RDMA libraries make themselves are not for us. */
extern __thread unsigned preload_depth;

/* The C library's own function of that name. */
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

#endif
