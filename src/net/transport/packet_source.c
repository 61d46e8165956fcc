/* SPDX-License-Identifier: Apache-2.0 */
/* Whose packets come by one ring: see packet_source.h. */
#include "net/transport/packet_source.h"

#include <errno.h>
#include <stdlib.h>

enum { GRANTS_AT_FIRST = 4 };

const struct packet_source packet_source_fabric = {.is_fabric = true};

bool packet_grants_are_equal(const struct packet_grant *a, const struct packet_grant *b)
{
	return a->slid == b->slid && a->dlid == b->dlid && a->pkey == b->pkey &&
	       a->port == b->port && a->sl == b->sl && a->lmc == b->lmc;
}

static struct packet_grant *find(const struct packet_source *source,
				 const struct packet_grant *grant)
{
	for (uint32_t i = 0; i < source->count; i++)
		if (packet_grants_are_equal(&source->grants[i], grant))
			return &source->grants[i];
	return NULL;
}

int packet_source_grant(struct packet_source *source, const struct packet_grant *grant)
{
	if (find(source, grant))
		return 0;
	if (source->count == PACKET_GRANTS_MAX)
		return -ENOSPC;
	if (source->count == source->capacity) {
		uint32_t capacity = source->capacity ? source->capacity * 2 : GRANTS_AT_FIRST;
		struct packet_grant *grants =
			realloc(source->grants, capacity * sizeof(*source->grants));

		if (!grants)
			return -ENOMEM;
		source->grants = grants;
		source->capacity = capacity;
	}
	source->grants[source->count++] = *grant;
	return 0;
}

void packet_source_revoke(struct packet_source *source, const struct packet_grant *grant)
{
	struct packet_grant *found = find(source, grant);

	if (found)
		*found = source->grants[--source->count];
}

void packet_source_release(struct packet_source *source)
{
	free(source->grants);
	*source = (struct packet_source){.grants = NULL};
}

/* One of the LIDs that the source port has by its LMC. */
static bool is_of_source(const struct packet_grant *grant, uint16_t slid)
{
	return (slid & ~((1u << grant->lmc) - 1)) == grant->slid;
}

bool packet_source_admits(const struct packet_source *source, const struct packet_grant *wanted)
{
	for (uint32_t i = 0; i < source->count; i++) {
		const struct packet_grant *grant = &source->grants[i];

		if (is_of_source(grant, wanted->slid) && grant->dlid == wanted->dlid &&
		    grant->pkey == wanted->pkey && grant->port == wanted->port &&
		    grant->sl == wanted->sl)
			return true;
	}
	return source->is_fabric;
}

bool packet_source_has_lid(const struct packet_source *source, uint16_t slid)
{
	for (uint32_t i = 0; i < source->count; i++)
		if (is_of_source(&source->grants[i], slid))
			return true;
	return source->is_fabric;
}
