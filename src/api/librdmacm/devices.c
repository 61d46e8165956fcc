/* SPDX-License-Identifier: Apache-2.0 */
/* The adapters that connection management uses: opened once, and shared by all lists that programs
 * get. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "api/librdmacm/identifier.h"
#include "base/bytes.h"
#include "runtime/session.h"

/*
 * The contexts live as long as the process or its softibd, because a list that a program got
 * earlier, or an id bound to a device, may still use them. devices_lock covers all tables.
 */
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ibv_context **contexts;
static int context_count;
static int lists_out; /* what programs have of rdma_get_devices */

static struct ibv_pd **pds;
static struct ibv_xrcd **xrcds;
static int *adapter_indexes; /* not consecutive if an adapter cannot be opened */

static void free_tables(void)
{
	free(contexts);
	free(pds);
	free(xrcds);
	free(adapter_indexes);
	contexts = NULL;
	pds = NULL;
	xrcds = NULL;
	adapter_indexes = NULL;
}

static void before_fork(void)
{
	pthread_mutex_lock(&devices_lock);
}

static void after_fork_in_parent(void)
{
	pthread_mutex_unlock(&devices_lock);
}

/* Open devices belong to the parent; the child opens its own when it needs them. */
static void after_fork_in_child(void)
{
	free_tables();
	context_count = 0;
	pthread_mutex_unlock(&devices_lock);
}

static void handle_forks(void)
{
	static bool is_done;

	if (!is_done)
		is_done =
			pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
}

static int open_devices(struct ibv_device *const *devices, int device_count)
{
	handle_forks();
	contexts = calloc((size_t)device_count, sizeof(contexts[0]));
	pds = calloc((size_t)device_count, sizeof(pds[0]));
	xrcds = calloc((size_t)device_count, sizeof(xrcds[0]));
	adapter_indexes = calloc((size_t)device_count, sizeof(adapter_indexes[0]));
	if (!contexts || !pds || !xrcds || !adapter_indexes) {
		free_tables();
		return -ENOMEM;
	}
	for (int i = 0; i < device_count; i++) {
		struct ibv_context *context = ibv_open_device(devices[i]);

		if (!context)
			continue;
		adapter_indexes[context_count] = i;
		contexts[context_count++] = context;
	}
	if (context_count > 0)
		return 0;
	free_tables();
	return -ENODEV;
}

static void close_devices(void)
{
	for (int i = 0; i < context_count; i++) {
		if (xrcds[i])
			ibv_close_xrcd(xrcds[i]);
		if (pds[i])
			ibv_dealloc_pd(pds[i]);
		ibv_close_device(contexts[i]);
	}
	free_tables();
	context_count = 0;
}

void devices_close_lost(void)
{
	pthread_mutex_lock(&devices_lock);
	if (context_count > 0 && lists_out == 0 && identifier_count() == 0 && session_has_ended())
		close_devices();
	pthread_mutex_unlock(&devices_lock);
}

/* If there are no devices, every call looks again: the fabric may come up later. */
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

	devices_close_lost();
	pthread_mutex_lock(&devices_lock);
	status = open_devices_once();
	if (status == 0) {
		list = copy_contexts();
		status = list ? 0 : -ENOMEM;
		list_count = list ? context_count : 0;
		lists_out += list != NULL;
	}
	pthread_mutex_unlock(&devices_lock);
	if (num_devices)
		*num_devices = list_count;
	if (status)
		errno = -status;
	return list;
}

/* The adapter's index in the tables; -1: it is not open. */
static int find_adapter(unsigned adapter_index)
{
	if (open_devices_once() != 0)
		return -1;
	for (int i = 0; i < context_count; i++) {
		if (adapter_indexes[i] == (int)adapter_index)
			return i;
	}
	return -1;
}

struct ibv_context *devices_context(unsigned adapter_index)
{
	struct ibv_context *context = NULL;

	pthread_mutex_lock(&devices_lock);

	int place = find_adapter(adapter_index);

	if (place >= 0)
		context = contexts[place];
	pthread_mutex_unlock(&devices_lock);
	return context;
}

struct ibv_pd *devices_pd(unsigned adapter_index)
{
	struct ibv_pd *pd = NULL;

	pthread_mutex_lock(&devices_lock);

	int place = find_adapter(adapter_index);

	if (place >= 0) {
		if (!pds[place])
			pds[place] = ibv_alloc_pd(contexts[place]);
		pd = pds[place];
	}
	pthread_mutex_unlock(&devices_lock);
	return pd;
}

static struct ibv_xrcd *open_xrcd(struct ibv_context *context)
{
	struct ibv_xrcd_init_attr attributes = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	return ibv_open_xrcd(context, &attributes);
}

struct ibv_xrcd *devices_xrcd(const struct ibv_context *context)
{
	struct ibv_xrcd *xrcd = NULL;

	pthread_mutex_lock(&devices_lock);
	for (int i = 0; i < context_count; i++) {
		if (contexts[i] != context)
			continue;
		if (!xrcds[i])
			xrcds[i] = open_xrcd(contexts[i]);
		xrcd = xrcds[i];
	}
	pthread_mutex_unlock(&devices_lock);
	return xrcd;
}

void devices_depths(struct ibv_context *context, uint8_t *ret_responder_resources,
		    uint8_t *ret_initiator_depth)
{
	static struct ibv_context *known;
	static uint8_t resources, depth;
	struct ibv_device_attr attributes;

	pthread_mutex_lock(&devices_lock);
	/* All adapters of a host have the same limits, and every connection needs them, so they are
	 * queried once. */
	if (known != context && ibv_query_device(context, &attributes) == 0) {
		resources = (uint8_t)(attributes.max_qp_rd_atom < RDMA_MAX_RESP_RES
					      ? attributes.max_qp_rd_atom
					      : RDMA_MAX_RESP_RES - 1);
		depth = (uint8_t)(attributes.max_qp_init_rd_atom < RDMA_MAX_INIT_DEPTH
					  ? attributes.max_qp_init_rd_atom
					  : RDMA_MAX_INIT_DEPTH - 1);
		known = context;
	}
	*ret_responder_resources = resources;
	*ret_initiator_depth = depth;
	pthread_mutex_unlock(&devices_lock);
}

void rdma_free_devices(struct ibv_context **list)
{
	pthread_mutex_lock(&devices_lock);
	lists_out -= list != NULL;
	pthread_mutex_unlock(&devices_lock);
	free(list);
}
