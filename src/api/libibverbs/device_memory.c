/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: pages that the program reaches only by copy calls and memory keys. */
#include "api/libibverbs/device_memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "api/libibverbs/objects/handles.h"
#include "api/libibverbs/mr.h"
#include "api/libibverbs/objects/operations.h"
#include "ipc/memory_file.h"

static struct verbs_dm *dm_of(struct ibv_dm *dm)
{
	return (struct verbs_dm *)dm;
}

static bool covers(const struct verbs_dm *dm, uint64_t offset, size_t byte_count)
{
	return offset <= dm->byte_count && byte_count <= dm->byte_count - offset;
}

/* Offset and length of a copy are multiples of DEVICE_MEMORY_COPY_ALIGNMENT. */
static bool may_copy(const struct verbs_dm *dm, uint64_t offset, size_t byte_count)
{
	return covers(dm, offset, byte_count) &&
	       (offset | byte_count) % DEVICE_MEMORY_COPY_ALIGNMENT == 0;
}

static int copy_to(struct ibv_dm *public, uint64_t offset, const void *bytes, size_t byte_count)
{
	struct verbs_dm *dm = dm_of(public);

	if (!may_copy(dm, offset, byte_count))
		return verbs_result(-EFAULT);
	memcpy(dm->bytes + offset, bytes, byte_count);
	return 0;
}

static int copy_from(void *ret_bytes, struct ibv_dm *public, uint64_t offset, size_t byte_count)
{
	const struct verbs_dm *dm = dm_of(public);

	if (!may_copy(dm, offset, byte_count))
		return verbs_result(-EFAULT);
	memcpy(ret_bytes, dm->bytes + offset, byte_count);
	return 0;
}

/* Maps a memfd, so that another process can import the memory. If there is no descriptor left or
 * file sizes are limited, maps anonymous memory that only this process can use. */
static int map_bytes(struct verbs_dm *dm, size_t byte_count)
{
	dm->file = memfd_create("softib-device-memory", MFD_CLOEXEC);
	if (dm->file >= 0 && (memory_file_resize(dm->file, byte_count) != 0 ||
			      posix_fallocate(dm->file, 0, (off_t)byte_count) != 0)) {
		close(dm->file);
		dm->file = -1;
	}
	dm->bytes = mmap(NULL, byte_count, PROT_READ | PROT_WRITE,
			 dm->file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, dm->file, 0);
	if (dm->bytes == MAP_FAILED) {
		if (dm->file >= 0)
			close(dm->file);
		return -ENOMEM;
	}
	return 0;
}

void device_memory_init(struct verbs_dm *dm, uint8_t *bytes, size_t byte_count)
{
	dm->bytes = bytes;
	dm->byte_count = byte_count;
	dm->dm.memcpy_to_dm = copy_to;
	dm->dm.memcpy_from_dm = copy_from;
	dm->handle_count = 1;
}

static void unmap_bytes(struct verbs_dm *dm)
{
	if (dm->foreign.bytes) {
		foreign_memory_unmap(&dm->foreign);
		return;
	}
	munmap(dm->bytes, dm->byte_count);
	if (dm->file >= 0)
		close(dm->file);
}

struct ibv_dm *verbs_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	if (!attr)
		return verbs_null(-EINVAL);

	static uint32_t last_handle;

	if (attr->comp_mask || attr->length == 0 ||
	    attr->log_align_req > DEVICE_MEMORY_LOG_ALIGN_MAX)
		return verbs_null(-EINVAL);
	if (attr->length > DEVICE_MEMORY_BYTES_MAX)
		return verbs_null(-ENOMEM);

	struct verbs_dm *dm = calloc(1, sizeof(*dm));

	if (!dm)
		return verbs_null(-ENOMEM);
	if (map_bytes(dm, attr->length) != 0) {
		free(dm);
		return verbs_null(-ENOMEM);
	}
	device_memory_init(dm, dm->bytes, attr->length);
	dm->dm.context = context;
	dm->dm.handle = __atomic_add_fetch(&last_handle, 1, __ATOMIC_RELAXED);
	adapter_lock(context_of(context)->adapter);
	list_append(&context_of(context)->device->dms, &dm->link);
	dm->export_slot = export_table_add(&context_of(context)->exports,
					   &(struct export_entry){.kind = EXPORT_DM,
								  .handle = dm->dm.handle,
								  .address = (uintptr_t)dm->bytes,
								  .byte_count = dm->byte_count});
	adapter_unlock(context_of(context)->adapter);
	return &dm->dm;
}

/* The last handle frees the bytes, because importers may still copy. */
void device_memory_drop(struct verbs_dm *dm)
{
	struct adapter *adapter = context_of(dm->dm.context)->adapter;
	struct verbs_dm *original = dm->original ? dm->original : dm;

	adapter_lock(adapter);
	list_remove(&dm->link);

	bool is_last = --original->handle_count == 0;

	if (dm == original)
		export_table_remove(&context_of(dm->dm.context)->exports, dm->export_slot);

	adapter_unlock(adapter);
	if (is_last) {
		unmap_bytes(original);
		free(original);
	}
	if (dm != original)
		free(dm);
}

int verbs_free_dm(struct ibv_dm *public)
{
	struct verbs_dm *dm = dm_of(public);

	if (__atomic_load_n(&dm->users, __ATOMIC_RELAXED))
		return verbs_result(-EBUSY);
	device_memory_drop(dm);
	return 0;
}

struct ibv_mr *verbs_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *public, uint64_t offset,
			       size_t byte_count, unsigned int access)
{
	struct verbs_dm *dm = dm_of(public);

	/* Device memory has no address in the program that could be the base, so it must be
	 * zero-based. */
	if (!(access & IBV_ACCESS_ZERO_BASED) || !covers(dm, offset, byte_count))
		return verbs_null(-EINVAL);

	struct verbs_mr *mr = calloc(1, sizeof(*mr));

	if (!mr)
		return verbs_null(-ENOMEM);

	int error = mr_register(mr, pd, dm->bytes + offset, byte_count, 0, access);

	if (error) {
		free(mr);
		return verbs_null(error);
	}
	mr->mr.addr = NULL;
	mr->dm = dm;
	__atomic_add_fetch(&dm->users, 1, __ATOMIC_RELAXED);
	handle_add(HANDLE_MR, &mr->mr);
	return &mr->mr;
}
