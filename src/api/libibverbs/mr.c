/* SPDX-License-Identifier: Apache-2.0 */
/* Memory regions (vol 1, chapters 10, 11). */
#include "api/libibverbs/mr.h"

#include <stdlib.h>
#include "api/libibverbs/diagnostics/fault_injection.h"
#include "api/libibverbs/objects/handles.h"
#include "api/libibverbs/mapping.h"
#include "api/libibverbs/diagnostics/misuse.h"
#include "api/libibverbs/objects/operations.h"

/* Nothing is pinned, but an unmapped page would kill the program later, far from the mistake. */
static int check_mapped(const void *bytes, size_t byte_count, unsigned access)
{
	if (access & IBV_ACCESS_ON_DEMAND)
		return mapping_check(bytes, byte_count, MAPPING_EXISTS);
	return mapping_check(bytes, byte_count,
			     access & IBV_ACCESS_LOCAL_WRITE ? MAPPING_WRITTEN : MAPPING_READ);
}

/* Lists the region in the export table. The adapter's lock is held. */
static uint32_t offer(struct context_object *context, const struct ibv_pd *pd,
		      const struct region *region)
{
	const struct export_entry entry = {
		.kind = EXPORT_MR,
		.handle = region->key,
		.pd_handle = pd->handle,
		.access = region->access,
		.address = (uintptr_t)region->bytes,
		.byte_count = region->byte_count,
		.iova = region->iova,
	};

	return export_table_add(&context->exports, &entry);
}

int mr_register(struct verbs_mr *mr, struct ibv_pd *pd, void *bytes, size_t byte_count,
		uint64_t iova, unsigned access)
{
	struct context_object *context = context_of(pd->context);
	struct region *region;

	int error = -EINVAL;

	if (access & IBV_ACCESS_ZERO_BASED)
		iova = 0;
	adapter_lock(context->adapter);
	if (pd_of(pd)->domain)
		error = region_register(&adapter_hca(context->adapter)->memory, pd_of(pd)->domain,
					bytes, byte_count, iova, access, &region);
	if (!error)
		mr->export_slot = offer(context, pd, region);
	adapter_unlock(context->adapter);
	if (error)
		return error;
	mr->region = region;
	mr->mr = (struct ibv_mr){
		.context = pd->context,
		.pd = pd,
		.addr = bytes,
		.length = byte_count,
		.handle = region->key,
		.lkey = region->key,
		.rkey = region->key,
	};
	return 0;
}

/* An implicit on-demand region covers all memory: NULL address, greatest length. */
static bool is_implicit(const void *bytes, size_t byte_count, unsigned access)
{
	return !bytes && byte_count == SIZE_MAX && (access & IBV_ACCESS_ON_DEMAND);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	if (!handle_is_live(HANDLE_PD, pd))
		return verbs_null(-EINVAL);

	int error = injected_fault(VERB_REG_MR);

	if (!error && !is_implicit(addr, length, access))
		error = check_mapped(addr, length, access);
	if (error)
		return verbs_null(error);

	struct verbs_mr *mr = calloc(1, sizeof(*mr));

	if (!mr)
		return verbs_null(-ENOMEM);
	error = mr_register(mr, pd, addr, length, iova, access);
	if (error) {
		free(mr);
		return verbs_null(error);
	}
	handle_add(HANDLE_MR, &mr->mr);
	return &mr->mr;
}

/* verbs.h defines both names as macros that call ibv_reg_mr_iova2 if the flags are not constant. */
#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned)access);
}

#undef ibv_reg_mr_iova
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			       int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned)access);
}

/* EOPNOTSUPP, because NCCL takes any other errno for "supported". */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access)
{
	(void)pd;
	(void)offset;
	(void)length;
	(void)iova;
	(void)fd;
	(void)access;
	return verbs_null(-EOPNOTSUPP);
}

/* An imported handle may outlive its region. The adapter's lock is held. */
static bool is_registered(const struct memory *memory, const struct verbs_mr *mr)
{
	return memory_find(memory, mr->mr.handle) == mr->region;
}

static int deregister(const struct verbs_mr *mr)
{
	struct context_object *context = context_of(mr->mr.context);
	struct memory *memory = &adapter_hca(context->adapter)->memory;
	int error = -EINVAL;

	adapter_lock(context->adapter);
	if (is_registered(memory, mr)) {
		if (unlikely(warnings_are_on))
			misuse_deregister(context, mr->region);
		error = region_deregister(memory, mr->region);
	}
	if (!error)
		export_table_remove(&context->exports, mr->export_slot);
	adapter_unlock(context->adapter);
	return error;
}

void mr_unmap(struct verbs_mr *mr)
{
	foreign_memory_unmap(&mr->foreign);
	export_file_unwatch(mr->watched);
}

int ibv_dereg_mr(struct ibv_mr *public)
{
	if (!handle_is_live(HANDLE_MR, public))
		return verbs_result(-EINVAL);

	struct verbs_mr *mr = (struct verbs_mr *)public;
	int error = injected_fault(VERB_DEREG_MR);

	if (!error)
		error = deregister(mr);

	if (error)
		return verbs_result(error);
	if (mr->dm)
		__atomic_sub_fetch(&mr->dm->users, 1, __ATOMIC_RELAXED);
	null_mr_release(mr);
	mr_unmap(mr);
	handle_remove(public);
	free(mr);
	return 0;
}

/* The arguments that rdma-core refuses itself, and regions that cannot be reregistered. */
static bool rereg_is_valid(const struct verbs_mr *mr, int flags, const struct ibv_pd *pd,
			   const void *addr, size_t length, int access)
{
	if (flags == 0 || flags & ~IBV_REREG_MR_FLAGS_SUPPORTED || mr->dm || mr->zeros)
		return false;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION && (!addr || length == 0))
		return false;
	if (flags & IBV_REREG_MR_CHANGE_PD && (!pd || pd->context != mr->mr.context))
		return false;
	return !(flags & IBV_REREG_MR_CHANGE_ACCESS) || access >= 0;
}

/* Copies the region's present state. */
static int copy_region(const struct verbs_mr *mr, struct region *ret_region)
{
	struct context_object *context = context_of(mr->mr.context);
	int error = -EINVAL;

	adapter_lock(context->adapter);
	if (is_registered(&adapter_hca(context->adapter)->memory, mr)) {
		*ret_region = *mr->region;
		error = 0;
	}
	adapter_unlock(context->adapter);
	return error;
}

/* Registers the region again with the changes that the flags name. Keys and an unmoved iova
 * stay. */
static int register_changed(const struct verbs_mr *mr, int flags, struct ibv_pd *pd, void *addr,
			    size_t length, int access, struct verbs_mr *ret_changed)
{
	struct region region;
	int error = copy_region(mr, &region);

	if (error)
		return error;

	bool is_moved = flags & IBV_REREG_MR_CHANGE_TRANSLATION;
	unsigned new_access = flags & IBV_REREG_MR_CHANGE_ACCESS ? (unsigned)access : region.access;
	void *bytes = is_moved ? addr : region.bytes;
	size_t byte_count = is_moved ? length : (size_t)region.byte_count;

	if (!is_implicit(bytes, byte_count, new_access))
		error = check_mapped(bytes, byte_count, new_access);
	if (error)
		return error;
	return mr_register(ret_changed, flags & IBV_REREG_MR_CHANGE_PD ? pd : mr->mr.pd, bytes,
			   byte_count, is_moved ? (uintptr_t)addr : region.iova, new_access);
}

/* The keys stay, because peers may hold them. If any step fails, the region stays as it was. */
int ibv_rereg_mr(struct ibv_mr *public, int flags, struct ibv_pd *pd, void *addr, size_t length,
		 int access)
{
	if (!handle_is_live(HANDLE_MR, public)) {
		errno = EINVAL;
		return IBV_REREG_MR_ERR_INPUT;
	}

	struct context_object *context = context_of(public->context);
	struct memory *memory = &adapter_hca(context->adapter)->memory;
	struct verbs_mr *mr = (struct verbs_mr *)public;
	struct verbs_mr changed = {0};
	int error = -EINVAL;

	if (rereg_is_valid(mr, flags, pd, addr, length, access))
		error = register_changed(mr, flags, pd, addr, length, access, &changed);
	if (error) {
		errno = -error;
		return IBV_REREG_MR_ERR_INPUT;
	}
	adapter_lock(context->adapter);
	if (!is_registered(memory, mr))
		error = -EINVAL;
	else if (mr->region->window_count)
		error = -EBUSY;
	else
		regions_swap(memory, mr->region, changed.region);
	export_table_remove(&context->exports, changed.export_slot);
	if (!error) {
		export_table_remove(&context->exports, mr->export_slot);
		mr->export_slot = offer(context, changed.mr.pd, mr->region);
	}

	int leftover = region_deregister(memory, changed.region);

	adapter_unlock(context->adapter);
	if (error || leftover) {
		errno = error ? -error : -leftover;
		return IBV_REREG_MR_ERR_INPUT;
	}
	public->pd = changed.mr.pd;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION)
	public->addr = addr;
	public->length = changed.mr.length;
	return 0;
}

/* Pages are faulted in at their first use, so valid advice needs no action. */
int verbs_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		    struct ibv_sge *sges, uint32_t sge_count)
{
	struct context_object *context = context_of(pd->context);
	const struct memory *memory = &adapter_hca(context->adapter)->memory;
	uint32_t access = advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE ? ACCESS_LOCAL_WRITE : 0;
	int error = 0;

	if ((unsigned)advice > IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT ||
	    flags & ~(uint32_t)IBV_ADVISE_MR_FLAG_FLUSH || sge_count == 0 || !sges)
		return verbs_result(-EINVAL);
	adapter_lock(context->adapter);
	for (uint32_t i = 0; i < sge_count && !error; i++) {
		uint8_t *bytes;

		switch (memory_resolve(memory, pd_of(pd)->domain, sges[i].lkey, sges[i].addr,
				       sges[i].length, access, &bytes)) {
		case MEMORY_OK:
			break;
		case MEMORY_BAD_KEY:
			error = -ENOENT;
			break;
		case MEMORY_BAD_PD:
		case MEMORY_BAD_RIGHTS:
			error = -EPERM;
			break;
		case MEMORY_BAD_BOUNDS:
			error = -EFAULT;
			break;
		}
	}
	adapter_unlock(context->adapter);
	return verbs_result(error);
}
