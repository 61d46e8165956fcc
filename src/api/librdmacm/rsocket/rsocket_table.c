/* SPDX-License-Identifier: Apache-2.0 */
/* The table of rsockets by descriptor, and allocation. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "api/librdmacm/rsocket/rsocket.h"

enum { PAGE_SOCKETS = 1024, PAGE_COUNT = 1024 };

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rsocket **pages[PAGE_COUNT];

static struct rsocket **place_of(int descriptor)
{
	if (descriptor < 0 || descriptor >= PAGE_SOCKETS * PAGE_COUNT)
		return NULL;

	struct rsocket **page =
		__atomic_load_n(&pages[descriptor / PAGE_SOCKETS], __ATOMIC_ACQUIRE);

	return page ? &page[descriptor % PAGE_SOCKETS] : NULL;
}

struct rsocket *rsocket_find(int descriptor)
{
	struct rsocket **place = place_of(descriptor);
	struct rsocket *socket = place ? __atomic_load_n(place, __ATOMIC_ACQUIRE) : NULL;

	if (!socket)
		errno = EBADF;
	return socket;
}

int rsocket_enter(struct rsocket *socket)
{
	int descriptor = socket->descriptor;

	if (descriptor >= PAGE_SOCKETS * PAGE_COUNT) {
		errno = EMFILE;
		return -1;
	}
	pthread_mutex_lock(&table_lock);
	if (!pages[descriptor / PAGE_SOCKETS])
		__atomic_store_n(&pages[descriptor / PAGE_SOCKETS],
				 calloc(PAGE_SOCKETS, sizeof(struct rsocket *)), __ATOMIC_RELEASE);

	struct rsocket **place = place_of(descriptor);

	if (place)
		__atomic_store_n(place, socket, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&table_lock);
	if (!place)
		errno = ENOMEM;
	return place ? 0 : -1;
}

void rsocket_leave(struct rsocket *socket)
{
	struct rsocket **place = place_of(socket->descriptor);

	if (place)
		__atomic_store_n(place, NULL, __ATOMIC_RELEASE);
}

struct rsocket *rsocket_new(int type)
{
	struct rsocket *socket = calloc(1, sizeof(*socket));

	if (!socket)
		return NULL;
	pthread_mutex_init(&socket->lock, NULL);
	socket->type = type;
	socket->descriptor = -1;
	socket->options.send_buffer = socket->options.receive_buffer = RSOCKET_BUFFER_DEFAULT;
	socket->options.sends_max = RSOCKET_SENDS_DEFAULT;
	socket->options.receives_max = RSOCKET_RECEIVES_DEFAULT;
	socket->options.inline_bytes = RSOCKET_INLINE_DEFAULT;
	return socket;
}

void rsocket_free(struct rsocket *socket)
{
	pthread_mutex_destroy(&socket->lock);
	free(socket);
}
