/* SPDX-License-Identifier: Apache-2.0 */
/* Memory on the adapter: here, pages that programs reach only through copies and keys. */
#include "api/libibverbs/device_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "api/libibverbs/mr.h"
#include "api/libibverbs/operations.h"

static struct verbs_dm *dm_of(struct ibv_dm *dm)
{
	return (struct verbs_dm *)dm;
}

static bool covers(const struct verbs_dm *dm, uint64_t offset, size_t byte_count)
{
	return offset <= dm->byte_count && byte_count <= dm->byte_count - offset;
}

/* Programs copy whole words. */
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

struct ibv_dm *verbs_alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
	static uint32_t last_handle;

	if (attr->comp_mask || attr->length == 0 ||
	    attr->log_align_req > DEVICE_MEMORY_LOG_ALIGN_MAX)
		return verbs_null(-EINVAL);
	if (attr->length > DEVICE_MEMORY_BYTES_MAX)
		return verbs_null(-ENOMEM);

	struct verbs_dm *dm = calloc(1, sizeof(*dm));

	if (!dm)
		return verbs_null(-ENOMEM);
	dm->bytes = mmap(NULL, attr->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (dm->bytes == MAP_FAILED) {
		free(dm);
		return verbs_null(-ENOMEM);
	}
	dm->byte_count = attr->length;
	dm->dm.context = context;
	dm->dm.memcpy_to_dm = copy_to;
	dm->dm.memcpy_from_dm = copy_from;
	dm->dm.handle = __atomic_add_fetch(&last_handle, 1, __ATOMIC_RELAXED);
	dm->handle_count = 1;
	adapter_lock(context_of(context)->adapter);
	list_append(&context_of(context)->device->dms, &dm->link);
	adapter_unlock(context_of(context)->adapter);
	return &dm->dm;
}

/* The bytes go with the last handle: who imported them may still copy. */
void device_memory_drop(struct verbs_dm *dm)
{
	struct adapter *adapter = context_of(dm->dm.context)->adapter;
	struct verbs_dm *original = dm->original ? dm->original : dm;

	adapter_lock(adapter);
	list_remove(&dm->link);

	bool is_last = --original->handle_count == 0;

	adapter_unlock(adapter);
	if (is_last) {
		munmap(original->bytes, original->byte_count);
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

	/* There is no address in the program that could be its base. */
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
	return &mr->mr;
}
