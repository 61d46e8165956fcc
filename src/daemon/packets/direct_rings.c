/* SPDX-License-Identifier: Apache-2.0 */
/* Direct rings: memory that two processes exchange packets through. softibd creates a ring, hands
 * it to these two only, and closes it when one of them ends. */
#include "daemon/packets/direct_rings.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
#include "daemon/core/daemon_core.h"
#include "daemon/core/limits.h"
#include "ipc/doorbell.h"
#include "ipc/memory_file.h"

enum { GRANTS_AT_FIRST = 4 };

struct direct_end {
	struct list link; /* client->direct_ends */
	struct client *client;
	struct direct_ring *ring;
	bool has_been_told; /* by an offer, or by the answer to its own resolve request */
	bool was_fetched;
	bool exposes; /* its peer may map its exported rkeys */
	/* What the other end may send to this one. */
	struct ring_grant *grants;
	unsigned grant_count, grant_capacity;
	struct account *granted; /* the other end's, which the grants count for; the ring has it */
};

/* ends[0] is the process with the lower id. A process's ring to itself has one end, ends[0], and
 * ends[1] names the same client. An end whose client is NULL ended before its peer fetched the
 * ring. */
struct direct_ring {
	uint32_t id;
	unsigned end_count;
	struct direct_end ends[2];
	/* Kept to close the ring. softibd does not keep it mapped, because the system limits the
	 * mappings of a process (vm.max_map_count), and 362 programs that all talk to each other
	 * have that many rings. */
	int memory_file;
	struct account *asker;	 /* of the process that wanted the ring */
	struct account *offered; /* of the other one; NULL: they are one */
};

static unsigned side_of(struct direct_ring *ring, const struct client *client)
{
	return ring->ends[0].client == client ? 0 : 1;
}

static struct direct_end *end_of(struct direct_ring *ring, const struct client *client)
{
	return &ring->ends[side_of(ring, client)];
}

static struct direct_ring *find_ring(const struct client *client, uint32_t id)
{
	list_for_each (link, &client->direct_ends) {
		struct direct_end *end = container_of(link, struct direct_end, link);

		if (end->ring->id == id)
			return end->ring;
	}
	return NULL;
}

static struct direct_ring *find_peer(const struct client *client, const struct client *peer)
{
	list_for_each (link, &client->direct_ends) {
		struct direct_ring *ring = container_of(link, struct direct_end, link)->ring;
		unsigned other = ring->end_count - 1 - side_of(ring, client);

		if (ring->ends[other].client == peer)
			return ring;
	}
	return NULL;
}

/* Without getrandom(), the address of the stack serves as a seed: it differs from run to run. */
static uint64_t draw_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
		seed = (uint64_t)(uintptr_t)&seed * 0x9e3779b97f4a7c15u;
	return seed;
}

static int make_memory(int *ret_file)
{
	struct direct_layout layout = direct_layout();
	uint8_t *memory;
	int error =
		memory_file_create("softib-direct", layout.total_bytes, ret_file, (void **)&memory);

	if (error)
		return error;
	for (unsigned way = 0; way < 2; way++)
		ring_shared_init_stamped(memory + layout.offset[way], draw_seed());
	munmap(memory, layout.total_bytes);
	return 0;
}

/* The process that wants the ring pays for it; the other one is only protected from too many. */
static int take_ring(struct account *asker, struct account *offered)
{
	int error = account_take(asker, LIMIT_RINGS, 1);

	if (error)
		return error;
	error = account_take(asker, LIMIT_DESCRIPTORS, 1);
	if (!error && offered) {
		error = account_take(offered, LIMIT_OFFERED_RINGS, 1);
		if (error)
			account_give(asker, LIMIT_DESCRIPTORS, 1);
	}
	if (error)
		account_give(asker, LIMIT_RINGS, 1);
	return error;
}

static void give_ring(struct account *asker, struct account *offered)
{
	if (offered)
		account_give(offered, LIMIT_OFFERED_RINGS, 1);
	account_give(asker, LIMIT_DESCRIPTORS, 1);
	account_give(asker, LIMIT_RINGS, 1);
}

static int make_ring(struct client *a, struct client *b, struct direct_ring **ret_ring)
{
	struct account *offered = a->account == b->account ? NULL : b->account;
	struct direct_ring *ring = calloc(1, sizeof(*ring));
	int error = ring ? take_ring(a->account, offered) : -ENOMEM;

	if (error) {
		free(ring);
		/* Whatever the limit: the packets go through the fabric. */
		return error == -ENOMEM ? error : -ENOSPC;
	}
	error = make_memory(&ring->memory_file);
	if (error) {
		give_ring(a->account, offered);
		free(ring);
		return error;
	}
	ring->asker = account_share(a->account);
	ring->offered = offered ? account_share(offered) : NULL;
	ring->id = ++a->core->clients.last_ring_id;
	ring->end_count = a == b ? 1 : 2;
	ring->ends[0].client = a->id <= b->id ? a : b;
	ring->ends[1].client = a->id <= b->id ? b : a;
	for (unsigned index = 0; index < ring->end_count; index++) {
		ring->ends[index].ring = ring;
		list_append(&ring->ends[index].client->direct_ends, &ring->ends[index].link);
	}
	*ret_ring = ring;
	return 0;
}

static struct ring_grant *find_grant(const struct direct_end *end, const struct ring_grant *grant)
{
	for (unsigned i = 0; i < end->grant_count; i++)
		if (end->grants[i].source_port == grant->source_port &&
		    packet_grants_are_equal(&end->grants[i].packets, &grant->packets))
			return &end->grants[i];
	return NULL;
}

static int make_room(struct direct_end *end)
{
	const unsigned capacity = end->grant_capacity ? end->grant_capacity * 2 : GRANTS_AT_FIRST;

	if (end->grant_count < end->grant_capacity)
		return 0;
	if (end->grant_count == PACKET_GRANTS_MAX)
		return -ENOSPC;

	struct ring_grant *grants = realloc(end->grants, capacity * sizeof(*grants));

	if (!grants)
		return -ENOMEM;
	end->grants = grants;
	end->grant_capacity = capacity;
	return 0;
}

static bool tell(const struct direct_end *end, enum record_kind kind,
		 const struct packet_grant *grant)
{
	return client_send_record(end->client, kind, 0, end->ring->id, grant, sizeof(*grant));
}

/* The end hears of the grant before the source hears of the ring, so that it finds the grant for
 * the first packet. */
static int offer(struct direct_end *end, struct account *granted, const struct ring_grant *grant)
{
	struct ring_grant *known = find_grant(end, grant);

	if (known) {
		known->is_ending = false;
		return 0;
	}

	int error = make_room(end);

	if (!error)
		error = account_take(granted, LIMIT_GRANTS, 1);
	if (error)
		return error;
	if (!tell(end, RECORD_RING_OFFERED, &grant->packets)) {
		account_give(granted, LIMIT_GRANTS, 1);
		return -EAGAIN;
	}
	end->granted = granted;
	client_publish(end->client);
	end->grants[end->grant_count++] = *grant;
	end->has_been_told = true;
	return 0;
}

unsigned direct_rings_check(struct client *destination, ring_grant_holds holds, bool *ret_is_done)
{
	unsigned count = 0;

	list_for_each (link, &destination->direct_ends) {
		struct direct_end *end = container_of(link, struct direct_end, link);
		struct direct_ring *ring = end->ring;
		struct client *source =
			ring->ends[ring->end_count - 1 - side_of(ring, destination)].client;

		for (unsigned i = end->grant_count; i-- > 0; count++) {
			struct ring_grant *grant = &end->grants[i];
			const bool was_ending = grant->is_ending;

			/* What a process sent before it ended may still be received. */
			grant->is_ending |= source && !holds(source, destination, grant);
			if (!grant->is_ending)
				continue;
			if (!was_ending || !tell(end, RECORD_RING_REVOKED, &grant->packets)) {
				*ret_is_done = false;
				continue;
			}
			*grant = end->grants[--end->grant_count];
			account_give(end->granted, LIMIT_GRANTS, 1);
		}
	}
	return count;
}

int direct_ring_between(struct client *source, struct client *destination,
			const struct ring_grant *grant, uint32_t *ret_id)
{
	struct direct_ring *ring = find_peer(source, destination);

	if (!ring) {
		if (source->takes_no_rings || destination->takes_no_rings)
			return -ENOSPC;

		int error = make_ring(source, destination, &ring);

		if (error)
			return error;
	}

	int error = offer(end_of(ring, destination), source->account, grant);

	if (error)
		return error;
	end_of(ring, source)->has_been_told = true;
	*ret_id = ring->id;
	return 0;
}

int direct_ring_share(struct client *client, uint32_t id, struct direct_share *ret_share)
{
	struct direct_ring *ring = find_ring(client, id);

	if (!ring || end_of(ring, client)->was_fetched)
		return -ENOENT;

	unsigned side = side_of(ring, client);
	unsigned other = ring->end_count - 1 - side;
	/* If the peer has ended, ringing the client's own doorbell does no harm. */
	const struct client *peer = ring->ends[other].client ? ring->ends[other].client : client;

	*ret_share = (struct direct_share){.memory_file = ring->memory_file,
					   .peer_doorbell = peer->rings.down_doorbell,
					   .outgoing = side,
					   .incoming = other};
	return 0;
}

static struct direct_end *peer_of(struct direct_ring *ring, const struct client *client)
{
	return &ring->ends[ring->end_count - 1 - side_of(ring, client)];
}

int direct_ring_expose(struct client *client, uint32_t id)
{
	struct direct_ring *ring = find_ring(client, id);
	struct direct_end *end = ring ? end_of(ring, client) : NULL;

	/* The peer may have ended meanwhile. */
	if (!ring || end->exposes || !peer_of(ring, client)->client || client->core->isolates)
		return 0;
	if (!client_send_record(peer_of(ring, client)->client, RECORD_EXPOSED, 0, id, NULL, 0))
		return -EAGAIN;
	end->exposes = true;
	return 0;
}

int direct_ring_exposure(struct client *client, uint32_t id, int *ret_file)
{
	struct direct_ring *ring = find_ring(client, id);
	const struct direct_end *peer = ring ? peer_of(ring, client) : NULL;

	if (!peer || !peer->client || !peer->exposes)
		return -ENOENT;
	*ret_file = peer->client->rings.rkey_export_file;
	return 0;
}

static void destroy_ring(struct direct_ring *ring)
{
	for (unsigned index = 0; index < ring->end_count; index++) {
		list_remove(&ring->ends[index].link);
		if (ring->ends[index].granted)
			account_give(ring->ends[index].granted, LIMIT_GRANTS,
				     ring->ends[index].grant_count);
		free(ring->ends[index].grants);
	}
	close(ring->memory_file);
	give_ring(ring->asker, ring->offered);
	account_release(ring->asker);
	if (ring->offered)
		account_release(ring->offered);
	free(ring);
}

void direct_ring_shared(struct client *client, uint32_t id)
{
	struct direct_ring *ring = find_ring(client, id);

	if (!ring)
		return;
	end_of(ring, client)->was_fetched = true;
	if (!ring->ends[0].client || !ring->ends[1].client)
		destroy_ring(ring);
}

/* Programs see a write to the file in their mappings. It can't fail: the pages are there since the
 * ring was made, and the size is sealed. */
static void mark_closed(const struct direct_ring *ring)
{
	const uint32_t closed = 1;
	struct direct_layout layout = direct_layout();

	for (unsigned way = 0; way < 2; way++) {
		size_t place = layout.offset[way] + offsetof(struct ring_shared, closed);

		(void)!pwrite(ring->memory_file, &closed, sizeof(closed), (off_t)place);
	}
}

/* Closes the client's end. The peer may still read the packets in the ring, and may not have
 * fetched the ring yet. */
static void close_ring(struct direct_ring *ring, const struct client *client)
{
	struct direct_end *peer = peer_of(ring, client);

	mark_closed(ring);
	/* Wakes a peer that sleeps; a peer whose doorbell is full is awake already. */
	if (peer->client && peer->client != client)
		doorbell_ring(peer->client->rings.down_doorbell);
	if (peer->client && peer->client != client && peer->has_been_told && !peer->was_fetched) {
		struct direct_end *end = end_of(ring, client);

		list_remove(&end->link);
		end->client = NULL;
		return;
	}
	destroy_ring(ring);
}

int direct_ring_refuse(struct client *client, uint32_t id)
{
	struct direct_ring *ring = find_ring(client, id);

	if (!ring)
		return -ENOENT;
	client->takes_no_rings = true;
	close_ring(ring, client);
	return 0;
}

void direct_rings_close(struct client *client)
{
	struct list *link;

	while ((link = list_first(&client->direct_ends)))
		close_ring(container_of(link, struct direct_end, link)->ring, client);
}
