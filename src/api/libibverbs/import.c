/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Importing: a second context, and further handles of objects, by a command descriptor and numbers.
 *
 * An adapter's objects are in the process that made them, so only contexts of one process share
 * them. A descriptor that comes from another process opens the same adapter, without its objects.
 */
#include "api/libibverbs/import.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "api/libibverbs/device.h"
#include "api/libibverbs/device_memory.h"

/* The contents of the file. */
struct import_note {
	uint64_t magic;
	uint64_t node_guid;
	int64_t process;
};

#define NOTE_MAGIC 0x736f66746962696dull

/* Under a limit on the size of files this raises SIGXFSZ, which would end a program that only opened
 * a device. */
static void write_note(int file, const struct import_note *note)
{
	const struct timespec at_once = {0};
	sigset_t signal, before;

	sigemptyset(&signal);
	sigaddset(&signal, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &signal, &before);
	if (pwrite(file, note, sizeof(*note), 0) < 0)
		sigtimedwait(&signal, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Without its note the file serves for everything but importing. */
int import_file_create(const struct verbs_device *device, int *ret_file)
{
	const struct import_note note = {NOTE_MAGIC, device->node_guid, getpid()};
	int file = memfd_create("softib-context", MFD_CLOEXEC);

	if (file < 0)
		return -errno;
	write_note(file, &note);
	*ret_file = file;
	return 0;
}

static bool read_note(int file, struct import_note *ret_note)
{
	return pread(file, ret_note, sizeof(*ret_note), 0) == (ssize_t)sizeof(*ret_note) &&
	       ret_note->magic == NOTE_MAGIC;
}

uint64_t import_file_identity(int file)
{
	struct import_note note;
	struct stat status;

	if (!read_note(file, &note) || note.process != getpid() || fstat(file, &status) < 0)
		return 0;
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

/* The descriptor belongs to the context from here on. */
struct ibv_context *ibv_import_device(int file)
{
	struct import_note note;

	if (!read_note(file, &note))
		return verbs_null(-EINVAL);

	struct ibv_device *device = find_device(note.node_guid);

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

		if (pd->pd.handle == handle && pd->domain && shares(context, pd->pd.context))
			return pd;
	}
	return NULL;
}

struct ibv_pd *ibv_import_pd(struct ibv_context *public, uint32_t pd_handle)
{
	struct context_object *context = context_of(public);
	struct verbs_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return verbs_null(-ENOMEM);
	adapter_lock(context->adapter);

	struct verbs_pd *original = find_pd(context, pd_handle);

	if (original) {
		original->is_shared = true;
		pd->is_shared = true;
		pd->domain = original->domain;
		pd->pd.context = public;
		pd->pd.handle = pd_handle;
		list_append(&context->device->pds, &pd->link);
		context->object_count++;
	}
	adapter_unlock(context->adapter);
	if (!original) {
		free(pd);
		return verbs_null(-ENOENT);
	}
	return &pd->pd;
}

void ibv_unimport_pd(struct ibv_pd *public)
{
	struct context_object *context = context_of(public->context);
	struct verbs_pd *pd = pd_of(public);

	adapter_lock(context->adapter);
	list_remove(&pd->link);
	adapter_unlock(context->adapter);
	free(pd);
	context_object_gone(context);
}

/* Where it is in memory is not told, as the importer of a real one would not know either. */
struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
	struct context_object *context = context_of(pd->context);
	struct verbs_mr *mr = calloc(1, sizeof(*mr));

	if (!mr)
		return verbs_null(-ENOMEM);
	adapter_lock(context->adapter);

	struct region *region = memory_find(&adapter_hca(context->adapter)->memory, mr_handle);

	if (region && region->kind == KEY_REGION && region->pd == pd_of(pd)->domain) {
		mr->region = region;
		mr->mr = (struct ibv_mr){
			.context = pd->context,
			.pd = pd,
			.length = (size_t)region->byte_count,
			.handle = mr_handle,
			.lkey = region->key,
			.rkey = region->key,
		};
	}
	adapter_unlock(context->adapter);
	if (!mr->region) {
		free(mr);
		return verbs_null(-ENOENT);
	}
	return &mr->mr;
}

void ibv_unimport_mr(struct ibv_mr *mr)
{
	free(mr);
}

struct ibv_dm *ibv_import_dm(struct ibv_context *public, uint32_t dm_handle)
{
	struct context_object *context = context_of(public);
	struct verbs_dm *dm = calloc(1, sizeof(*dm));

	if (!dm)
		return verbs_null(-ENOMEM);
	adapter_lock(context->adapter);
	list_for_each (link, &context->device->dms) {
		struct verbs_dm *original = container_of(link, struct verbs_dm, link);

		if (original->dm.handle == dm_handle && shares(context, original->dm.context)) {
			*dm = *original;
			dm->users = 0;
			dm->dm.context = public;
			dm->original = original;
			original->handle_count++;
			break;
		}
	}
	adapter_unlock(context->adapter);
	if (!dm->original) {
		free(dm);
		return verbs_null(-ENOENT);
	}
	list_init(&dm->link);
	return &dm->dm;
}

void ibv_unimport_dm(struct ibv_dm *dm)
{
	device_memory_drop((struct verbs_dm *)dm);
}
