/* SPDX-License-Identifier: Apache-2.0 */
/* QP0 and QP1 of one port of a host, for a manager in this process. */
#include "cli/manager_port.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "runtime/session.h"
#include "wire/mad.h"
#include "wire/sa_mad.h"
#include "wire/smp.h"

enum { TEXT_BYTES = 128, PATH_BYTES = 512, ISSM_MAX = 64 };

/* The first line of a file; empty if there is none. */
static void read_text(const char *path, char ret_text[static TEXT_BYTES])
{
	FILE *file = fopen(path, "re");

	ret_text[0] = '\0';
	if (!file)
		return;
	if (fgets(ret_text, TEXT_BYTES, file))
		ret_text[strcspn(ret_text, "\n")] = '\0';
	fclose(file);
}

/* The lower 64 bits of the port's first GID, from its text in sysfs. */
static uint64_t port_guid_of(const struct adapter_description *adapter, unsigned port_number)
{
	char path[PATH_BYTES];
	char text[TEXT_BYTES];
	uint64_t guid = 0;
	unsigned group = 0;
	char *next = NULL;

	snprintf(path, sizeof(path), "%s/ports/%u/gids/0", adapter->adapter_path, port_number);
	read_text(path, text);
	for (char *word = strtok_r(text, ":", &next); word; word = strtok_r(NULL, ":", &next)) {
		if (++group > 4)
			guid = guid << 16 | (strtoul(word, NULL, 16) & 0xffff);
	}
	return guid;
}

/* A switch or router has no adapter for programs; its ports are found in its sysfs files. */
static const struct adapter_description *find_device_port(const struct session *session,
							  struct manager_port *port)
{
	static struct adapter_description device = {.name = "softib0"};

	snprintf(device.adapter_path, sizeof(device.adapter_path), "%s/sys/class/infiniband/%s",
		 session_tree(session), device.name);
	for (unsigned number = 0; number <= UINT8_MAX; number++) {
		uint64_t guid = port_guid_of(&device, number);

		if (!guid || (port->port_guid && guid != port->port_guid))
			continue;
		port->port_guid = guid;
		port->port_number = (uint8_t)number;
		return &device;
	}
	return NULL;
}

static const struct adapter_description *find_port(const struct session *session,
						   struct manager_port *port)
{
	if (!session_adapter_count(session))
		return find_device_port(session, port);
	for (unsigned i = 0; i < session_adapter_count(session); i++) {
		const struct adapter_description *adapter = session_adapter(session, i);

		for (unsigned number = 1; number <= adapter->port_count; number++) {
			uint64_t guid = port_guid_of(adapter, number);

			if (port->port_guid && guid != port->port_guid)
				continue;
			port->port_guid = guid;
			port->port_number = (uint8_t)number;
			return adapter;
		}
	}
	return NULL;
}

/* Opening the issm device sets IsSM in the port's CapabilityMask. */
static int open_issm(const char *tree, const char *adapter, unsigned port_number)
{
	char path[PATH_BYTES];
	char text[TEXT_BYTES];

	for (unsigned i = 0; i < ISSM_MAX; i++) {
		snprintf(path, sizeof(path), "%s/sys/class/infiniband_mad/issm%u/ibdev", tree, i);
		read_text(path, text);
		if (strcmp(text, adapter) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/sys/class/infiniband_mad/issm%u/port", tree, i);
		read_text(path, text);
		if (strtoul(text, NULL, 0) != port_number)
			continue;
		snprintf(path, sizeof(path), "%s/dev/infiniband/issm%u", tree, i);

		int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

		return file >= 0 ? file : -errno;
	}
	return -ENODEV;
}

static uint64_t method_bits(const enum mad_method *methods, unsigned method_count)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < method_count; i++)
		bits |= 1ull << methods[i];
	return bits;
}

static int register_agents(struct manager_port *port)
{
	static const enum mad_method smp_methods[] = {MAD_GET, MAD_SET, MAD_TRAP, MAD_TRAP_REPRESS};
	static const enum mad_method sa_methods[] = {
		MAD_GET, MAD_SET, MAD_GET_TABLE, MAD_GET_TRACE_TABLE, MAD_GET_MULTI, MAD_DELETE};
	struct mad_agent_options options = {
		.management_class = MAD_CLASS_SUBNET_DIRECTED,
		.class_version = SMP_CLASS_VERSION,
		.methods = {method_bits(smp_methods, ARRAY_COUNT(smp_methods))},
		.kind = MAD_AGENT_RAW};
	int error = mad_port_register(port->socket, &options, &port->directed);

	options.management_class = MAD_CLASS_SUBNET_LID;
	if (!error)
		error = mad_port_register(port->socket, &options, &port->lid_routed);
	options.management_class = MAD_CLASS_SUBNET_ADMINISTRATION;
	options.class_version = SA_CLASS_VERSION;
	options.methods[0] = method_bits(sa_methods, ARRAY_COUNT(sa_methods));
	if (!error)
		error = mad_port_register(port->socket, &options, &port->administration);
	if (error == -EBUSY)
		fprintf(stderr,
			"softib sm: %s already has a manager; choose another host with -H, or "
			"start the fabric with softib up --no-sm\n",
			port->name);
	else if (error)
		fprintf(stderr, "softib sm: %s: %s\n", port->name, strerror(-error));
	return error;
}

/* A host's tree is two levels below the fabric's folder. */
static void find_folder(const struct session *session, struct manager_port *port)
{
	snprintf(port->folder, sizeof(port->folder), "%s", session_tree(session));
	for (unsigned level = 0; level < 2; level++) {
		char *slash = strrchr(port->folder, '/');

		if (slash)
			*slash = '\0';
	}
}

static int open_port(const struct session *session, const char *host, struct manager_port *port)
{
	const struct adapter_description *adapter = find_port(session, port);

	if (!adapter) {
		fprintf(stderr, "softib sm: host %s has no such port\n", host ? host : "");
		return -ENODEV;
	}
	snprintf(port->name, sizeof(port->name), "%s%s%s:%u", host ? host : "", host ? " " : "",
		 adapter->name, port->port_number);
	find_folder(session, port);
	port->socket = mad_port_open(adapter->name, port->port_number);
	if (port->socket < 0) {
		fprintf(stderr, "softib sm: %s: %s\n", port->name, strerror(-port->socket));
		return port->socket;
	}

	int error = register_agents(port);

	if (!error) {
		port->issm = open_issm(session_tree(session), adapter->name, port->port_number);
		if (port->issm < 0)
			fprintf(stderr, "softib sm: cannot set IsSM of %s: %s\n", port->name,
				strerror(-port->issm));
	}
	if (error)
		close(port->socket);
	return error;
}

int manager_port_open(const char *fabric, const char *host, uint64_t port_guid,
		      struct manager_port *ret_port)
{
	struct manager_port port = {.issm = -1, .port_guid = port_guid};
	struct session *session;
	int error;

	/* session_get() reads the fabric and host from the environment. */
	setenv("SOFTIB_FABRIC", fabric, 1);
	if (host)
		setenv("SOFTIB_HOST", host, 1);
	error = session_get(&session);
	if (error) {
		fprintf(stderr, "softib sm: host %s of fabric %s: %s\n", host ? host : "(first)",
			fabric, strerror(-error));
		return error;
	}
	error = open_port(session, host, &port);
	if (!error)
		*ret_port = port;
	return error;
}

void manager_port_close(struct manager_port *port)
{
	if (port->issm >= 0)
		close(port->issm);
	close(port->socket);
}
