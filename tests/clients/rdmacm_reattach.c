/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with connections by RDMA CM that outlives softibd: it resolves its own address,
 * destroys what it has when that fails, and begins again with the next softibd.
 *
 *   rdmacm_reattach ADDRESS COUNT
 *
 * Prints "attached N" when its address is resolved in its Nth fabric; ends well with the COUNTth.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdbool.h>
#include <time.h>
#include <rdma/rdma_cma.h>
#include "rdmacm_client.h"

enum { RESOLVE_MS = 5000, FABRIC_SECONDS_MAX = 60 };

/* Resolves the address to itself; false: there is no adapter now. */
static bool resolve(struct rdma_event_channel *channel, const char *text)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	struct pollfd waiting = {.fd = channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	bool is_resolved = false;

	CHECK(inet_pton(AF_INET, text, &address.sin_addr) == 1);
	CHECK(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) == 0);
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, RESOLVE_MS) == 0) {
		/* A channel whose softibd has ended is readable, too. */
		CHECK(poll(&waiting, 1, 10 * RESOLVE_MS) == 1);
		if (rdma_get_cm_event(channel, &event) == 0) {
			is_resolved = event->event == RDMA_CM_EVENT_ADDR_RESOLVED && id->verbs;
			rdma_ack_cm_event(event);
		}
	}
	CHECK(rdma_destroy_id(id) == 0 || !is_resolved);
	return is_resolved;
}

int main(int argc, char **argv)
{
	long count = argc > 2 ? strtol(argv[2], NULL, 10) : 1, attached = 0;
	bool was_resolved = false;
	time_t end = time(NULL) + FABRIC_SECONDS_MAX;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (attached < count) {
		struct rdma_event_channel *channel = rdma_create_event_channel();
		bool is_resolved = channel && resolve(channel, argv[1]);

		if (channel)
			rdma_destroy_event_channel(channel);
		if (is_resolved && !was_resolved) {
			printf("attached %ld\n", ++attached);
			end = time(NULL) + FABRIC_SECONDS_MAX;
		}
		was_resolved = is_resolved;
		CHECK(time(NULL) <= end);
	}
	return 0;
}
