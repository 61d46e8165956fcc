/* SPDX-License-Identifier: Apache-2.0 */
/* The adapters of this host as verbs devices. */
#include "api/libibverbs/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "runtime/session.h"

static pthread_mutex_t devices_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct verbs_device *devices[SESSION_ADAPTERS_MAX];

static struct verbs_device *device_create(const struct adapter_description *description,
					  unsigned index)
{
	struct verbs_device *device = calloc(1, sizeof(*device));

	if (!device)
		return NULL;

	struct ibv_device *public = &device->device;

	public->node_type = IBV_NODE_CA;
	public->transport_type = IBV_TRANSPORT_IB;
	snprintf(public->name, sizeof(public->name), "%s", description->name);
	snprintf(public->dev_name, sizeof(public->dev_name), "%s", description->device_name);
	snprintf(public->dev_path, sizeof(public->dev_path), "%s", description->device_path);
	snprintf(public->ibdev_path, sizeof(public->ibdev_path), "%s", description->adapter_path);
	device->index = index;
	device->node_guid = description->node_guid;
	pthread_mutex_init(&device->mutex, NULL);
	list_init(&device->contexts);
	list_init(&device->pds);
	list_init(&device->dms);
	return device;
}

/* Another thread may have held a mutex when the process forked. That thread does not exist in the
 * child. */
static void after_fork_in_child(void)
{
	pthread_mutex_init(&devices_mutex, NULL);
	for (unsigned i = 0; i < SESSION_ADAPTERS_MAX; i++)
		if (devices[i])
			pthread_mutex_init(&devices[i]->mutex, NULL);
}

static void register_fork_handler(void)
{
	/* If registering fails, a fork while another thread opens a device can leave a mutex locked
	 * in the child. */
	(void)!pthread_atfork(NULL, NULL, after_fork_in_child);
}

static void handle_forks(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_fork_handler);
}

/* The next softibd may have another adapter in its place. */
static bool is_same(const struct verbs_device *device, const struct adapter_description *adapter)
{
	return device->node_guid == adapter->node_guid &&
	       strcmp(device->device.name, adapter->name) == 0 &&
	       strcmp(device->device.ibdev_path, adapter->adapter_path) == 0;
}

/* The device of this index, made at its first use. Programs keep pointers to devices: one that is
 * replaced stays. */
static struct verbs_device *device_get(const struct session *session, unsigned index)
{
	const struct adapter_description *adapter = session_adapter(session, index);

	pthread_mutex_lock(&devices_mutex);
	if (!devices[index] || !is_same(devices[index], adapter))
		devices[index] = device_create(adapter, index);

	struct verbs_device *device = devices[index];

	pthread_mutex_unlock(&devices_mutex);
	return device;
}

struct ibv_device **ibv_get_device_list(int *ret_count)
{
	struct session *session;
	unsigned count = 0;

	handle_forks();
	if (session_get(&session) == 0)
		count = session_adapter_count(session);
	if (count > SESSION_ADAPTERS_MAX)
		count = SESSION_ADAPTERS_MAX;

	struct ibv_device **list = calloc(count + 1u, sizeof(struct ibv_device *));

	if (!list)
		return verbs_null(-ENOMEM);
	for (unsigned i = 0; i < count; i++) {
		struct verbs_device *device = device_get(session, i);

		if (!device) {
			free(list);
			return verbs_null(-ENOMEM);
		}
		list[i] = &device->device;
	}
	if (ret_count)
		*ret_count = (int)count;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	if (!device)
		return NULL;
	return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	if (!device)
		return 0;

	uint8_t bytes[8];
	__be64 guid;

	put_be64(bytes, device_of(device)->node_guid);
	memcpy(&guid, bytes, sizeof(guid));
	return guid;
}

/* There is no kernel device, and UCX would ask the kernel about any other number. */
int ibv_get_device_index(struct ibv_device *device)
{
	if (!device)
		return -1;
	(void)device;
	return -1;
}
