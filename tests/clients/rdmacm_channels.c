/* SPDX-License-Identifier: Apache-2.0 */
/* Event channels are readable when and only when they have an event, also after ids have moved to
 * another channel or are gone: unread events go with their id. Both ends of each connection are in
 * this program. Prints "ok NAME" per case; ends at the first that fails.
 * Covers: api/librdmacm/event_channel.c daemon/cm/cm_channel.c */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <rdma/rdma_cma.h>
#include "rdmacm_client.h"

enum { TIMEOUT_MS = 60000, RESOLVE_MS = 20000, USER = RDMA_CM_EVENT_TIMEWAIT_EXIT + 3 };

/* rdma-core 60's; earlier headers do not have it. */
int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status,
			uint64_t arg);

static const char *own_address;

static bool is_readable(const struct rdma_event_channel *channel, int timeout_ms)
{
	struct pollfd waiting = {.fd = channel->fd, .events = POLLIN};

	return poll(&waiting, 1, timeout_ms) == 1;
}

static struct rdma_event_channel *make_channel(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	CHECK(channel);
	return channel;
}

static struct rdma_cm_id *make_id(struct rdma_event_channel *channel)
{
	struct rdma_cm_id *id;

	CHECK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
	return id;
}

static void write_event(struct rdma_cm_id *id, int number)
{
	CHECK(rdma_write_cm_event(id, (enum rdma_cm_event_type)USER, number, 0) == 0);
}

static struct rdma_cm_event *next_event(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	CHECK(is_readable(channel, TIMEOUT_MS));
	CHECK(rdma_get_cm_event(channel, &event) == 0);
	return event;
}

static void expect_written(struct rdma_event_channel *channel, const struct rdma_cm_id *id,
			   int number)
{
	struct rdma_cm_event *event = next_event(channel);

	CHECK((int)event->event == USER);
	CHECK(event->id == id);
	CHECK(event->status == number);
	CHECK(rdma_ack_cm_event(event) == 0);
}

static void test_unread_events_move_with_their_id(void)
{
	struct rdma_event_channel *first = make_channel(), *second = make_channel();
	struct rdma_cm_id *id = make_id(first);

	for (int number = 1; number <= 3; number++)
		write_event(id, number);
	expect_written(first, id, 1);
	CHECK(is_readable(first, TIMEOUT_MS));
	CHECK(rdma_migrate_id(id, second) == 0);
	CHECK(!is_readable(first, 0));
	expect_written(second, id, 2);
	expect_written(second, id, 3);
	CHECK(!is_readable(second, 0));
	/* And back, after an event on the new channel. */
	write_event(id, 4);
	CHECK(rdma_migrate_id(id, first) == 0);
	CHECK(!is_readable(second, 0));
	expect_written(first, id, 4);
	CHECK(rdma_destroy_id(id) == 0);
	rdma_destroy_event_channel(first);
	rdma_destroy_event_channel(second);
	printf("ok unread events move with their id\n");
}

static void test_events_of_other_ids_stay_in_order(void)
{
	struct rdma_event_channel *first = make_channel(), *second = make_channel();
	struct rdma_cm_id *goes = make_id(first), *stays = make_id(first);

	for (int number = 1; number <= 3; number++) {
		write_event(goes, number);
		write_event(stays, number);
	}
	CHECK(rdma_migrate_id(goes, second) == 0);
	for (int number = 1; number <= 3; number++) {
		expect_written(first, stays, number);
		expect_written(second, goes, number);
	}
	CHECK(!is_readable(first, 0) && !is_readable(second, 0));
	CHECK(rdma_destroy_id(goes) == 0 && rdma_destroy_id(stays) == 0);
	rdma_destroy_event_channel(first);
	rdma_destroy_event_channel(second);
	printf("ok events of other ids stay in order\n");
}

/* An id that is gone leaves nothing behind the events of others. */
static void test_events_of_a_destroyed_id_leave(void)
{
	struct rdma_event_channel *channel = make_channel();
	struct rdma_cm_id *lives = make_id(channel), *goes = make_id(channel);

	write_event(lives, 1);
	write_event(goes, 1);
	write_event(goes, 2);
	CHECK(rdma_destroy_id(goes) == 0);
	expect_written(channel, lives, 1);
	CHECK(!is_readable(channel, 0));
	CHECK(rdma_destroy_id(lives) == 0);
	rdma_destroy_event_channel(channel);
	printf("ok events of a destroyed id leave\n");
}

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attributes = {
		.cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC};

	CHECK(rdma_create_qp(id, NULL, &attributes) == 0);
}

/* A synchronous id that is about to be refused or accepted by the listener. */
static void *call(void *listener)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = rdma_get_src_port(listener)};
	struct rdma_cm_id *id = make_id(NULL);

	CHECK(inet_pton(AF_INET, own_address, &address.sin_addr) == 1);
	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, RESOLVE_MS) == 0);
	CHECK(rdma_resolve_route(id, RESOLVE_MS) == 0);
	make_qp(id);

	bool is_accepted = rdma_connect(id, NULL) == 0;

	CHECK(is_accepted || errno == ECONNREFUSED);
	/* Ends a connection without waiting for the peer's answer. */
	rdma_destroy_qp(id);
	CHECK(rdma_destroy_id(id) == 0);
	return is_accepted ? listener : NULL;
}

static struct rdma_cm_id *listen_on(struct rdma_event_channel *channel)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	struct rdma_cm_id *listener = make_id(channel);

	CHECK(inet_pton(AF_INET, own_address, &address.sin_addr) == 1);
	CHECK(rdma_bind_addr(listener, (struct sockaddr *)&address) == 0);
	CHECK(rdma_listen(listener, 8) == 0);
	return listener;
}

/* The listener moves, and the id of the request belongs to the new channel; with that id move both
 * of its unread events. */
static void test_requests_move_with_their_listener(void)
{
	struct rdma_event_channel *first = make_channel(), *second = make_channel();
	struct rdma_cm_id *listener = listen_on(first);
	struct rdma_conn_param parameters = {0};
	struct rdma_cm_event *event;
	void *is_accepted;
	pthread_t caller;

	CHECK(pthread_create(&caller, NULL, call, listener) == 0);
	CHECK(is_readable(first, TIMEOUT_MS));
	CHECK(rdma_migrate_id(listener, second) == 0);
	CHECK(!is_readable(first, 0));
	event = next_event(second);
	CHECK(event->event == RDMA_CM_EVENT_CONNECT_REQUEST && event->listen_id == listener);

	struct rdma_cm_id *called = event->id;

	CHECK(called->channel == second);
	CHECK(rdma_ack_cm_event(event) == 0);
	make_qp(called);
	CHECK(rdma_accept(called, &parameters) == 0);
	/* The caller leaves at once: two events that nobody has read. */
	CHECK(pthread_join(caller, &is_accepted) == 0 && is_accepted);
	CHECK(rdma_migrate_id(called, first) == 0);
	event = next_event(first);
	CHECK(event->event == RDMA_CM_EVENT_ESTABLISHED && event->id == called);
	CHECK(rdma_ack_cm_event(event) == 0);
	event = next_event(first);
	CHECK(event->event == RDMA_CM_EVENT_DISCONNECTED && event->id == called);
	CHECK(rdma_ack_cm_event(event) == 0);
	CHECK(!is_readable(second, 0));
	rdma_destroy_qp(called);
	CHECK(rdma_destroy_id(called) == 0 && rdma_destroy_id(listener) == 0);
	rdma_destroy_event_channel(first);
	rdma_destroy_event_channel(second);
	printf("ok requests move with their listener\n");
}

static void test_requests_to_a_destroyed_listener_are_refused(void)
{
	struct rdma_event_channel *channel = make_channel();
	struct rdma_cm_id *listener = listen_on(channel), *other = make_id(channel);
	void *is_accepted;
	pthread_t caller;

	write_event(other, 1);
	CHECK(pthread_create(&caller, NULL, call, listener) == 0);
	/* The written event waits before the request: nothing shows when that is there but a socket
	 * with two events, so the other one is read and written again. */
	expect_written(channel, other, 1);
	CHECK(is_readable(channel, TIMEOUT_MS));
	write_event(other, 2);
	CHECK(rdma_destroy_id(listener) == 0);
	CHECK(pthread_join(caller, &is_accepted) == 0 && !is_accepted);
	expect_written(channel, other, 2);
	CHECK(!is_readable(channel, 0));
	CHECK(rdma_destroy_id(other) == 0);
	rdma_destroy_event_channel(channel);
	printf("ok requests to a destroyed listener are refused\n");
}

enum { WRITTEN = 2000, MOVES = 300 };

struct reader {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	int others_count; /* events of ids that came by */
};

/* Blocking: it would hang on a channel that is readable for nothing. */
static void *read_in_order(void *argument)
{
	struct reader *reader = argument;

	for (int number = 0; number < WRITTEN;) {
		struct rdma_cm_event *event;

		CHECK(rdma_get_cm_event(reader->channel, &event) == 0);
		if (event->id == reader->id)
			CHECK(event->status == number++);
		else
			reader->others_count++;
		CHECK(rdma_ack_cm_event(event) == 0);
	}
	return NULL;
}

static void *write_in_order(void *argument)
{
	struct reader *reader = argument;

	for (int number = 0; number < WRITTEN; number++)
		write_event(reader->id, number);
	return NULL;
}

/* softibd takes the events out of a channel and writes most of them again, while a thread reads
 * from it; that thread may also get the event of the id that is about to leave. */
static void test_readers_see_every_event_once_and_in_order(void)
{
	struct rdma_event_channel *first = make_channel(), *second = make_channel();
	struct rdma_cm_id *moves = make_id(second);
	struct reader reader = {first, make_id(first), 0};
	pthread_t reading, writing;
	int moved_count = 0;

	CHECK(pthread_create(&reading, NULL, read_in_order, &reader) == 0);
	CHECK(pthread_create(&writing, NULL, write_in_order, &reader) == 0);
	for (int number = 0; number < MOVES; number++) {
		CHECK(rdma_migrate_id(moves, first) == 0);
		write_event(moves, number);
		CHECK(rdma_migrate_id(moves, second) == 0);
		/* The migration that moved the event is answered before the next event is written.
		 */
		write_event(moves, MOVES + number);

		struct rdma_cm_event *event = next_event(second);

		if (event->status == number) {
			CHECK(rdma_ack_cm_event(event) == 0);
			event = next_event(second);
			moved_count++;
		}
		CHECK(event->status == MOVES + number);
		CHECK(rdma_ack_cm_event(event) == 0);
	}
	CHECK(pthread_join(writing, NULL) == 0 && pthread_join(reading, NULL) == 0);
	CHECK(moved_count + reader.others_count == MOVES);
	CHECK(!is_readable(first, 0) && !is_readable(second, 0));
	CHECK(rdma_destroy_id(moves) == 0 && rdma_destroy_id(reader.id) == 0);
	rdma_destroy_event_channel(first);
	rdma_destroy_event_channel(second);
	printf("ok readers see every event once and in order (%d moved)\n", moved_count);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	own_address = argv[1];
	test_unread_events_move_with_their_id();
	test_events_of_other_ids_stay_in_order();
	test_events_of_a_destroyed_id_leave();
	test_requests_move_with_their_listener();
	test_requests_to_a_destroyed_listener_are_refused();
	test_readers_see_every_event_once_and_in_order();
	return 0;
}
