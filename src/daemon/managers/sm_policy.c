/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of the built-in subnet managers, and the files that they name, read once at the
 * start. */
#include "daemon/managers/sm_policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/core/log.h"
#include "launch/text_file.h"
#include "mgmt/routing/engines.h"
#include "mgmt/sm/qos.h"
#include "mgmt/subnet/partitions.h"

enum { FILE_BYTES_MAX = 1 << 20, LMC_MAX = 7 };

/* Parses the text into the policy that it belongs to. */
typedef int (*policy_parser)(void *policy, const char *text, size_t byte_count,
			     struct policy_error *ret_reason);

static int parse_partitions(void *policy, const char *text, size_t byte_count,
			    struct policy_error *ret_reason)
{
	return partitions_parse(policy, text, byte_count, ret_reason);
}

static int parse_qos(void *policy, const char *text, size_t byte_count,
		     struct policy_error *ret_reason)
{
	return qos_parse(policy, text, byte_count, ret_reason);
}

/* Reads a file into a policy of this size, which the caller frees; NULL after a log line. */
static void *read_policy(const char *path, size_t policy_bytes, policy_parser parse, int *ret_error)
{
	void *policy = calloc(1, policy_bytes);
	struct policy_error reason = {0};
	char *text = NULL;
	size_t byte_count = 0;
	int error = policy ? text_file_read(path, FILE_BYTES_MAX, &text, &byte_count) : -ENOMEM;

	if (!error)
		error = parse(policy, text, byte_count, &reason);
	free(text);
	*ret_error = error;
	if (!error)
		return policy;
	free(policy);
	if (reason.line)
		log_line("%s:%u: %s", path, reason.line, reason.reason);
	else
		log_line("%s: %s", path, strerror(-error));
	return NULL;
}

static int check_numbers(const struct sm_settings *settings)
{
	if (!routing_engine_find(settings->engine)) {
		log_line("unknown routing engine %s", settings->engine);
		return -EINVAL;
	}
	if (settings->lmc > LMC_MAX) {
		log_line("LMC %u is not in the range 0 to %u", settings->lmc, LMC_MAX);
		return -EINVAL;
	}
	return 0;
}

int sm_policy_read(struct sm_policy *policy, const struct sm_settings *settings)
{
	int error = check_numbers(settings);

	*policy = (struct sm_policy){0};
	if (!error && settings->part_enforce) {
		enum part_enforce enforce;

		if (part_enforce_named(settings->part_enforce, &enforce)) {
			policy->part_enforce = (uint8_t)enforce;
		} else {
			log_line("partition enforcement %s: must be both, in, out or off",
				 settings->part_enforce);
			error = -EINVAL;
		}
	}
	if (!error && settings->partitions_path)
		policy->partitions =
			read_policy(settings->partitions_path, sizeof(*policy->partitions),
				    parse_partitions, &error);
	if (!error && settings->qos_path)
		policy->qos =
			read_policy(settings->qos_path, sizeof(*policy->qos), parse_qos, &error);
	policy->mkeys = settings->mkeys;
	if (!error) {
		error = mkey_settings_complete(&policy->mkeys);
		if (error)
			log_line("%s: %s", settings->mkeys.secret_path, secret_file_reason(error));
	}
	if (error)
		sm_policy_release(policy);
	return error;
}

void sm_policy_release(struct sm_policy *policy)
{
	if (policy->partitions)
		partitions_release(policy->partitions);
	free(policy->partitions);
	free(policy->qos);
	*policy = (struct sm_policy){0};
}
