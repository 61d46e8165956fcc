/* SPDX-License-Identifier: Apache-2.0 */
/* The queue pair numbers of an adapter in this process: softibd gives them in blocks. */
#include "host/adapter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "host/attachment.h"
#include "host/connection.h"

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

static int ask_for_qpns(struct adapter *adapter, struct qpn_grant *ret_grant)
{
	uint64_t first, count;
	json_t *answer;
	char text[96];

	snprintf(text, sizeof(text), "{\"command\":\"qpns\",\"adapter\":%u,\"count\":%d}",
		 adapter->description->index, QPN_BLOCK);

	int error = session_ask_plain(adapter->attachment->session, text, &answer);

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

	if (!attachment_is_usable(adapter->attachment))
		return -ENODEV;
	adapter_unlock(adapter);

	int error = ask_for_qpns(adapter, &grant);

	adapter_lock(adapter);
	if (!error)
		error = hca_add_qpns(&adapter->hca, grant.first, grant.count);
	if (!error)
		error = remember_grant(adapter, grant);
	return error;
}
