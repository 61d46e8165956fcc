/* SPDX-License-Identifier: Apache-2.0 */
/* The key of a management class at one port (management 2.3, 6.2, 6.5). */
#include "mgmt/agents/class_key.h"

#include "base/bytes.h"

enum { VIOLATIONS_MAX = 0xffff };

void class_key_init(struct class_key *key)
{
	*key = (struct class_key){.lease_ends_at = TIME_NEVER};
}

uint64_t class_key_of(const struct gs_request *request)
{
	return get_be64(request->message->bytes + CLASS_KEY_OFFSET);
}

/* After the lease the key stays and can be read, so that another manager can take over. Nobody sees
 * the protect bit between two requests, so the lease needs no timer of its own. */
static void run_lease(struct class_key *key, time_ns now)
{
	if (key->lease_ends_at > now)
		return;
	key->lease_ends_at = TIME_NEVER;
	key->info.protect_bit = 0;
}

static void count_violation(struct class_key *key, time_ns now)
{
	if (key->info.violations < VIOLATIONS_MAX)
		key->info.violations++;
	if (key->info.lease_period && key->lease_ends_at == TIME_NEVER)
		key->lease_ends_at = now + SECONDS(key->info.lease_period);
}

bool class_key_admits(struct class_key *key, const struct gs_request *request)
{
	run_lease(key, request->now);
	if (key->info.key == 0 || key->info.key == class_key_of(request)) {
		key->lease_ends_at = TIME_NEVER;
		return true;
	}
	if (request->header.method == MAD_GET)
		return true;
	count_violation(key, request->now);
	return false;
}

struct class_key_info class_key_show(struct class_key *key, const struct gs_request *request)
{
	struct class_key_info info;

	run_lease(key, request->now);
	info = key->info;
	if (info.protect_bit && info.key != class_key_of(request))
		info.key = 0;
	return info;
}

void class_key_change(struct class_key *key, const struct class_key_info *info)
{
	key->info = *info;
	key->lease_ends_at = TIME_NEVER;
}
