/* SPDX-License-Identifier: Apache-2.0 */
/* The owners of the raw queue pairs of an adapter's port (vol 1, chapter 10). */
#include "daemon/packets/raw_owners.h"

#include <errno.h>
#include "daemon/core/client.h"
#include "net/link/frame.h"
#include "net/node/node.h"
#include "wire/lrh.h"

enum { LNH_MASK = 3 };

int raw_claim(struct client *client, struct endpoint *endpoint, enum raw_kind kind)
{
	if (endpoint->raw_owners[kind])
		return -EBUSY;
	endpoint->raw_owners[kind] = client;
	return 0;
}

bool raw_take_record(struct client *client, const struct ring_record *record)
{
	unsigned kind = record->word & 255;
	struct endpoint *endpoint =
		host_endpoint(client->host, record->port >> 8, record->word >> 8);

	if (!endpoint || kind >= RAW_KINDS)
		return false;
	if (endpoint->raw_owners[kind] == client)
		endpoint->raw_owners[kind] = NULL;
	return true;
}

static void leave_port(struct endpoint *endpoint, const struct client *client)
{
	for (unsigned kind = 0; kind < RAW_KINDS; kind++)
		if (endpoint->raw_owners[kind] == client)
			endpoint->raw_owners[kind] = NULL;
}

void raw_client_gone(const struct client *client)
{
	for (uint32_t index = 0; index < client->host->adapter_count; index++) {
		const struct adapter_entry *adapter = client->host->adapters[index];

		for (unsigned number = 1; number <= adapter->node->port_count; number++)
			leave_port(&adapter->endpoints[number], client);
	}
}

struct client *raw_owner(const struct endpoint *endpoint, const struct frame *frame)
{
	bool is_ipv6 = (frame->bytes[1] & LNH_MASK) == LNH_RAW_IPV6;

	return endpoint->raw_owners[is_ipv6 ? RAW_IPV6 : RAW_ETHERTYPE];
}
