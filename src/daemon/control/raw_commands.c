/* SPDX-License-Identifier: Apache-2.0 */
/* The command that claims a port's raw queue pair (daemon/packets/raw_owners.h). */
#include <errno.h>
#include "daemon/commands.h"
#include "daemon/control/request_fields.h"
#include "daemon/daemon.h"
#include "daemon/packets/raw_owners.h"

static void run_raw(struct client *client, const json_t *request, struct reply *ret_reply)
{
	uint32_t adapter, port, kind;
	bool is_readable =
		client->is_attached &&
		request_integer(request, "adapter", ADAPTERS_PER_HOST_MAX - 1, &adapter) &&
		request_integer(request, "port", UINT8_MAX, &port) &&
		request_integer(request, "kind", RAW_KINDS - 1, &kind);
	struct endpoint *endpoint = is_readable ? host_endpoint(client->host, adapter, port) : NULL;

	if (!endpoint) {
		reply_error(ret_reply, EINVAL, "no such port or kind, or not attached");
		return;
	}
	if (raw_claim(client, endpoint, (enum raw_kind)kind) != 0)
		reply_error(ret_reply, EBUSY, "the port has a raw queue pair of that kind already");
	else
		reply_ok(ret_reply, json_object());
}

const struct command raw_commands[] = {
	{"raw", run_raw},
	{NULL, NULL},
};
