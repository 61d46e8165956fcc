/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about XRC domains that programs share (daemon/xrc/xrc_domains.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/commands.h"
#include "daemon/control/request_fields.h"
#include "daemon/daemon.h"
#include "daemon/packets/ingress.h"
#include "daemon/xrc/xrc_domains.h"
#include "daemon/xrc/xrc_targets.h"

static struct adapter_entry *named_adapter(const struct client *client, const json_t *request,
					   struct reply *reply)
{
	const json_t *value = json_object_get(request, "adapter");
	json_int_t index = json_integer_value(value);

	if (!client->is_attached || !json_is_integer(value) || index < 0 ||
	    index >= client->host->adapter_count) {
		reply_error(reply, ENODEV, "no such adapter, or not attached");
		return NULL;
	}
	return client->host->adapters[index];
}

static void run_domain(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct adapter_entry *adapter = named_adapter(client, request, ret_reply);
	json_int_t opening = json_integer_value(json_object_get(request, "opening"));
	struct xrc_file file;
	uint32_t id;

	if (!adapter)
		return;
	if (!request_hexadecimal(request, "device", &file.device) ||
	    !request_hexadecimal(request, "inode", &file.inode) || opening < XRC_EXISTING ||
	    opening > XRC_CREATE_EXCLUSIVE) {
		reply_error(ret_reply, EINVAL, "a domain needs device, inode and opening");
		return;
	}

	int error = xrc_domain_open(client, adapter, &file, (enum xrc_opening)opening, &id);

	if (error)
		reply_error(ret_reply, -error, "can't open the domain of that file: %s",
			    strerror(-error));
	else
		reply_ok(ret_reply, json_pack("{s:I}", "id", (json_int_t)id));
}

static struct xrc_domain *named_domain(struct client *client, const json_t *request,
				       struct reply *reply)
{
	const struct adapter_entry *adapter = named_adapter(client, request, reply);
	json_int_t id = json_integer_value(json_object_get(request, "domain"));

	if (!adapter)
		return NULL;

	struct xrc_domain *domain =
		id > 0 && id <= UINT32_MAX ? xrc_domain_find(client, adapter, (uint32_t)id) : NULL;

	if (!domain)
		reply_error(reply, ENOENT, "no such domain");
	return domain;
}

static void run_target(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct xrc_domain *domain = named_domain(client, request, ret_reply);
	bool is_shared;
	uint32_t qpn;

	if (!domain)
		return;

	int error = xrc_target_create(client, domain, &qpn, &is_shared);

	if (error)
		reply_error(ret_reply, error == -ENOSPC ? ENOMEM : -error,
			    "no more queue pair numbers for targets");
	else
		reply_ok(ret_reply, json_pack("{s:i, s:b}", "qpn", (int)qpn, "shared", is_shared));
}

static void reply_result(struct reply *ret_reply, int error)
{
	if (error)
		reply_error(ret_reply, -error, "can't get the target: %s", strerror(-error));
	else
		reply_ok(ret_reply, json_object());
}

static uint32_t named_qpn(const json_t *request)
{
	json_int_t qpn = json_integer_value(json_object_get(request, "qpn"));

	return qpn > 0 && qpn <= 0xffffff ? (uint32_t)qpn : 0;
}

static void run_target_open(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct xrc_domain *domain = named_domain(client, request, ret_reply);

	if (domain)
		reply_result(ret_reply, xrc_target_open(client, domain, named_qpn(request)));
}

static void run_target_borrow(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct xrc_domain *domain = named_domain(client, request, ret_reply);
	enum xrc_urgency urgency =
		json_is_true(json_object_get(request, "now")) ? XRC_NOW : XRC_WHEN_IDLE;

	if (domain)
		reply_result(ret_reply,
			     xrc_target_acquire(client, domain, named_qpn(request), urgency));
}

static void run_catch_up(struct client *client, const json_t *request, struct reply *ret_reply)
{
	(void)request;
	if (client->is_attached)
		server_await_catch_up(client, ret_reply);
	else
		reply_ok(ret_reply, json_object());
}

const struct command domain_commands[] = {
	{"catch-up", run_catch_up},
	{"domain", run_domain},
	{"target", run_target},
	{"target-open", run_target_open},
	{"target-borrow", run_target_borrow},
	{NULL, NULL},
};
