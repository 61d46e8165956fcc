/* SPDX-License-Identifier: Apache-2.0 */
/* The command that starts a capture (ipc/capture_ring.h). It ends with the connection. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "daemon/commands.h"
#include "daemon/core/log.h"
#include "daemon/daemon.h"
#include "daemon/packets/packet_capture.h"
#include "ipc/capture_ring.h"
#include "ipc/doorbell.h"
#include "net/node/node.h"

enum { REASON_BYTES = 256 };

static int read_ports(const struct daemon *daemon, const json_t *names, struct port_list *ret_list,
		      char *reason)
{
	size_t index;
	const json_t *value;
	int error = json_array_size(names) ? 0 : -EINVAL;

	if (error)
		snprintf(reason, REASON_BYTES, "name at least one port to capture");
	json_array_foreach (names, index, value) {
		const char *text = json_string_value(value);

		if (!error)
			error = port_names_add(&daemon->core.fabric, text ? text : "", ret_list,
					       reason, REASON_BYTES);
	}
	if (!error && ret_list->port_count > CAPTURE_PORTS_MAX) {
		error = -E2BIG;
		snprintf(reason, REASON_BYTES, "%u ports: a capture has at most %d",
			 ret_list->port_count, CAPTURE_PORTS_MAX);
	}
	return error;
}

static bool ring_size_is_right(json_int_t ring_bytes)
{
	return ring_bytes >= CAPTURE_RING_BYTES_MIN && ring_bytes <= CAPTURE_RING_BYTES_MAX &&
	       (ring_bytes & (ring_bytes - 1)) == 0;
}

static json_t *describe_interfaces(const struct port_list *ports)
{
	json_t *rows = json_array();

	for (uint32_t index = 0; index < ports->port_count; index++) {
		const struct port *port = ports->ports[index];
		char name[PORT_NAME_BYTES], peer[PORT_NAME_BYTES];

		port_name_text(port, name);
		port_name_text(port->peer, peer);
		json_array_append_new(
			rows,
			json_pack("[s, o]", name,
				  json_sprintf(
					  "%s, port %u, LID %u, to %s", port->node->description,
					  port->number,
					  node_management_port(port->node, port->number)->info.lid,
					  peer)));
	}
	return rows;
}

static json_t *name_drop_reasons(void)
{
	json_t *names = json_array();

	for (unsigned reason = 0; reason < DROP_REASON_COUNT; reason++)
		json_array_append_new(names, json_string(drop_reason_name(reason)));
	return names;
}

static void run_capture(struct client *client, const json_t *request, struct reply *ret_reply)
{
	const json_t *size = json_object_get(request, "ring_bytes");
	json_int_t ring_bytes = size ? json_integer_value(size) : CAPTURE_RING_BYTES;
	char reason[REASON_BYTES] = "";
	struct port_list ports = {0};
	struct capture_filter filter;
	struct capture *capture;
	struct capture_share share;
	int error = read_ports(client_daemon(client), json_object_get(request, "ports"), &ports,
			       reason);

	if (!error)
		error = capture_filter_read(request, &filter, reason, sizeof(reason));
	if (!error && !ring_size_is_right(ring_bytes)) {
		error = -EINVAL;
		snprintf(reason, sizeof(reason),
			 "the buffer size must be a power of two from %d to %d bytes",
			 CAPTURE_RING_BYTES_MIN, CAPTURE_RING_BYTES_MAX);
	}
	if (error) {
		port_list_release(&ports);
		reply_error(ret_reply, -error, "%s", reason);
		return;
	}
	error = capture_start(&client_daemon(client)->packets, client, &ports, &filter,
			      (uint32_t)ring_bytes, &capture);
	if (error) {
		reply_error(ret_reply, -error,
			    error == -EBUSY
				    ? "no other capture is possible here; one connection has one"
				    : "no memory for a capture");
		return;
	}
	log_line("capture by pid %d", (int)client->pid);
	capture_share(capture, &share);
	ret_reply->descriptors[0] = share.memory_file;
	ret_reply->descriptors[1] = doorbell_copy(share.doorbell);
	ret_reply->descriptor_count = 2;
	ret_reply->given_from = 1;
	reply_ok(ret_reply,
		 json_pack("{s:I, s:o, s:o}", "ring_bytes", ring_bytes, "interfaces",
			   describe_interfaces(share.ports), "drop_reasons", name_drop_reasons()));
}

const struct command capture_commands[] = {{"capture", run_capture, FOR_OPERATORS}, {NULL, NULL}};
