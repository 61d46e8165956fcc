/* SPDX-License-Identifier: Apache-2.0 */
/* The command that claims a port's raw queue pair (daemon/packets/raw_owners.h). */
#include <errno.h>
#include "daemon/commands.h"
#include "daemon/daemon.h"
#include "daemon/packets/ingress.h"
#include "daemon/packets/raw_owners.h"

static bool read_small(const json_t *request, const char *name, json_int_t below,
		       unsigned *ret_number)
{
	const json_t *value = json_object_get(request, name);
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 0 || number >= below)
		return false;
	*ret_number = (unsigned)number;
	return true;
}

static void run_raw(struct client *client, const json_t *request, struct reply *ret_reply)
{
	unsigned adapter, port, kind;
	bool is_readable = client->is_attached &&
			   read_small(request, "adapter", ADAPTERS_PER_HOST_MAX, &adapter) &&
			   read_small(request, "port", 256, &port) &&
			   read_small(request, "kind", RAW_KINDS, &kind);
	struct endpoint *endpoint = is_readable ? host_endpoint(client->host, adapter, port) : NULL;

	if (!endpoint) {
		reply_error(ret_reply, EINVAL, "no such port or kind, or not attached");
		return;
	}
	/* The client may have released this queue pair by a record that is still in its up ring. */
	ingress_catch_up(&client_daemon(client)->packets, client);
	if (raw_claim(client, endpoint, (enum raw_kind)kind) != 0)
		reply_error(ret_reply, EBUSY, "the port has a raw queue pair of that kind already");
	else
		reply_ok(ret_reply, json_object());
}

const struct command raw_commands[] = {
	{"raw", run_raw},
	{NULL, NULL},
};
