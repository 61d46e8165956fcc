/* SPDX-License-Identifier: Apache-2.0 */
/* Memory regions (vol 1, chapters 10, 11). */
#include "api/libibverbs/mr.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "api/libibverbs/operations.h"

/* Nothing is pinned, but a hole in the range would end the program later, far from the mistake. */
static int check_mapped(const void *bytes, size_t byte_count)
{
	uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = (uintptr_t)bytes & ~(page_bytes - 1);
	uintptr_t end;

	if (byte_count == 0)
		return 0;
	if (!bytes || __builtin_add_overflow((uintptr_t)bytes, byte_count, &end))
		return -EFAULT;
	/* MS_ASYNC does nothing but walk the mappings. */
	return msync((void *)first, end - first, MS_ASYNC) < 0 && errno == ENOMEM ? -EFAULT : 0;
}

int mr_register(struct verbs_mr *mr, struct ibv_pd *pd, void *bytes, size_t byte_count,
		uint64_t iova, unsigned access)
{
	struct context_object *context = context_of(pd->context);
	struct region *region;

	if (access & IBV_ACCESS_ZERO_BASED)
		iova = 0;
	adapter_lock(context->adapter);

	int error = region_register(&adapter_hca(context->adapter)->memory, pd_of(pd)->domain,
				    bytes, byte_count, iova, access, &region);

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

/* All of memory at once: a NULL address of the greatest length, on demand. */
static bool is_implicit(const void *bytes, size_t byte_count, unsigned access)
{
	return !bytes && byte_count == SIZE_MAX && (access & IBV_ACCESS_ON_DEMAND);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
				unsigned int access)
{
	int error = 0;

	if (!is_implicit(addr, length, access))
		error = check_mapped(addr, length);
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
	return &mr->mr;
}

/* Both names are macros that call ibv_reg_mr_iova2 where the flags are not constant. */
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

/* NCCL takes any other errno for "supported". */
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

static int deregister(struct ibv_context *public, struct region *region)
{
	struct context_object *context = context_of(public);

	adapter_lock(context->adapter);

	int error = region_deregister(&adapter_hca(context->adapter)->memory, region);

	adapter_unlock(context->adapter);
	return error;
}

int ibv_dereg_mr(struct ibv_mr *public)
{
	struct verbs_mr *mr = (struct verbs_mr *)public;
	int error = deregister(public->context, mr->region);

	if (error)
		return verbs_result(error);
	if (mr->dm)
		__atomic_sub_fetch(&mr->dm->users, 1, __ATOMIC_RELAXED);
	free(mr);
	return 0;
}

/* Gives the region the place of the other one, which gets its own; both keep their keys. */
static void swap_places(struct region *region, struct region *other)
{
	struct region before = *region;

	*region = *other;
	region->key = before.key;
	before.key = other->key;
	*other = before;
}

/* The keys stay, as peers may hold them already. */
int ibv_rereg_mr(struct ibv_mr *public, int flags, struct ibv_pd *pd, void *addr, size_t length,
		 int access)
{
	struct context_object *context = context_of(public->context);
	struct memory *memory = &adapter_hca(context->adapter)->memory;
	struct verbs_mr *mr = (struct verbs_mr *)public;
	struct verbs_mr changed = {0};

	if (flags == 0 || flags & ~IBV_REREG_MR_FLAGS_SUPPORTED || mr->dm) {
		errno = EINVAL;
		return IBV_REREG_MR_ERR_INPUT;
	}

	bool is_moved = flags & IBV_REREG_MR_CHANGE_TRANSLATION;
	int error = is_moved ? check_mapped(addr, length) : 0;

	if (!error)
		error = mr_register(
			&changed, flags & IBV_REREG_MR_CHANGE_PD ? pd : public->pd,
			is_moved ? addr : public->addr, is_moved ? length : public->length,
			is_moved ? (uintptr_t)addr : mr->region->iova,
			flags & IBV_REREG_MR_CHANGE_ACCESS ? (unsigned)access : mr->region->access);
	if (error) {
		errno = -error;
		return IBV_REREG_MR_ERR_INPUT;
	}
	adapter_lock(context->adapter);
	if (mr->region->window_count == 0)
		swap_places(mr->region, changed.region);
	else
		error = -EBUSY;

	int leftover = region_deregister(memory, changed.region);

	adapter_unlock(context->adapter);
	if (error || leftover) {
		errno = error ? -error : -leftover;
		return IBV_REREG_MR_ERR_INPUT;
	}
	public->pd = changed.mr.pd;
	public->addr = changed.mr.addr;
	public->length = changed.mr.length;
	return 0;
}

/* Pages are faulted in when they are used, so advice needs no more than to be true. */
int verbs_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		    struct ibv_sge *sges, uint32_t sge_count)
{
	struct context_object *context = context_of(pd->context);
	const struct memory *memory = &adapter_hca(context->adapter)->memory;
	uint32_t access = advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE ? ACCESS_LOCAL_WRITE : 0;
	int error = 0;

	if ((unsigned)advice > IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT ||
	    flags & ~(uint32_t)IBV_ADVISE_MR_FLAG_FLUSH || sge_count == 0)
		return verbs_result(-EINVAL);
	adapter_lock(context->adapter);
	for (uint32_t i = 0; i < sge_count && !error; i++) {
		uint8_t *bytes;

		switch (memory_resolve(memory, pd_of(pd)->domain, sges[i].lkey, sges[i].addr,
				       sges[i].length, access, &bytes)) {
		case MEMORY_OK:
			break;
		case MEMORY_BAD_KEY:
		case MEMORY_BAD_PD:
			error = -ENOENT;
			break;
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
