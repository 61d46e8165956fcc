/* SPDX-License-Identifier: Apache-2.0 */
/* The adapters that connection management may use: opened once, shared by all lists that programs
 * ask for. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

/*
 * The contexts live as long as the process: a list handed out earlier, or an id bound to a device,
 * may still use them. devices_lock covers both.
 */
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ibv_context **contexts;
static int context_count;

static int open_devices(struct ibv_device *const *devices, int device_count)
{
	contexts = calloc((size_t)device_count, sizeof(contexts[0]));
	if (!contexts)
		return -ENOMEM;
	for (int i = 0; i < device_count; i++) {
		struct ibv_context *context = ibv_open_device(devices[i]);

		if (context)
			contexts[context_count++] = context;
	}
	if (context_count > 0)
		return 0;
	free(contexts);
	contexts = NULL;
	return -ENODEV;
}

/* A machine without devices is asked again at each call: its fabric may come up later. */
static int open_devices_once(void)
{
	struct ibv_device **devices;
	int device_count = 0;
	int status = -ENODEV;

	if (context_count > 0)
		return 0;
	devices = ibv_get_device_list(&device_count);
	if (!devices)
		return errno ? -errno : -ENODEV;
	if (device_count > 0)
		status = open_devices(devices, device_count);
	ibv_free_device_list(devices);
	return status;
}

static struct ibv_context **copy_contexts(void)
{
	struct ibv_context **list = calloc((size_t)context_count + 1, sizeof(list[0]));

	for (int i = 0; list && i < context_count; i++)
		list[i] = contexts[i];
	return list;
}

struct ibv_context **rdma_get_devices(int *num_devices)
{
	struct ibv_context **list = NULL;
	int list_count = 0;
	int status;

	pthread_mutex_lock(&devices_lock);
	status = open_devices_once();
	if (status == 0) {
		list = copy_contexts();
		status = list ? 0 : -ENOMEM;
		list_count = list ? context_count : 0;
	}
	pthread_mutex_unlock(&devices_lock);
	if (num_devices)
		*num_devices = list_count;
	if (status)
		errno = -status;
	return list;
}

void rdma_free_devices(struct ibv_context **list)
{
	free(list);
}
