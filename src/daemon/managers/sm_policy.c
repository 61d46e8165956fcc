/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of the built-in subnet managers, and the files that they name, read once at the
 * start. */
#include "daemon/managers/sm_policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/core/log.h"
#include "host/text_file.h"
#include "mgmt/routing/engine.h"
#include "mgmt/sm/qos.h"
#include "mgmt/subnet/partitions.h"

enum { FILE_BYTES_MAX = 1 << 20, LMC_MAX = 7 };

static int read_partitions(const char *path, struct partitions **ret_partitions)
{
	struct partitions *partitions = calloc(1, sizeof(*partitions));
	struct policy_error reason = {0};
	char *text = NULL;
	size_t byte_count = 0;
	int error = partitions ? text_file_read(path, FILE_BYTES_MAX, &text, &byte_count) : -ENOMEM;

	if (!error)
		error = partitions_parse(partitions, text, byte_count, &reason);
	free(text);
	if (!error) {
		*ret_partitions = partitions;
		return 0;
	}
	free(partitions);
	if (reason.line)
		log_line("%s:%u: %s", path, reason.line, reason.reason);
	else
		log_line("%s: %s", path, strerror(-error));
	return error;
}

static int read_qos(const char *path, struct qos **ret_qos)
{
	struct qos *qos = calloc(1, sizeof(*qos));
	struct policy_error reason = {0};
	char *text = NULL;
	size_t byte_count = 0;
	int error = qos ? text_file_read(path, FILE_BYTES_MAX, &text, &byte_count) : -ENOMEM;

	if (!error)
		error = qos_parse(qos, text, byte_count, &reason);
	free(text);
	if (!error) {
		*ret_qos = qos;
		return 0;
	}
	free(qos);
	if (reason.line)
		log_line("%s:%u: %s", path, reason.line, reason.reason);
	else
		log_line("%s: %s", path, strerror(-error));
	return error;
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
		error = read_partitions(settings->partitions_path, &policy->partitions);
	if (!error && settings->qos_path)
		error = read_qos(settings->qos_path, &policy->qos);
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
