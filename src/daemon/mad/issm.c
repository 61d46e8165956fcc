/* SPDX-License-Identifier: Apache-2.0 */
/*
 * IsSM is set in a port's capability mask for as long as a subnet manager on its host holds the
 * port's issm device open (vol 1, chapter 14; management 8.3; abi 8.4).
 *
 * The device is a FIFO, which opens for reading at once, without privilege and without a writer.
 * inotify reports that a program opened it. softibd then opens it for writing, and EPOLLERR reports
 * when the last reader has closed it or died.
 */
#include "daemon/mad/issm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon/core/daemon_core.h"
#include "daemon/core/log.h"
#include "mgmt/agents/agents.h"

/* One device of one port. */
struct issm_device {
	struct list link;
	struct issm_watches *watches;
	struct endpoint *endpoint;
	struct watch watch; /* of `writer` */
	int mark;	    /* inotify's watch descriptor */
	int writer;	    /* the FIFO's writing end; -1: no program reads it */
	char path[];
};

struct issm_watches {
	struct daemon_core *core;
	int inotify;
	struct watch watch;
	struct list devices;
	struct hash_table by_mark;
};

static void set_is_sm(struct daemon_core *core, struct port *port, uint32_t bit)
{
	port->info.capability_mask = (port->info.capability_mask & ~CAPABILITY_IS_SM) | bit;
	agent_capability_changed(&core->fabric.agent_memory, port, core->loop.now);
	daemon_core_port_changed(core, port);
}

void issm_hold(struct daemon_core *core, struct endpoint *endpoint)
{
	if (endpoint->sm_count++ == 0)
		set_is_sm(core, endpoint->port, CAPABILITY_IS_SM);
}

void issm_release(struct daemon_core *core, struct endpoint *endpoint)
{
	assert(endpoint->sm_count > 0);
	if (--endpoint->sm_count == 0)
		set_is_sm(core, endpoint->port, 0);
}

static void stop_writing(struct issm_device *device)
{
	if (device->writer < 0)
		return;
	close(device->writer);
	device->writer = -1;
	issm_release(device->watches->core, device->endpoint);
}

static void look_for_readers(struct issm_device *device)
{
	struct daemon_core *core = device->watches->core;

	if (device->writer >= 0)
		return;
	/* ENXIO: the reader has closed it already. */
	device->writer = open(device->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (device->writer < 0)
		return;

	/* EPOLLERR, which is always reported, says that the readers have gone. */
	int error = event_loop_watch_for(&core->loop, device->writer, &device->watch, 0);

	if (error) {
		log_line("can't watch a subnet manager on host %s: %s",
			 device->endpoint->device->host->name, strerror(-error));
		close(device->writer);
		device->writer = -1;
		return;
	}
	issm_hold(core, device->endpoint);
}

static void writer_ready(struct watch *watch, uint32_t events)
{
	struct issm_device *device = container_of(watch, struct issm_device, watch);

	if (!(events & (EPOLLERR | EPOLLHUP)))
		return;
	stop_writing(device);
	/* Another program may have opened it meanwhile. */
	look_for_readers(device);
}

static void inotify_ready(struct watch *watch, uint32_t events)
{
	struct issm_watches *watches = container_of(watch, struct issm_watches, watch);
	_Alignas(struct inotify_event) char bytes[4096];

	(void)events;

	ssize_t byte_count = read(watches->inotify, bytes, sizeof(bytes));

	for (ssize_t offset = 0; offset < byte_count;) {
		struct inotify_event event;

		memcpy(&event, bytes + offset, sizeof(event));
		offset += (ssize_t)(sizeof(event) + event.len);

		struct issm_device *device =
			event.wd >= 0 ? hash_table_get(&watches->by_mark, (uint64_t)event.wd)
				      : NULL;

		if (device && (event.mask & IN_OPEN))
			look_for_readers(device);
	}
}

int issm_start(struct daemon_core *core, struct issm_watches **ret_watches)
{
	struct issm_watches *watches = calloc(1, sizeof(*watches));

	if (!watches)
		return -ENOMEM;
	watches->core = core;
	watches->watch.ready = inotify_ready;
	list_init(&watches->devices);
	hash_table_init(&watches->by_mark);
	watches->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	int error = watches->inotify < 0
			    ? -errno
			    : event_loop_watch(&core->loop, watches->inotify, &watches->watch);

	if (error) {
		if (watches->inotify >= 0)
			close(watches->inotify);
		free(watches);
		return error;
	}
	*ret_watches = watches;
	return 0;
}

static void forget_device(struct issm_device *device)
{
	hash_table_remove(&device->watches->by_mark, (uint64_t)device->mark);
	stop_writing(device);
	list_remove(&device->link);
	free(device);
}

void issm_stop(struct issm_watches *watches)
{
	if (!watches)
		return;
	while (!list_is_empty(&watches->devices))
		forget_device(
			container_of(list_first(&watches->devices), struct issm_device, link));
	hash_table_release(&watches->by_mark);
	close(watches->inotify);
	free(watches);
}

void issm_watch_port(struct issm_watches *watches, struct endpoint *endpoint, const char *path)
{
	size_t path_bytes = strlen(path) + 1;
	struct issm_device *device = watches ? calloc(1, sizeof(*device) + path_bytes) : NULL;

	if (!device)
		return;
	device->watches = watches;
	device->endpoint = endpoint;
	device->watch.ready = writer_ready;
	device->writer = -1;
	memcpy(device->path, path, path_bytes);
	device->mark = inotify_add_watch(watches->inotify, path, IN_OPEN);
	if (device->mark < 0 ||
	    hash_table_put(&watches->by_mark, (uint64_t)device->mark, device) != 0) {
		log_line("can't watch %s: %s", path, strerror(errno));
		free(device);
		return;
	}
	list_append(&watches->devices, &device->link);
	/* A program may have opened it before inotify watched it. */
	look_for_readers(device);
}
