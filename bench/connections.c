/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections through librdmacm: how long one takes, how many a second, how many at once.
 *
 *	bench-connections serve ADDRESS PORT
 *		accepts, and answers disconnects, until killed
 *	bench-connections call ADDRESS PORT TOTAL WINDOW
 *		TOTAL connections, WINDOW at a time, each torn down when made
 *	bench-connections hold ADDRESS PORT COUNT
 *		COUNT at once
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rdma/rdma_cma.h>

enum { RESOLVE_MS = 30000 };

static struct rdma_event_channel *channel;
static struct sockaddr_in address;
static struct ibv_cq *cq;

static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void make_qp(struct rdma_cm_id *id)
{
	if (!cq)
		cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);

	struct ibv_qp_init_attr attributes = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC};

	if (rdma_create_qp(id, NULL, &attributes) != 0)
		give_up("rdma_create_qp");
}

static void drop(struct rdma_cm_id *id)
{
	free(id->context);
	rdma_destroy_qp(id);
	if (rdma_destroy_id(id) != 0)
		give_up("rdma_destroy_id");
}

static void serve(void)
{
	struct rdma_conn_param parameters = {.responder_resources = 1, .initiator_depth = 1};
	struct rdma_cm_event *event;
	struct rdma_cm_id *listener;

	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) != 0 ||
	    rdma_bind_addr(listener, (struct sockaddr *)&address) != 0 ||
	    rdma_listen(listener, 0) != 0)
		give_up("rdma_listen");
	while (rdma_get_cm_event(channel, &event) == 0) {
		struct rdma_cm_id *id = event->id;
		enum rdma_cm_event_type kind = event->event;

		rdma_ack_cm_event(event);
		if (kind == RDMA_CM_EVENT_CONNECT_REQUEST) {
			make_qp(id);
			if (rdma_accept(id, &parameters) != 0)
				drop(id);
		} else if (kind == RDMA_CM_EVENT_DISCONNECTED) {
			rdma_disconnect(id);
			drop(id);
		}
	}
}

/* The context of a connection holds its start time. */
static void begin(void)
{
	double *began = malloc(sizeof(*began));
	struct rdma_cm_id *id;

	if (!began)
		give_up("malloc");
	*began = seconds_now();
	if (rdma_create_id(channel, &id, began, RDMA_PS_TCP) != 0 ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, RESOLVE_MS) != 0)
		give_up("rdma_resolve_addr");
}

static void go_on(struct rdma_cm_id *id, enum rdma_cm_event_type kind)
{
	struct rdma_conn_param parameters = {
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7};

	if (kind == RDMA_CM_EVENT_ADDR_RESOLVED) {
		if (rdma_resolve_route(id, RESOLVE_MS) != 0)
			give_up("rdma_resolve_route");
	} else if (kind == RDMA_CM_EVENT_ROUTE_RESOLVED) {
		make_qp(id);
		if (rdma_connect(id, &parameters) != 0)
			give_up("rdma_connect");
	} else {
		fprintf(stderr, "%s\n", rdma_event_str(kind));
		exit(1);
	}
}

/* The id of the next connection that is established or has ended. */
static struct rdma_cm_id *next_done(enum rdma_cm_event_type *ret_kind)
{
	struct rdma_cm_event *event;

	for (;;) {
		if (rdma_get_cm_event(channel, &event) != 0)
			give_up("rdma_get_cm_event");

		struct rdma_cm_id *id = event->id;
		enum rdma_cm_event_type kind = event->event;

		rdma_ack_cm_event(event);
		if (kind == RDMA_CM_EVENT_ESTABLISHED || kind == RDMA_CM_EVENT_DISCONNECTED) {
			*ret_kind = kind;
			return id;
		}
		if (kind != RDMA_CM_EVENT_TIMEWAIT_EXIT)
			go_on(id, kind);
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void call(unsigned total, unsigned window)
{
	double *took = calloc(total, sizeof(*took));
	double start = seconds_now();
	unsigned begun = 0, over = 0, made = 0;

	if (!took)
		give_up("calloc");
	for (; begun < window && begun < total; begun++)
		begin();
	while (over < total) {
		enum rdma_cm_event_type kind;
		struct rdma_cm_id *id = next_done(&kind);

		if (kind == RDMA_CM_EVENT_ESTABLISHED) {
			took[made++] = seconds_now() - *(double *)id->context;
			rdma_disconnect(id);
			continue;
		}
		drop(id);
		over++;
		if (begun++ < total)
			begin();
	}
	qsort(took, made, sizeof(*took), compare);
	printf("%u connections, %u at a time: %.0f a second made and torn down; set-up median %.0f "
	       "us, 99%% %.0f us\n",
	       total, window, total / (seconds_now() - start), took[made / 2] * 1e6,
	       took[made * 99 / 100] * 1e6);
	free(took);
}

static void hold(unsigned count)
{
	enum { AT_ONCE = 256 };
	struct rdma_cm_id **ids = calloc(count, sizeof(ids[0]));
	enum rdma_cm_event_type kind;
	double start = seconds_now();
	unsigned begun = 0, made = 0;

	if (!ids)
		give_up("calloc");
	for (; begun < AT_ONCE && begun < count; begun++)
		begin();
	while (made < count) {
		ids[made++] = next_done(&kind);
		if (kind != RDMA_CM_EVENT_ESTABLISHED)
			give_up("a connection was lost");
		if (begun++ < count)
			begin();
	}
	printf("%u connections established at once, in %.1f s", made, seconds_now() - start);
	start = seconds_now();
	for (unsigned index = 0; index < count; index++)
		rdma_disconnect(ids[index]);
	for (unsigned over = 0; over < count; over++)
		drop(next_done(&kind));
	printf("; gone in %.1f s\n", seconds_now() - start);
	free(ids);
}

int main(int argument_count, char **arguments)
{
	if (argument_count < 4)
		return 2;
	address =
		(struct sockaddr_in){.sin_family = AF_INET,
				     .sin_port = htons((uint16_t)strtoul(arguments[3], NULL, 10))};
	inet_pton(AF_INET, arguments[2], &address.sin_addr);
	channel = rdma_create_event_channel();
	if (!channel)
		give_up("rdma_create_event_channel");
	if (strcmp(arguments[1], "serve") == 0)
		serve();
	else if (strcmp(arguments[1], "hold") == 0 && argument_count == 5)
		hold((unsigned)strtoul(arguments[4], NULL, 10));
	else if (strcmp(arguments[1], "call") == 0 && argument_count == 6)
		call((unsigned)strtoul(arguments[4], NULL, 10),
		     (unsigned)strtoul(arguments[5], NULL, 10));
	else
		return 2;
	return 0;
}
