/* SPDX-License-Identifier: Apache-2.0 */
/* The sysfs and device files of a host, which programs read without going through the libraries:
 * sys/class/infiniband..., dev/infiniband... */
#include "daemon/sysfs/sysfs_tree.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "daemon/core/host_table.h"
#include "daemon/core/log.h"
#include "daemon/core/runtime_folder.h"
#include "daemon/mad/issm.h"
#include "daemon/sysfs/sysfs_file.h"
#include "daemon/sysfs/sysfs_port.h"
#include "net/node/node.h"

/* Each adapter is a PCI device. UCX reads the function's name, NCCL overwrites its last digits. */
enum { PCI_FIRST_DEVICE = 0x10 };

/* Of one line in the file "interfaces". */
enum { INTERFACE_LINE_BYTES = 2 * ADDRESS_TEXT_BYTES + 10 };

/* A path that is too long becomes the empty path, and writing to it fails. */
static void format_path(char ret_path[static SYSFS_PATH_BYTES], const char *format, ...)
	PRINTF_LIKE(2, 3);

static void format_path(char ret_path[static SYSFS_PATH_BYTES], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(ret_path, SYSFS_PATH_BYTES, format, arguments);
	va_end(arguments);
	if (length < 0 || length >= SYSFS_PATH_BYTES)
		ret_path[0] = '\0';
}

void sysfs_tree_path(const struct sysfs_tree *tree, const struct host *host,
		     char ret_path[static SYSFS_PATH_BYTES])
{
	format_path(ret_path, "%s/hosts/%s", tree->folder, host->name);
}

static void format_guid(uint64_t guid, char ret_text[static 20])
{
	snprintf(ret_text, 20, "%04x:%04x:%04x:%04x", (unsigned)(guid >> 48 & 0xffff),
		 (unsigned)(guid >> 32 & 0xffff), (unsigned)(guid >> 16 & 0xffff),
		 (unsigned)(guid & 0xffff));
}

/* The adapter's PCI function, below sys/devices. */
static void format_function(const struct adapter_entry *adapter, char ret_text[static 40])
{
	snprintf(ret_text, 40, "pci0000:%02x/0000:%02x:%02x.0", adapter->index / 16,
		 adapter->index / 16, PCI_FIRST_DEVICE + adapter->index % 16);
}

static void format_port_folder(const struct sysfs_tree *tree, const struct endpoint *endpoint,
			       char ret_path[static SYSFS_PATH_BYTES])
{
	const struct adapter_entry *adapter = endpoint->device;
	char root[SYSFS_PATH_BYTES], function[40];

	sysfs_tree_path(tree, adapter->host, root);
	format_function(adapter, function);
	format_path(ret_path, "%s/sys/devices/%s/infiniband/%s/ports/%u", root, function,
		    adapter->name, endpoint->port->number);
}

static int render_function(const char *folder)
{
	int error = 0;

	keep_first(&error, sysfs_file_write(folder, "vendor", "0x1b5f"));
	keep_first(&error, sysfs_file_write(folder, "device", "0x0001"));
	keep_first(&error, sysfs_file_write(folder, "subsystem_vendor", "0x1b5f"));
	keep_first(&error, sysfs_file_write(folder, "subsystem_device", "0x0001"));
	keep_first(&error, sysfs_file_write(folder, "class", "0x020700"));
	keep_first(&error, sysfs_file_write(folder, "numa_node", "-1"));
	keep_first(&error, sysfs_file_write(folder, "local_cpus", "ffffffff,ffffffff"));
	keep_first(&error, sysfs_file_write(folder, "local_cpulist", "0-63"));
	keep_first(&error, sysfs_file_write(folder, "current_link_width", "16"));
	keep_first(&error, sysfs_file_write(folder, "current_link_speed", "32.0 GT/s PCIe"));
	keep_first(&error, sysfs_file_write(folder, "max_link_width", "16"));
	keep_first(&error, sysfs_file_write(folder, "max_link_speed", "32.0 GT/s PCIe"));
	return error;
}

static int render_device(const char *folder, const struct node *node)
{
	static const char *const node_type_names[] = {
		[NODE_CA] = "1: CA", [NODE_SWITCH] = "2: switch", [NODE_ROUTER] = "3: router"};
	char node_guid[20], image_guid[20];
	int error = 0;

	format_guid(node->info.node_guid, node_guid);
	format_guid(node->info.system_image_guid, image_guid);
	keep_first(&error, sysfs_link_make(folder, "device", "../.."));
	keep_first(&error, sysfs_file_write(folder, "node_type", "%s",
					    node_type_names[node->info.node_type]));
	keep_first(&error, sysfs_file_write(folder, "node_guid", "%s", node_guid));
	keep_first(&error, sysfs_file_write(folder, "sys_image_guid", "%s", image_guid));
	keep_first(&error, sysfs_file_write(folder, "node_desc", "%s", node->description));
	keep_first(&error, sysfs_file_write(folder, "fw_ver", "0.1.0"));
	keep_first(&error, sysfs_file_write(folder, "hca_type", "softib"));
	keep_first(&error, sysfs_file_write(folder, "hw_rev", "%x", node->info.revision));
	keep_first(&error, sysfs_file_write(folder, "board_id", "SOFTIB0000001"));
	return error;
}

/* umadN and issmN count over all ports of a host, uverbsN over its adapters. */
static int render_port_devices(const char *root, const struct adapter_entry *adapter,
			       unsigned port_number, unsigned port_ordinal)
{
	static const char *const kinds[] = {"umad", "issm"};
	char name[64], path[SYSFS_PATH_BYTES];
	int error = 0;

	for (unsigned kind = 0; kind < ARRAY_COUNT(kinds); kind++) {
		snprintf(name, sizeof(name), "sys/class/infiniband_mad/%s%u", kinds[kind],
			 port_ordinal);
		format_path(path, "%s/%s", root, name);
		keep_first(&error, sysfs_folder_make(root, name));
		keep_first(&error, sysfs_file_write(path, "ibdev", "%s", adapter->name));
		keep_first(&error, sysfs_file_write(path, "port", "%u", port_number));
	}
	snprintf(name, sizeof(name), "dev/infiniband/umad%u", port_ordinal);
	keep_first(&error, sysfs_link_make(root, name, "/dev/null"));
	/* A FIFO, so that softibd notices when a subnet manager opens it (abi 8.4). */
	format_path(path, "%s/dev/infiniband/issm%u", root, port_ordinal);
	if (mkfifo(path, 0600) != 0 && errno != EEXIST)
		keep_first(&error, -errno);
	return error;
}

static int render_verbs_device(const char *root, const struct adapter_entry *adapter,
			       const char *function)
{
	char name[64], path[SYSFS_PATH_BYTES], target[80];
	int error = 0;

	snprintf(name, sizeof(name), "sys/class/infiniband_verbs/uverbs%u", adapter->index);
	format_path(path, "%s/%s", root, name);
	keep_first(&error, sysfs_folder_make(root, name));
	keep_first(&error, sysfs_file_write(path, "ibdev", "%s", adapter->name));
	keep_first(&error, sysfs_file_write(path, "abi_version", "1"));
	keep_first(&error, sysfs_file_write(path, "dev", "231:%u", 192 + adapter->index));
	snprintf(target, sizeof(target), "../../../devices/%s", function);
	keep_first(&error, sysfs_link_make(path, "device", target));
	snprintf(name, sizeof(name), "dev/infiniband/uverbs%u", adapter->index);
	keep_first(&error, sysfs_link_make(root, name, "/dev/null"));
	return error;
}

static int render_adapter(struct sysfs_tree *tree, const char *root,
			  const struct adapter_entry *adapter, unsigned *port_ordinal)
{
	char function[40], name[128], path[SYSFS_PATH_BYTES], target[128];
	int error = 0;

	format_function(adapter, function);
	snprintf(name, sizeof(name), "sys/devices/%s/infiniband/%s", function, adapter->name);
	keep_first(&error, sysfs_folder_make(root, name));
	format_path(path, "%s/%s", root, name);
	keep_first(&error, render_device(path, adapter->node));
	format_path(path, "%s/sys/devices/%s", root, function);
	keep_first(&error, render_function(path));
	snprintf(target, sizeof(target), "../../devices/%s/infiniband/%s", function, adapter->name);
	snprintf(name, sizeof(name), "sys/class/infiniband/%s", adapter->name);
	keep_first(&error, sysfs_link_make(root, name, target));
	/* A switch or router has no queue pairs for programs. */
	if (adapter != adapter->host->device)
		keep_first(&error, render_verbs_device(root, adapter, function));
	for (unsigned number = adapter_first_port(adapter);
	     number <= adapter_last_port(adapter) && !error; number++) {
		struct endpoint *endpoint = adapter->node->ports[number].endpoint;

		keep_first(&error, render_port_devices(root, adapter, number, (*port_ordinal)++));
		format_port_folder(tree, endpoint, path);
		keep_first(&error, sysfs_port_create(path, endpoint->port, &endpoint->sysfs_shown));
	}
	return error;
}

/* The addresses of the ports, a line each. The libraries' getifaddrs makes ib0, ib1 ... of them. */
static int render_interfaces(const struct host *host, const char *root)
{
	char text[ADAPTERS_PER_HOST_MAX * 2 * INTERFACE_LINE_BYTES];
	size_t length = 0;

	for (uint32_t index = 0; index < host->adapter_count; index++) {
		const struct adapter_entry *adapter = host->adapters[index];

		for (unsigned number = 1; number <= adapter->node->port_count &&
					  length + INTERFACE_LINE_BYTES < sizeof(text);
		     number++) {
			const struct endpoint *endpoint = &adapter->endpoints[number];
			char ipv4[ADDRESS_TEXT_BYTES], ipv6[ADDRESS_TEXT_BYTES];

			endpoint_address(&endpoint->ipv4, ipv4);
			endpoint_address(&endpoint->ipv6, ipv6);
			length += (size_t)snprintf(text + length, sizeof(text) - length,
						   "%s%s %u %s %u", length ? "\n" : "", ipv4,
						   endpoint->ipv4.prefix_bits, ipv6,
						   endpoint->ipv6.prefix_bits);
		}
	}
	return length ? sysfs_file_write(root, "interfaces", "%s", text) : 0;
}

static int render_host(struct sysfs_tree *tree, const struct host *host, const char *root)
{
	static const char *const folders[] = {
		"sys/class/infiniband",	  "sys/class/infiniband_mad", "sys/class/infiniband_verbs",
		"sys/class/misc/rdma_cm", "sys/class/scsi_host",      "dev/infiniband"};
	char path[SYSFS_PATH_BYTES];
	unsigned port_ordinal = 0;
	int error = 0;

	for (unsigned index = 0; index < ARRAY_COUNT(folders); index++)
		keep_first(&error, sysfs_folder_make(root, folders[index]));
	format_path(path, "%s/sys/class/infiniband_mad", root);
	keep_first(&error, sysfs_file_write(path, "abi_version", "5"));
	keep_first(&error, render_interfaces(host, root));
	format_path(path, "%s/sys/class/infiniband_verbs", root);
	keep_first(&error, sysfs_file_write(path, "abi_version", "6"));
	format_path(path, "%s/sys/class/misc/rdma_cm", root);
	keep_first(&error, sysfs_file_write(path, "abi_version", "4"));
	keep_first(&error, sysfs_link_make(root, "dev/infiniband/rdma_cm", "/dev/null"));
	for (uint32_t index = 0; host_device(host, index) && !error; index++)
		error = render_adapter(tree, root, host_device(host, index), &port_ordinal);
	return error;
}

/* A program that opens an issm device is a subnet manager. */
static void watch_managers(struct sysfs_tree *tree, const struct host *host, const char *root)
{
	char path[SYSFS_PATH_BYTES];
	unsigned port_ordinal = 0;

	for (uint32_t index = 0; host_device(host, index); index++) {
		struct adapter_entry *adapter = host_device(host, index);

		for (unsigned number = adapter_first_port(adapter);
		     number <= adapter_last_port(adapter); number++) {
			format_path(path, "%s/dev/infiniband/issm%u", root, port_ordinal++);
			issm_watch_port(tree->issm, adapter->node->ports[number].endpoint, path);
		}
	}
}

int sysfs_tree_render(struct sysfs_tree *tree, struct host *host)
{
	char root[SYSFS_PATH_BYTES];

	if (host->sysfs_is_rendered)
		return 0;
	sysfs_tree_path(tree, host, root);

	int error = render_host(tree, host, root);

	if (error) {
		log_line("can't write the files of host %s below %s: %s", host->name, root,
			 strerror(-error));
		remove_folder(root);
		return error;
	}
	host->sysfs_is_rendered = true;
	watch_managers(tree, host, root);
	return 0;
}

void sysfs_tree_update_port(struct sysfs_tree *tree, struct endpoint *endpoint)
{
	char path[SYSFS_PATH_BYTES];

	if (!endpoint->device || !endpoint->device->host->sysfs_is_rendered)
		return;
	format_port_folder(tree, endpoint, path);

	int error = sysfs_port_write(path, endpoint->port, endpoint->sysfs_shown);

	if (error)
		log_line("%s is out of date: %s", path, strerror(-error));
}

void sysfs_tree_update_counters(struct sysfs_tree *tree, const struct host *host)
{
	char path[SYSFS_PATH_BYTES];
	int error = 0;

	for (uint32_t index = 0; host_device(host, index) && host->sysfs_is_rendered; index++) {
		const struct adapter_entry *adapter = host_device(host, index);

		for (unsigned number = adapter_first_port(adapter);
		     number <= adapter_last_port(adapter); number++) {
			const struct endpoint *endpoint = adapter->node->ports[number].endpoint;

			format_port_folder(tree, endpoint, path);
			keep_first(&error, sysfs_port_write_counters(path, endpoint->port));
		}
	}
	if (error)
		log_line("counters of host %s are out of date: %s", host->name, strerror(-error));
}
