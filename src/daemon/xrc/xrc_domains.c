/* SPDX-License-Identifier: Apache-2.0 */
/* XRC domains that programs of a host share by a file: members, opening and closing (vol 1, annex
 * A14). */
#include "daemon/xrc/xrc_domains.h"

#include <errno.h>
#include <stdlib.h>
#include "daemon/core/daemon_core.h"
#include "daemon/core/limits.h"
#include "daemon/core/flow_table.h"
#include "daemon/xrc/xrc_leases.h"
#include "daemon/xrc/xrc_targets.h"

enum { DOMAINS_MAX = 4096 }; /* of an adapter */

/* About what it takes to resolve a thousand flows again. */
#define REVOKE_CHARGE MILLISECONDS(10)

struct xrc_member *xrc_domain_member(const struct xrc_domain *domain, const struct client *client)
{
	list_for_each (link, &domain->members) {
		struct xrc_member *member = container_of(link, struct xrc_member, link);

		if (member->client == client)
			return member;
	}
	return NULL;
}

static struct xrc_domain *find_file(const struct adapter_entry *adapter,
				    const struct xrc_file *file)
{
	list_for_each (link, &adapter->xrc_domains) {
		struct xrc_domain *domain = container_of(link, struct xrc_domain, link);

		if (domain->file.device == file->device && domain->file.inode == file->inode)
			return domain;
	}
	return NULL;
}

struct xrc_domain *xrc_domain_find(const struct client *client, const struct adapter_entry *adapter,
				   uint32_t id)
{
	list_for_each (link, &adapter->xrc_domains) {
		struct xrc_domain *domain = container_of(link, struct xrc_domain, link);

		if (domain->id == id)
			return xrc_domain_member(domain, client) ? domain : NULL;
	}
	return NULL;
}

static struct xrc_domain *create(struct daemon_core *core, struct adapter_entry *adapter,
				 const struct xrc_file *file)
{
	unsigned count = 0;

	/* Opening a domain looks through all of the adapter, hence the bound. */
	list_for_each (link, &adapter->xrc_domains)
		count++;

	struct xrc_domain *domain = count < DOMAINS_MAX ? calloc(1, sizeof(*domain)) : NULL;

	if (!domain)
		return NULL;
	domain->core = core;
	domain->adapter = adapter;
	domain->file = *file;
	domain->id = ++core->last_xrc_domain_id;
	list_init(&domain->members);
	list_init(&domain->targets);
	list_init(&domain->blocks);
	list_append(&adapter->xrc_domains, &domain->link);
	return domain;
}

static void destroy(struct xrc_domain *domain)
{
	struct list *link;

	while ((link = list_first(&domain->targets)))
		xrc_target_destroy(container_of(link, struct xrc_target, link));
	while ((link = list_pop(&domain->blocks))) {
		struct xrc_block *block = container_of(link, struct xrc_block, link);

		hash_table_remove(&domain->adapter->xrc_blocks, block->number);
		qpn_space_pass_on(&domain->adapter->qpns, block->number, NULL);
		free(block);
	}
	list_remove(&domain->link);
	free(domain);
}

/* From now on packets to the domain's targets go through softibd, and the program that held the
 * targets returns them. A process that makes all others resolve their flows again pays for that,
 * or it could do so in a loop; a domain without targets has no flows. */
static void share(struct xrc_domain *domain, struct client *client)
{
	time_ns now = domain->core->loop.now;

	domain->is_shared = true;
	if (list_is_empty(&domain->targets))
		return;
	flows_revoke(domain->core);
	share_charge(&domain->core->shares, client->account, now, now + REVOKE_CHARGE);
	list_for_each (link, &domain->targets)
		xrc_lease_recall(container_of(link, struct xrc_target, link), XRC_WHEN_IDLE);
}

static int join(struct xrc_domain *domain, struct client *client, unsigned stale_closes)
{
	struct xrc_member *member = calloc(1, sizeof(*member));
	int error = member ? account_take(client->account, LIMIT_XRC_DOMAINS, 1) : -ENOMEM;

	if (error) {
		free(member);
		return error;
	}
	member->client = client;
	member->stale_closes = stale_closes;
	list_append(&domain->members, &member->link);
	if (!domain->is_shared && domain->members.next != domain->members.previous)
		share(domain, client);
	return 0;
}

/* The queue pair numbers stay the domain's; another member becomes their owner. */
static void pass_blocks_on(struct xrc_domain *domain)
{
	struct xrc_member *successor =
		container_of(list_first(&domain->members), struct xrc_member, link);

	list_for_each (link, &domain->blocks)
		qpn_space_pass_on(&domain->adapter->qpns,
				  container_of(link, struct xrc_block, link)->number,
				  successor->client);
}

static void leave(struct xrc_domain *domain, struct client *client, enum xrc_leaving leaving)
{
	struct xrc_member *member = xrc_domain_member(domain, client);

	if (!member)
		return;
	list_remove(&member->link);
	account_give(client->account, LIMIT_XRC_DOMAINS, 1);
	free(member);
	list_for_each_safe (link, &domain->targets)
		xrc_target_leave(container_of(link, struct xrc_target, link), client, leaving);
	if (list_is_empty(&domain->members))
		destroy(domain);
	else
		pass_blocks_on(domain);
}

/* A program that opens a domain which it has open already has closed it before: the record that
 * says so is still in its up ring. Returns how many such records are to come. */
static unsigned leave_before_rejoining(struct xrc_domain *domain, struct client *client)
{
	const struct xrc_member *member = xrc_domain_member(domain, client);
	unsigned stale_closes = member ? member->stale_closes + 1 : 0;

	if (member)
		leave(domain, client, XRC_CLOSED);
	return stale_closes;
}

int xrc_domain_open(struct client *client, struct adapter_entry *adapter,
		    const struct xrc_file *file, enum xrc_opening opening, uint32_t *ret_id)
{
	struct xrc_domain *domain = find_file(adapter, file);
	unsigned stale_closes = domain ? leave_before_rejoining(domain, client) : 0;

	domain = find_file(adapter, file);

	bool is_new = !domain;

	if (is_new && opening == XRC_EXISTING)
		return -EAGAIN;
	if (!is_new && opening == XRC_CREATE_EXCLUSIVE)
		return -EINVAL;
	if (is_new)
		domain = create(client->core, adapter, file);

	int error = domain ? join(domain, client, stale_closes) : -ENOMEM;

	if (error && domain && is_new)
		destroy(domain);
	if (!error)
		*ret_id = domain->id;
	return error;
}

void xrc_client_gone(struct client *client)
{
	for (uint32_t index = 0; client->host && index < client->host->adapter_count; index++) {
		list_for_each_safe (link, &client->host->adapters[index]->xrc_domains)
			leave(container_of(link, struct xrc_domain, link), client, XRC_DIED);
	}
}

void xrc_client_has_room(struct client *client)
{
	for (uint32_t index = 0; client->host && index < client->host->adapter_count; index++) {
		list_for_each (domain_link, &client->host->adapters[index]->xrc_domains) {
			struct xrc_domain *domain =
				container_of(domain_link, struct xrc_domain, link);

			list_for_each (link, &domain->targets)
				xrc_lease_push(container_of(link, struct xrc_target, link));
		}
	}
}

static void close_domain(struct client *client, struct xrc_domain *domain)
{
	struct xrc_member *member = domain ? xrc_domain_member(domain, client) : NULL;

	if (!member)
		return;
	if (member->stale_closes)
		member->stale_closes--;
	else
		leave(domain, client, XRC_CLOSED);
}

bool xrc_take_record(struct client *client, const struct ring_record *record)
{
	unsigned index = record->port >> 8;

	if (index >= client->host->adapter_count)
		return false;

	struct adapter_entry *adapter = client->host->adapters[index];

	if (record->kind == RECORD_DOMAIN_CLOSED) {
		close_domain(client, xrc_domain_find(client, adapter, record->word));
		return true;
	}

	struct xrc_target *target = xrc_target_find(adapter, record->word);

	/* The target may have been destroyed while the record was in the ring. */
	if (!target)
		return true;
	if (record->kind == RECORD_TARGET_CLOSED) {
		xrc_target_close(target, client);
		return true;
	}
	return xrc_target_return(target, client, record);
}
