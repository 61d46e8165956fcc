/* SPDX-License-Identifier: Apache-2.0 */
/* XRC targets: their numbers, the programs that have them open, and the holder of the lease (vol 1,
 * annex A14). */
#include "daemon/xrc/xrc_targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/core/daemon_core.h"
#include "daemon/core/limits.h"
#include "daemon/xrc/xrc_leases.h"

enum {
	EVENT_FATAL_BIT = 1 << 1, /* enum qp_event's QP_EVENT_FATAL */
	BLOCKS_PER_DOMAIN_MAX = 256,
};

static struct xrc_block *find_block(const struct adapter_entry *adapter, uint32_t qpn)
{
	return hash_table_get(&adapter->xrc_blocks, qpn / QPN_BLOCK);
}

struct xrc_target *xrc_target_find(const struct adapter_entry *adapter, uint32_t qpn)
{
	const struct xrc_block *block = find_block(adapter, qpn);

	return block ? block->targets[qpn % QPN_BLOCK] : NULL;
}

static struct xrc_target *find_in(const struct xrc_domain *domain, uint32_t qpn)
{
	struct xrc_target *target = xrc_target_find(domain->adapter, qpn);

	return target && target->domain == domain ? target : NULL;
}

bool xrc_target_is_leased(const struct adapter_entry *adapter, uint32_t qpn)
{
	const struct xrc_block *block;

	/* softibd asks for each packet that it delivers, and most adapters have no such domain. */
	if (likely(!adapter->xrc_blocks.count))
		return false;
	block = find_block(adapter, qpn);
	return block && block->domain->is_shared;
}

static int add_block(struct xrc_domain *domain, struct client *client, struct xrc_block **ret_block)
{
	if (domain->block_count == BLOCKS_PER_DOMAIN_MAX)
		return -ENOSPC;

	struct xrc_block *block = calloc(1, sizeof(*block));

	if (!block)
		return -ENOMEM;

	int error = qpn_space_take(&domain->adapter->qpns, client, 1, &block->number);

	if (error) {
		free(block);
		return error;
	}
	error = hash_table_put(&domain->adapter->xrc_blocks, block->number, block);
	if (error) {
		qpn_space_pass_on(&domain->adapter->qpns, block->number, NULL);
		free(block);
		return error;
	}
	block->domain = domain;
	list_append(&domain->blocks, &block->link);
	domain->block_count++;
	*ret_block = block;
	return 0;
}

/* A number that was freed is reused as late as its block allows. */
static bool take_from(struct xrc_block *block, struct xrc_target *target)
{
	for (uint32_t tried = 0; tried < QPN_BLOCK; tried++) {
		uint32_t index = block->next++ % QPN_BLOCK;

		if (block->targets[index])
			continue;
		block->targets[index] = target;
		target->qpn = block->number * QPN_BLOCK + index;
		return true;
	}
	return false;
}

static int take_number(struct xrc_target *target, struct client *client)
{
	struct xrc_domain *domain = target->domain;
	struct xrc_block *block;

	list_for_each (link, &domain->blocks)
		if (take_from(container_of(link, struct xrc_block, link), target))
			return 0;

	int error = add_block(domain, client, &block);

	if (!error)
		(void)take_from(block, target);
	return error;
}

static int add_user(struct xrc_target *target, struct client *client)
{
	struct xrc_user *user = calloc(1, sizeof(*user));
	int error = user ? account_take(client->account, LIMIT_XRC_TARGETS, 1) : -ENOMEM;

	if (error) {
		free(user);
		return error;
	}
	user->client = client;
	user->open_count = 1;
	list_append(&target->users, &user->link);
	return 0;
}

static void remove_user(struct xrc_user *user)
{
	list_remove(&user->link);
	account_give(user->client->account, LIMIT_XRC_TARGETS, 1);
	free(user);
}

int xrc_target_create(struct client *client, struct xrc_domain *domain, uint32_t *ret_qpn,
		      bool *ret_is_shared)
{
	struct xrc_target *target = calloc(1, sizeof(*target));

	if (!target)
		return -ENOMEM;
	target->domain = domain;
	list_init(&target->users);
	list_init(&target->waiting);
	target->holder = client;

	int error = add_user(target, client);

	if (!error)
		error = take_number(target, client);
	if (error) {
		if (!list_is_empty(&target->users))
			remove_user(
				container_of(list_first(&target->users), struct xrc_user, link));
		free(target);
		return error;
	}
	list_append(&domain->targets, &target->link);
	*ret_qpn = target->qpn;
	*ret_is_shared = domain->is_shared;
	return 0;
}

static struct xrc_user *find_user(const struct xrc_target *target, const struct client *client)
{
	list_for_each (link, &target->users) {
		struct xrc_user *user = container_of(link, struct xrc_user, link);

		if (user->client == client)
			return user;
	}
	return NULL;
}

int xrc_target_open(struct client *client, struct xrc_domain *domain, uint32_t qpn)
{
	struct xrc_target *target = find_in(domain, qpn);

	if (!target)
		return -ENOENT;

	struct xrc_user *user = find_user(target, client);

	if (!user)
		return add_user(target, client);
	user->open_count++;
	return 0;
}

int xrc_target_acquire(struct client *client, struct xrc_domain *domain, uint32_t qpn,
		       enum xrc_urgency urgency)
{
	struct xrc_target *target = find_in(domain, qpn);

	if (!target || !find_user(target, client))
		return -ENOENT;
	if (target->holder) {
		/* The client's own lease is on its way back to softibd. */
		if (target->holder != client && urgency == XRC_NOW)
			xrc_lease_recall(target, urgency);
		return -EAGAIN;
	}
	return xrc_lease_grant(target, client) ? 0 : -EAGAIN;
}

static int keep_state(struct xrc_target *target, const uint8_t *bytes, uint32_t byte_count)
{
	uint8_t *state = realloc(target->state, byte_count + 1);

	if (!state)
		return -ENOMEM;
	memcpy(state, bytes, byte_count);
	target->state = state;
	target->state_bytes = byte_count;
	return 0;
}

static void lose(struct xrc_target *target)
{
	target->holder = NULL;
	target->recall_is_due = false;
	target->is_lost = true;
	target->state_bytes = 0;
	xrc_lease_raise_events(target, EVENT_FATAL_BIT);
	xrc_lease_send_waiting(target);
}

/* The holder's lease ends: the state that it returned last is valid. The peer repeats packets that
 * were on their way to the holder. */
static void take_away(struct xrc_target *target)
{
	if (!target->state_bytes) {
		lose(target);
		return;
	}
	target->holder = NULL;
	target->recall_is_due = false;
	xrc_lease_send_waiting(target);
}

bool xrc_target_return(struct xrc_target *target, struct client *client,
		       const struct ring_record *record)
{
	struct target_return header;

	if (record->byte_count < sizeof(header) ||
	    record->byte_count - sizeof(header) > TARGET_STATE_BYTES_MAX)
		return false;
	memcpy(&header, record->body, sizeof(header));
	if (target->holder != client)
		return true;
	if (keep_state(target, record->body + sizeof(header),
		       record->byte_count - (uint32_t)sizeof(header)) != 0) {
		lose(target);
		return true;
	}
	/* The holder has still to answer packets that are on their way to it. */
	if (header.taken_count != target->sent_count)
		return true;
	target->holder = NULL;
	target->recall_is_due = false;
	xrc_lease_raise_events(target, header.events);
	xrc_lease_send_waiting(target);
	return true;
}

void xrc_target_destroy(struct xrc_target *target)
{
	struct list *link;

	while ((link = list_first(&target->users)))
		remove_user(container_of(link, struct xrc_user, link));
	while (target->waiting_count)
		xrc_lease_drop_first(target);
	list_remove(&target->link);
	find_block(target->domain->adapter, target->qpn)->targets[target->qpn % QPN_BLOCK] = NULL;
	free(target->state);
	free(target);
}

/* The last close destroys the target. */
void xrc_target_close(struct xrc_target *target, struct client *client)
{
	struct xrc_user *user = find_user(target, client);

	if (!user || --user->open_count)
		return;
	remove_user(user);
	if (list_is_empty(&target->users))
		xrc_target_destroy(target);
	else if (target->holder == client)
		take_away(target);
}

void xrc_target_leave(struct xrc_target *target, const struct client *client,
		      enum xrc_leaving leaving)
{
	struct xrc_user *user = find_user(target, client);

	if (user)
		remove_user(user);
	if (list_is_empty(&target->users)) {
		xrc_target_destroy(target);
		return;
	}
	if (target->holder != client)
		return;
	if (leaving == XRC_CLOSED)
		take_away(target);
	else
		lose(target);
}
