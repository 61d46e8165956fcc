/* SPDX-License-Identifier: Apache-2.0 */
/* Accounts of what softibd keeps for each process, and their limits. */
#include "daemon/core/limits.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Descriptors that no program gets: the fabric's own, and those of operators' commands. */
enum { DESCRIPTORS_KEPT = 16, DESCRIPTORS_KEPT_SHARE = 16, DESCRIPTORS_KEPT_MAX = 256 };

#define LIMIT_ROW(name, process, all, floor, error, text)                                          \
	[LIMIT_##name] = {process, all, floor, error, text},
static const struct {
	uint32_t process_max;
	uint32_t all_max;
	uint32_t floor;
	int error;
	const char *name;
} limits[LIMIT_COUNT] = {LIMITS(LIMIT_ROW)};
#undef LIMIT_ROW

static uint32_t lesser(uint32_t a, uint64_t b)
{
	return b < a ? (uint32_t)b : a;
}

static void limit_descriptors(struct accounts *accounts)
{
	struct rlimit limit;
	uint64_t kept, left;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return;
	kept = DESCRIPTORS_KEPT + limit.rlim_cur / DESCRIPTORS_KEPT_SHARE;
	if (kept > DESCRIPTORS_KEPT_MAX)
		kept = DESCRIPTORS_KEPT_MAX;
	left = limit.rlim_cur > kept ? limit.rlim_cur - kept : 0;
	accounts->all_max[LIMIT_DESCRIPTORS] = lesser(accounts->all_max[LIMIT_DESCRIPTORS], left);
	accounts->process_max[LIMIT_DESCRIPTORS] =
		lesser(accounts->process_max[LIMIT_DESCRIPTORS], left / 2);
}

void accounts_init(struct accounts *accounts)
{
	*accounts = (struct accounts){0};
	hash_table_init(&accounts->by_process);
	for (unsigned limit = 0; limit < LIMIT_COUNT; limit++) {
		accounts->process_max[limit] = limits[limit].process_max;
		accounts->all_max[limit] = limits[limit].all_max;
		accounts->floor[limit] = limits[limit].floor;
	}
	limit_descriptors(accounts);
}

void accounts_release(struct accounts *accounts)
{
	hash_table_release(&accounts->by_process);
}

struct account *account_of(struct accounts *accounts, pid_t pid, uint32_t connection)
{
	uint64_t key = pid ? (uint64_t)pid : UINT64_C(1) << 32 | connection;
	struct account *account = hash_table_get(&accounts->by_process, key);

	if (account)
		return account_share(account);
	account = calloc(1, sizeof(*account));
	if (!account || hash_table_put(&accounts->by_process, key, account) != 0) {
		free(account);
		return NULL;
	}
	account->accounts = accounts;
	account->key = key;
	account->reference_count = 1;
	account->refused = LIMIT_COUNT;
	return account;
}

struct account *account_share(struct account *account)
{
	account->reference_count++;
	return account;
}

void account_release(struct account *account)
{
	if (--account->reference_count)
		return;
	for (unsigned limit = 0; limit < LIMIT_COUNT; limit++)
		assert(!account->used[limit]);
	hash_table_remove(&account->accounts->by_process, account->key);
	free(account);
}

/* What counts among what all processes have. */
static uint32_t beyond_floor(const struct accounts *accounts, enum limit limit, uint32_t used)
{
	return used > accounts->floor[limit] ? used - accounts->floor[limit] : 0;
}

static uint32_t room(uint32_t max, uint32_t used)
{
	return max > used ? max - used : 0;
}

uint32_t account_room(const struct account *account, enum limit limit)
{
	const struct accounts *accounts = account->accounts;
	uint32_t used = account->used[limit];
	uint32_t process_room = room(accounts->process_max[limit], used);
	uint64_t all_room = (uint64_t)room(accounts->all_max[limit], accounts->used[limit]) +
			    room(accounts->floor[limit], used);

	return lesser(process_room, all_room);
}

int account_take(struct account *account, enum limit limit, uint32_t count)
{
	struct accounts *accounts = account->accounts;
	uint32_t used = account->used[limit];

	if (count > account_room(account, limit)) {
		account->refused = limit;
		return -limits[limit].error;
	}
	account->used[limit] += count;
	accounts->used[limit] +=
		beyond_floor(accounts, limit, used + count) - beyond_floor(accounts, limit, used);
	return 0;
}

void account_give(struct account *account, enum limit limit, uint32_t count)
{
	struct accounts *accounts = account->accounts;
	uint32_t used = account->used[limit];

	assert(used >= count);
	account->used[limit] -= count;
	accounts->used[limit] -=
		beyond_floor(accounts, limit, used) - beyond_floor(accounts, limit, used - count);
}

void account_explain(const struct account *account, enum limit limit,
		     char ret_text[static LIMIT_TEXT_BYTES])
{
	const struct accounts *accounts = account->accounts;
	uint32_t process_max = accounts->process_max[limit];
	uint32_t all_left = room(accounts->all_max[limit], accounts->used[limit]);

	if (room(process_max, account->used[limit]) <= all_left)
		snprintf(ret_text, LIMIT_TEXT_BYTES,
			 "softibd keeps %u %s for this process; a process may have %u",
			 account->used[limit], limits[limit].name, process_max);
	else
		snprintf(ret_text, LIMIT_TEXT_BYTES,
			 "softibd keeps %u %s for all processes; all may have %u",
			 accounts->used[limit], limits[limit].name, accounts->all_max[limit]);
}
