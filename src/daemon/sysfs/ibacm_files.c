/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that rdma-core's ibacm reads and writes on a host.
 *
 * ibacm asks the kernel for the addresses of IPoIB interfaces. A host of softib has none in the
 * kernel, so its addresses are in the address file beside its names, and the options file permits
 * that.
 */
#include "daemon/sysfs/ibacm_files.h"

#include <errno.h>
#include <stdio.h>
#include "daemon/core/host_table.h"
#include "daemon/sysfs/sysfs_file.h"
#include "net/node/node.h"

/* Of the lines of one port. */
enum { PORT_TEXT_BYTES = 4 * (HOST_NAME_BYTES + ADDRESS_TEXT_BYTES + 48) };

/* "address device port pkey" for a port's name and its two IP addresses. The first port also has
 * the host's own name, as ib_acme -A writes it. */
static size_t format_port(const struct host *host, const struct endpoint *endpoint,
			  const char *adapter, unsigned port_number, unsigned ordinal,
			  size_t byte_count, char *ret_text)
{
	char ipv4[ADDRESS_TEXT_BYTES], ipv6[ADDRESS_TEXT_BYTES];
	size_t length = 0;

	endpoint_address(&endpoint->ipv4, ipv4);
	endpoint_address(&endpoint->ipv6, ipv6);
	if (ordinal == 1)
		length += (size_t)snprintf(ret_text, byte_count, "\n%s %s %u default", host->name,
					   adapter, port_number);
	length += (size_t)snprintf(ret_text + length, byte_count - length,
				   "\n%s-%u %s %u default\n%s %s %u default\n%s %s %u default",
				   host->name, ordinal, adapter, port_number, ipv4, adapter,
				   port_number, ipv6, adapter, port_number);
	return length;
}

static int write_addresses(const struct host *host, const char *folder)
{
	char text[ADAPTERS_PER_HOST_MAX * 2 * PORT_TEXT_BYTES];
	unsigned ordinal = 1;
	size_t length = 0;

	text[0] = '\0';
	for (uint32_t index = 0; index < host->adapter_count; index++) {
		const struct adapter_entry *adapter = host->adapters[index];

		for (unsigned number = 1;
		     number <= adapter->node->port_count && length + PORT_TEXT_BYTES < sizeof(text);
		     number++)
			length += format_port(host, &adapter->endpoints[number], adapter->name,
					      number, ordinal++, sizeof(text) - length,
					      text + length);
	}
	return sysfs_file_write(folder, "ibacm_addr.cfg", "# address device port pkey%s", text);
}

int ibacm_files_write(const struct host *host, const char *root)
{
	static const char *const folders[] = {"run", "var/log", "etc/rdma"};
	char folder[SYSFS_PATH_BYTES];
	int error = 0;

	for (unsigned index = 0; index < ARRAY_COUNT(folders); index++)
		keep_first(&error, sysfs_folder_make(root, folders[index]));
	if (snprintf(folder, sizeof(folder), "%s/etc/rdma", root) >= (int)sizeof(folder))
		return -ENAMETOOLONG;
	keep_first(&error, write_addresses(host, folder));
	keep_first(&error, sysfs_file_write(folder, "ibacm_opts.cfg", "support_ips_in_addr_cfg 1"));
	return error;
}
