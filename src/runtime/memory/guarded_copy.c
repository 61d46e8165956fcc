/* SPDX-License-Identifier: Apache-2.0 */
/* Writing datagrams into memory that the program may have unmapped: see guarded_copy.h. */
#include "runtime/memory/guarded_copy.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>
#include "base/attributes.h"
#include "runtime/runtime_state.h"
#include "net/transport/qp.h"
#include "wire/packet.h"

enum { PAYLOAD_BYTES_MAX = 4096 }; /* the largest MTU */

void guarded_copy(const struct payload *payload, size_t from, size_t byte_count, uint8_t *ret_bytes)
{
	uint8_t bytes[PAYLOAD_BYTES_MAX];
	struct iovec source = {bytes, byte_count};
	struct iovec destination = {ret_bytes, byte_count};

	debug_assert(byte_count <= sizeof(bytes));
	payload_copy(payload, from, byte_count, bytes);
	/* If a seccomp filter forbids the call, the copy is not guarded. */
	if (process_vm_writev(getpid(), &source, 1, &destination, 1, 0) < 0 && errno != EFAULT)
		payload_copy(payload, from, byte_count, ret_bytes);
}

static void set_copier(struct process_runtime *runtime,
		       void (*copier)(const struct payload *payload, size_t from, size_t byte_count,
				      uint8_t *ret_bytes))
{
	for (unsigned i = 0; i < runtime->adapter_limit; i++)
		if (runtime->adapters[i] && runtime->adapters[i]->has_hca)
			runtime->adapters[i]->hca.environment.copy_datagram = copier;
}

void guarded_copy_begin(struct process_runtime *runtime)
{
	set_copier(runtime, guarded_copy);
}

void guarded_copy_end(struct process_runtime *runtime)
{
	set_copier(runtime, NULL);
}
