/* SPDX-License-Identifier: Apache-2.0 */
/* QP0 and QP1 of one port of a host, for the MADs of this process. */
#include "cli/host_port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "runtime/session.h"

enum { TEXT_BYTES = 128, PATH_BYTES = 512 };

void host_port_read_text(const char *path, char *ret_text, int byte_count)
{
	FILE *file = fopen(path, "re");

	ret_text[0] = '\0';
	if (!file)
		return;
	if (fgets(ret_text, byte_count, file))
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
	host_port_read_text(path, text, sizeof(text));
	for (char *word = strtok_r(text, ":", &next); word; word = strtok_r(NULL, ":", &next)) {
		if (++group > 4)
			guid = guid << 16 | (strtoul(word, NULL, 16) & 0xffff);
	}
	return guid;
}

/* A switch or router has no adapter for programs; its ports are found in its sysfs files. */
static const struct adapter_description *find_device_port(const struct session *session,
							  struct host_port *port)
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
						   struct host_port *port)
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

/* A host's tree is two levels below the fabric's folder. */
static void find_folder(const struct session *session, struct host_port *port)
{
	snprintf(port->folder, sizeof(port->folder), "%s", session_tree(session));
	for (unsigned level = 0; level < 2; level++) {
		char *slash = strrchr(port->folder, '/');

		if (slash)
			*slash = '\0';
	}
}

static int open_port(const struct session *session, const char *host, struct host_port *port)
{
	const struct adapter_description *adapter = find_port(session, port);

	if (!adapter) {
		fprintf(stderr, "softib %s: host %s has no such port\n", port->user,
			host ? host : "");
		return -ENODEV;
	}
	snprintf(port->name, sizeof(port->name), "%s%s%s:%u", host ? host : "", host ? " " : "",
		 adapter->name, port->port_number);
	snprintf(port->adapter, sizeof(port->adapter), "%s", adapter->name);
	snprintf(port->tree, sizeof(port->tree), "%s", session_tree(session));
	find_folder(session, port);
	port->socket = mad_port_open(adapter->name, port->port_number);
	if (port->socket < 0) {
		fprintf(stderr, "softib %s: %s: %s\n", port->user, port->name,
			strerror(-port->socket));
		return port->socket;
	}
	return 0;
}

int host_port_open(const char *user, const char *fabric, const char *host, uint64_t port_guid,
		   struct host_port *ret_port)
{
	struct host_port port = {.user = user, .port_guid = port_guid};
	struct session *session;
	int error;

	/* session_get() reads the fabric and host from the environment. */
	setenv("SOFTIB_FABRIC", fabric, 1);
	if (host)
		setenv("SOFTIB_HOST", host, 1);
	error = session_get(&session);
	if (error) {
		fprintf(stderr, "softib %s: host %s of fabric %s: %s\n", user,
			host ? host : "(first)", fabric, strerror(-error));
		return error;
	}
	error = open_port(session, host, &port);
	if (!error)
		*ret_port = port;
	return error;
}

void host_port_close(struct host_port *port)
{
	close(port->socket);
}

/* A file of the port in sysfs. */
static void read_port_file(const struct host_port *port, const char *file,
			   char ret_text[static TEXT_BYTES])
{
	char path[PATH_BYTES + TEXT_BYTES];

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/ports/%u/%s", port->tree,
		 port->adapter, port->port_number, file);
	host_port_read_text(path, ret_text, TEXT_BYTES);
}

/* The number in such a file, with or without 0x; 0: none. */
static unsigned long port_number_in(const struct host_port *port, const char *file)
{
	char text[TEXT_BYTES];

	read_port_file(port, file, text);
	return strtoul(text, NULL, 0);
}

void host_port_find_sa(const struct host_port *port, uint16_t *ret_lid, uint8_t *ret_sl)
{
	*ret_lid = (uint16_t)port_number_in(port, "sm_lid");
	*ret_sl = (uint8_t)port_number_in(port, "sm_sl");
}

uint16_t host_port_lid(const struct host_port *port)
{
	return (uint16_t)port_number_in(port, "lid");
}

struct gid host_port_gid(const struct host_port *port)
{
	enum { GROUPS = 8, GROUPS_PER_HALF = 4 };
	char text[TEXT_BYTES];
	char *next = NULL;
	uint64_t halves[2] = {0, 0};
	unsigned group = 0;

	read_port_file(port, "gids/0", text);
	for (char *word = strtok_r(text, ":", &next); word && group < GROUPS;
	     word = strtok_r(NULL, ":", &next), group++)
		halves[group / GROUPS_PER_HALF] = halves[group / GROUPS_PER_HALF] << 16 |
						  (strtoul(word, NULL, 16) & UINT16_MAX);
	return gid_from(halves[0], halves[1]);
}

bool host_port_own_pkey(const struct host_port *port, uint16_t pkey, uint16_t *ret_own)
{
	bool is_found = false;

	for (unsigned index = 0; index <= UINT16_MAX; index++) {
		char file[32], text[TEXT_BYTES];
		uint16_t own;

		snprintf(file, sizeof(file), "pkeys/%u", index);
		read_port_file(port, file, text);
		if (!*text)
			break;
		own = (uint16_t)strtoul(text, NULL, 0);
		if ((own & 0x7fff) != (pkey & 0x7fff))
			continue;
		if (!is_found || own & 0x8000)
			*ret_own = own;
		is_found = true;
	}
	return is_found;
}
