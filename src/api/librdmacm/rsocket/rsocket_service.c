/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that answers SIDR requests for datagram rsockets while the program does something
 * else. */
#include <errno.h>
#include <sys/select.h>
#include "api/librdmacm/rsocket/rsocket_datagram.h"

enum { SERVICE_LOOK_MS = 1000 };

static pthread_mutex_t service_lock = PTHREAD_MUTEX_INITIALIZER;
static struct rsocket_datagrams *served;
static bool service_runs;

static void answer(const struct rsocket_datagrams *datagrams)
{
	struct rdma_cm_event *event;

	while (rdma_get_cm_event(datagrams->socket->channel, &event) == 0) {
		struct rdma_conn_param parameters = {.qp_num = datagrams->qp->qp_num};
		struct rdma_cm_id *id = event->id;
		bool is_request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;

		if (is_request)
			rdma_accept(id, &parameters);
		rdma_ack_cm_event(event);
		if (is_request)
			rdma_destroy_id(id);
	}
}

static void *serve(void *context)
{
	struct pollfd watched[FD_SETSIZE];

	(void)context;
	for (;;) {
		nfds_t count = 0;

		pthread_mutex_lock(&service_lock);
		for (struct rsocket_datagrams *one = served; one && count < FD_SETSIZE;
		     one = one->next) {
			answer(one);
			watched[count++] =
				(struct pollfd){.fd = one->socket->channel->fd, .events = POLLIN};
		}
		service_runs = count > 0;
		pthread_mutex_unlock(&service_lock);
		if (count == 0)
			return NULL;
		poll(watched, count, SERVICE_LOOK_MS);
	}
}

int datagram_service_start(struct rsocket_datagrams *datagrams)
{
	pthread_t thread;
	int error = 0;

	pthread_mutex_lock(&service_lock);
	datagrams->next = served;
	served = datagrams;
	if (!service_runs) {
		error = pthread_create(&thread, NULL, serve, NULL);
		service_runs = !error;
		if (!error)
			pthread_detach(thread);
	}
	pthread_mutex_unlock(&service_lock);
	errno = error;
	return error ? -1 : 0;
}

void datagram_service_stop(struct rsocket_datagrams *datagrams)
{
	pthread_mutex_lock(&service_lock);
	for (struct rsocket_datagrams **link = &served; *link; link = &(*link)->next) {
		if (*link != datagrams)
			continue;
		*link = datagrams->next;
		break;
	}
	pthread_mutex_unlock(&service_lock);
}
