/* SPDX-License-Identifier: Apache-2.0 */
/* QP0 and QP1 of one port of a host, for a subnet manager in this process. */
#include "cli/manager_port.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "wire/mad.h"
#include "wire/sa_mad.h"
#include "wire/smp.h"

enum { TEXT_BYTES = 128, PATH_BYTES = 512, ISSM_MAX = 64 };

/* Opening the issm device sets IsSM in the port's CapabilityMask. */
static int open_issm(const char *tree, const char *adapter, unsigned port_number)
{
	char path[PATH_BYTES];
	char text[TEXT_BYTES];

	for (unsigned i = 0; i < ISSM_MAX; i++) {
		snprintf(path, sizeof(path), "%s/sys/class/infiniband_mad/issm%u/ibdev", tree, i);
		host_port_read_text(path, text, sizeof(text));
		if (strcmp(text, adapter) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/sys/class/infiniband_mad/issm%u/port", tree, i);
		host_port_read_text(path, text, sizeof(text));
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
		.methods = {method_bits(smp_methods, ARRAY_COUNT(smp_methods))}};
	int error = mad_engine_register(&port->mads, &options, &port->directed);

	options.management_class = MAD_CLASS_SUBNET_LID;
	if (!error)
		error = mad_engine_register(&port->mads, &options, &port->lid_routed);
	options.management_class = MAD_CLASS_SUBNET_ADMINISTRATION;
	options.class_version = SA_CLASS_VERSION;
	options.methods[0] = method_bits(sa_methods, ARRAY_COUNT(sa_methods));
	if (!error)
		error = mad_engine_register(&port->mads, &options, &port->administration);
	if (error == -EBUSY)
		fprintf(stderr,
			"softib sm: %s already has a manager; start the fabric with softib up "
			"--no-sm to have none there\n",
			port->mads.host.name);
	return error;
}

int manager_port_open(const char *fabric, const char *host, uint64_t port_guid,
		      struct manager_port *ret_port)
{
	struct manager_port port = {.issm = -1};
	int error = host_port_open("sm", fabric, host, port_guid, &port.mads.host);

	if (error)
		return error;
	error = register_agents(&port);
	if (error) {
		mad_engine_close(&port.mads);
		return error;
	}
	port.issm =
		open_issm(port.mads.host.tree, port.mads.host.adapter, port.mads.host.port_number);
	if (port.issm < 0)
		fprintf(stderr, "softib sm: cannot set IsSM of %s: %s\n", port.mads.host.name,
			strerror(-port.issm));
	*ret_port = port;
	return 0;
}

void manager_port_close(struct manager_port *port)
{
	if (port->issm >= 0)
		close(port->issm);
	mad_engine_close(&port->mads);
}
