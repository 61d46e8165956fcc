/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Importing: opens a second context by a command descriptor, and further handles of its objects by
 * number.
 *
 * Contexts of one process share the adapter's objects. For an object of another process, this
 * process creates its own, as the export file of the other process lists it: a protection domain
 * for QPs and regions of this process, and regions and device memory over the same pages where both
 * processes can map them (foreign_memory.h). A region stops working here when its owner deregisters
 * it.
 */
#include "api/libibverbs/import.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "api/libibverbs/device.h"
#include "api/libibverbs/device_memory.h"
#include "api/libibverbs/objects/handles.h"
#include "api/libibverbs/mr.h"

uint64_t import_file_identity(int file, pid_t *ret_exporter)
{
	struct export_header header;
	struct stat status;

	*ret_exporter = 0;
	if (!export_file_read(file, &header) || fstat(file, &status) < 0)
		return 0;
	if (header.process != getpid())
		*ret_exporter = (pid_t)header.process;
	return status.st_ino;
}

static struct ibv_device *find_device(uint64_t node_guid)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_device *found = NULL;

	for (unsigned i = 0; list && list[i] && !found; i++)
		if (device_of(list[i])->node_guid == node_guid)
			found = list[i];
	ibv_free_device_list(list);
	return found;
}

/* On success the context owns the descriptor. */
struct ibv_context *ibv_import_device(int file)
{
	struct export_header header;

	if (!export_file_read(file, &header))
		return verbs_null(-EINVAL);

	struct ibv_device *device = find_device(header.node_guid);

	return device ? context_open(device, file) : verbs_null(-ENODEV);
}

static bool shares(struct context_object *context, struct ibv_context *other)
{
	return context->identity && context->identity == context_of(other)->identity;
}

/* The adapter's lock is held. */
static struct verbs_pd *find_pd(struct context_object *context, uint32_t handle)
{
	list_for_each (link, &context->device->pds) {
		struct verbs_pd *pd = container_of(link, struct verbs_pd, link);

		/* In an imported context, PDs that this process allocated itself are not the
		 * exporter's PDs. */
		if (pd->pd.handle == handle && pd->domain && shares(context, pd->pd.context) &&
		    pd->is_foreign == (context->exporter != 0))
			return pd;
	}
	return NULL;
}

/* The PD of that handle: the object itself within one process, else a new one that stands for the
 * exporter's. The adapter's lock is held. */
static int get_domain(struct context_object *context, uint32_t handle, struct verbs_pd *ret_pd)
{
	struct verbs_pd *original = find_pd(context, handle);
	struct export_entry entry;
	uint32_t slot;

	if (original) {
		original->is_shared = true;
		ret_pd->is_shared = true;
		ret_pd->is_foreign = original->is_foreign;
		ret_pd->domain = original->domain;
		return 0;
	}
	if (!context->exporter || !export_file_find(context->block.verbs.context.cmd_fd, EXPORT_PD,
						    handle, &entry, &slot))
		return -ENOENT;
	ret_pd->is_foreign = true;
	return hca_pd_alloc(adapter_hca(context->adapter), &ret_pd->domain);
}

/* Deallocates the stand-in for another process's PD with its last handle. The adapter's lock is
 * held. */
static void drop_domain(struct context_object *context, struct verbs_pd *pd)
{
	struct protection_domain *domain = pd->domain;

	if (!context->exporter || !domain || find_pd(context, pd->pd.handle))
		return;
	/* Regions and QPs that still use the PD keep it. */
	if (hca_pd_dealloc(adapter_hca(context->adapter), domain) != 0)
		return;
	pd->domain = NULL;
}

struct ibv_pd *ibv_import_pd(struct ibv_context *public, uint32_t pd_handle)
{
	if (!public)
		return verbs_null(-EINVAL);

	struct context_object *context = context_of(public);
	struct verbs_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return verbs_null(-ENOMEM);
	adapter_lock(context->adapter);

	int error = get_domain(context, pd_handle, pd);

	if (!error) {
		pd->pd.context = public;
		pd->pd.handle = pd_handle;
		list_append(&context->device->pds, &pd->link);
		context->object_count++;
	}
	adapter_unlock(context->adapter);
	if (error) {
		free(pd);
		return verbs_null(error);
	}
	handle_add(HANDLE_PD, &pd->pd);
	return &pd->pd;
}

void ibv_unimport_pd(struct ibv_pd *public)
{
	if (!handle_is_live(HANDLE_PD, public))
		return;

	struct context_object *context = context_of(public->context);
	struct verbs_pd *pd = pd_of(public);

	adapter_lock(context->adapter);
	list_remove(&pd->link);
	drop_domain(context, pd);
	adapter_unlock(context->adapter);
	handle_remove(public);
	free(pd);
	context_object_gone(context);
}

/* Another handle of a region of this process. The adapter's lock is held. */
static int share_region(struct context_object *context, const struct ibv_pd *pd, uint32_t handle,
			struct verbs_mr *ret_mr)
{
	struct region *region = memory_find(&adapter_hca(context->adapter)->memory, handle);

	if (!region || region->kind != KEY_REGION ||
	    region->pd != pd_of((struct ibv_pd *)(uintptr_t)pd)->domain)
		return -ENOENT;
	ret_mr->region = region;
	return 0;
}

static int map_region(struct context_object *context, const struct ibv_pd *pd, uint32_t handle,
		      struct export_entry *ret_entry, struct verbs_mr *ret_mr)
{
	int file = context->block.verbs.context.cmd_fd;
	uint32_t slot;

	if (!export_file_find(file, EXPORT_MR, handle, ret_entry, &slot) ||
	    ret_entry->pd_handle != pd->handle)
		return -ENOENT;

	int error = foreign_memory_map(context->exporter, ret_entry->address,
				       (size_t)ret_entry->byte_count, &ret_mr->foreign);

	if (error)
		return error;
	ret_mr->watched = export_file_watch(file, slot);
	if (!ret_mr->watched) {
		foreign_memory_unmap(&ret_mr->foreign);
		return -ENOMEM;
	}
	return 0;
}

/* Registers a region over the exporter's pages, with the exporter's key if that key is free in this
 * process. */
static int register_foreign(struct context_object *context, struct ibv_pd *pd, uint32_t handle,
			    struct verbs_mr *ret_mr)
{
	struct export_entry entry;
	int error = map_region(context, pd, handle, &entry, ret_mr);

	if (error)
		return error;

	const struct region region = {
		.bytes = ret_mr->foreign.bytes,
		.iova = entry.iova,
		.byte_count = entry.byte_count,
		.access = entry.access,
		.guard = ret_mr->watched,
		.guard_value = EXPORT_MR,
	};

	adapter_lock(context->adapter);
	error = pd_of(pd)->domain
			? region_register_as(&adapter_hca(context->adapter)->memory,
					     pd_of(pd)->domain, &region, handle, &ret_mr->region)
			: -EINVAL;
	adapter_unlock(context->adapter);
	if (error)
		mr_unmap(ret_mr);
	return error;
}

/* The address stays NULL: with hardware, the importer does not know it either. */
struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
	if (!pd)
		return verbs_null(-EINVAL);

	struct context_object *context = context_of(pd->context);
	struct verbs_mr *mr = calloc(1, sizeof(*mr));
	int error;

	if (!mr)
		return verbs_null(-ENOMEM);
	if (context->exporter) {
		error = register_foreign(context, pd, mr_handle, mr);
	} else {
		adapter_lock(context->adapter);
		error = share_region(context, pd, mr_handle, mr);
		adapter_unlock(context->adapter);
	}
	if (error) {
		free(mr);
		return verbs_null(error);
	}
	mr->mr = (struct ibv_mr){
		.context = pd->context,
		.pd = pd,
		.length = (size_t)mr->region->byte_count,
		.handle = mr->region->key,
		.lkey = mr->region->key,
		.rkey = mr->region->key,
	};
	handle_add(HANDLE_MR, &mr->mr);
	return &mr->mr;
}

void ibv_unimport_mr(struct ibv_mr *public)
{
	if (!handle_is_live(HANDLE_MR, public))
		return;

	struct verbs_mr *mr = (struct verbs_mr *)public;

	/* For another process's region, this handle owns the region here and deregisters it. Memory
	 * windows bound to the region keep it. */
	if (!mr->watched || ibv_dereg_mr(public) != 0) {
		handle_remove(public);
		free(mr);
	}
}

static int share_device_memory(struct context_object *context, uint32_t handle,
			       struct verbs_dm *ret_dm)
{
	list_for_each (link, &context->device->dms) {
		struct verbs_dm *original = container_of(link, struct verbs_dm, link);

		if (original->dm.handle != handle || !shares(context, original->dm.context))
			continue;
		*ret_dm = *original;
		ret_dm->users = 0;
		ret_dm->original = original;
		original->handle_count++;
		return 0;
	}
	return -ENOENT;
}

static int map_device_memory(struct context_object *context, uint32_t handle,
			     struct verbs_dm *ret_dm)
{
	struct export_entry entry;
	uint32_t slot;

	if (!export_file_find(context->block.verbs.context.cmd_fd, EXPORT_DM, handle, &entry,
			      &slot))
		return -ENOENT;

	int error = foreign_memory_map(context->exporter, entry.address, (size_t)entry.byte_count,
				       &ret_dm->foreign);

	if (error)
		return error;
	device_memory_init(ret_dm, ret_dm->foreign.bytes, (size_t)entry.byte_count);
	ret_dm->dm.handle = handle;
	return 0;
}

struct ibv_dm *ibv_import_dm(struct ibv_context *public, uint32_t dm_handle)
{
	if (!public)
		return verbs_null(-EINVAL);

	struct context_object *context = context_of(public);
	struct verbs_dm *dm = calloc(1, sizeof(*dm));
	int error;

	if (!dm)
		return verbs_null(-ENOMEM);
	if (context->exporter) {
		error = map_device_memory(context, dm_handle, dm);
	} else {
		adapter_lock(context->adapter);
		error = share_device_memory(context, dm_handle, dm);
		adapter_unlock(context->adapter);
	}
	if (error) {
		free(dm);
		return verbs_null(error);
	}
	dm->dm.context = public;
	dm->export_slot = EXPORT_NO_SLOT;
	list_init(&dm->link);
	return &dm->dm;
}

void ibv_unimport_dm(struct ibv_dm *dm)
{
	if (!dm)
		return;
	device_memory_drop((struct verbs_dm *)dm);
}
