/* SPDX-License-Identifier: Apache-2.0 */
/* The queue pair numbers of an adapter in this process. softibd gives them in blocks, and larger
 * blocks to a process that has many. */
#include "runtime/adapter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "runtime/runtime_state.h"
#include "runtime/softibd_connection.h"

static int remember_grant(struct adapter *adapter, struct qpn_grant grant)
{
	struct qpn_grant *grants =
		realloc(adapter->grants, (adapter->grant_count + 1) * sizeof(*grants));

	if (!grants)
		return -ENOMEM;
	grants[adapter->grant_count++] = grant;
	adapter->grants = grants;
	return 0;
}

enum { QPNS_PER_GRANT_MAX = 64 * QPN_BLOCK };

/* As many as the adapter has already, so that millions of queue pairs need few grants. */
static uint32_t qpns_to_ask_for(const struct adapter *adapter)
{
	uint32_t count = 0;

	for (unsigned i = 0; i < adapter->grant_count && count < QPNS_PER_GRANT_MAX; i++)
		count += adapter->grants[i].count;
	count = count / QPN_BLOCK * QPN_BLOCK;
	if (count < QPN_BLOCK)
		return QPN_BLOCK;
	return count < QPNS_PER_GRANT_MAX ? count : QPNS_PER_GRANT_MAX;
}

static int ask_for_qpns(struct adapter *adapter, uint32_t asked_count, struct qpn_grant *ret_grant)
{
	uint64_t first, count;
	json_t *answer;
	char text[96];

	snprintf(text, sizeof(text), "{\"command\":\"qpns\",\"adapter\":%u,\"count\":%u}",
		 adapter->description->index, asked_count);

	int error = session_ask_plain(adapter->runtime->session, text, &answer);

	if (error)
		return error;
	error = answer_number(answer, "first", &first);
	if (!error)
		error = answer_number(answer, "count", &count);
	json_decref(answer);
	if (!error && (first > 0xffffff || count > 0xffffff))
		error = -EPROTO;
	if (!error)
		*ret_grant = (struct qpn_grant){.first = (uint32_t)first, .count = (uint32_t)count};
	return error;
}

int adapter_more_qpns(struct adapter *adapter)
{
	struct qpn_grant grant = {0};

	if (!runtime_is_usable(adapter->runtime))
		return -ENODEV;

	uint32_t asked_count = qpns_to_ask_for(adapter);
	int error;

	adapter_unlock(adapter);
	/* The free numbers may no longer be contiguous: ask for fewer. */
	do {
		error = ask_for_qpns(adapter, asked_count, &grant);
		asked_count /= 2;
	} while (error == -ENOSPC && asked_count >= QPN_BLOCK);
	adapter_lock(adapter);
	if (!error)
		error = hca_add_qpns(&adapter->hca, grant.first, grant.count);
	if (!error)
		error = remember_grant(adapter, grant);
	return error;
}
