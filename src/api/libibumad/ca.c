/* SPDX-License-Identifier: Apache-2.0 */
/* Channel adapters and their ports as libibumad describes them, read from the sysfs tree (abi
 * 8.2). */
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

#include "api/libibumad/ca_port_choice.h"
#include "api/libibumad/umad_sysfs.h"
#include "base/attributes.h"

static int fail(int error)
{
	errno = error;
	return -error;
}

static void copy_text(char *ret_text, size_t text_bytes_max, const char *text)
{
	size_t length = strnlen(text, text_bytes_max - 1);

	memcpy(ret_text, text, length);
	ret_text[length] = '\0';
}

static uint64_t groups_to_number(const uint16_t groups[static 4])
{
	return (uint64_t)groups[0] << 48 | (uint64_t)groups[1] << 32 | (uint64_t)groups[2] << 16 |
	       groups[3];
}

static unsigned port_number_from(const char *ca_name, int port_number, const char *file)
{
	char text[UMAD_SYSFS_TEXT_BYTES];

	umad_sysfs_read_text(text, "infiniband/%s/ports/%d/%s", ca_name, port_number, file);
	return (unsigned)umad_sysfs_number(text);
}

static int read_pkeys(umad_port_t *port)
{
	enum { PKEYS_MAX = 65536 };
	char text[UMAD_SYSFS_TEXT_BYTES];
	unsigned count = 0;

	while (count < PKEYS_MAX && !umad_sysfs_read_text(text, "infiniband/%s/ports/%d/pkeys/%u",
							  port->ca_name, port->portnum, count))
		count++;
	port->pkeys = calloc(count ? count : 1, sizeof(port->pkeys[0]));
	if (!port->pkeys)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		umad_sysfs_read_text(text, "infiniband/%s/ports/%d/pkeys/%u", port->ca_name,
				     port->portnum, i);
		port->pkeys[i] = (uint16_t)umad_sysfs_number(text);
	}
	port->pkeys_size = count;
	return 0;
}

static int read_port(const char *ca_name, int port_number, umad_port_t *ret_port)
{
	umad_port_t port = {.portnum = port_number};
	char text[UMAD_SYSFS_TEXT_BYTES];
	uint16_t gid[8];
	int status;

	status = umad_sysfs_read_text(text, "infiniband/%s/ports/%d/state", ca_name, port_number);
	if (status)
		return status;
	port.state = (unsigned)umad_sysfs_number(text);
	copy_text(port.ca_name, sizeof(port.ca_name), ca_name);
	port.base_lid = port_number_from(ca_name, port_number, "lid");
	port.lmc = port_number_from(ca_name, port_number, "lid_mask_count");
	port.sm_lid = port_number_from(ca_name, port_number, "sm_lid");
	port.sm_sl = port_number_from(ca_name, port_number, "sm_sl");
	port.phys_state = port_number_from(ca_name, port_number, "phys_state");
	port.rate = port_number_from(ca_name, port_number, "rate");
	port.capmask = htobe32(port_number_from(ca_name, port_number, "cap_mask"));
	umad_sysfs_read_text(text, "infiniband/%s/ports/%d/gids/0", ca_name, port_number);
	if (!umad_sysfs_parse_groups(text, ARRAY_COUNT(gid), gid)) {
		port.gid_prefix = htobe64(groups_to_number(gid));
		port.port_guid = htobe64(groups_to_number(gid + 4));
	}
	/* Kernels without this file had only InfiniBand ports. */
	if (umad_sysfs_read_text(text, "infiniband/%s/ports/%d/link_layer", ca_name, port_number))
		copy_text(text, sizeof(text), "InfiniBand");
	copy_text(port.link_layer, sizeof(port.link_layer), text);
	status = read_pkeys(&port);
	if (status)
		return status;
	*ret_port = port;
	return 0;
}

static __be64 read_guid(const char *ca_name, const char *file)
{
	char text[UMAD_SYSFS_TEXT_BYTES];
	uint16_t guid[4];

	umad_sysfs_read_text(text, "infiniband/%s/%s", ca_name, file);
	if (umad_sysfs_parse_groups(text, ARRAY_COUNT(guid), guid))
		return 0;
	return htobe64(groups_to_number(guid));
}

static int read_ports(umad_ca_t *ca)
{
	for (int number = 0; number < UMAD_CA_MAX_PORTS; number++) {
		umad_port_t *port = malloc(sizeof(*port));
		int status = port ? read_port(ca->ca_name, number, port) : -ENOMEM;

		if (status) {
			free(port);
			if (status == -ENOMEM)
				return status;
			continue;
		}
		ca->ports[number] = port;
		ca->numports = number;
	}
	return 0;
}

static int read_ca(const char *ca_name, umad_ca_t *ret_ca)
{
	umad_ca_t ca = {0};
	char text[UMAD_SYSFS_TEXT_BYTES];
	int status;

	copy_text(ca.ca_name, sizeof(ca.ca_name), ca_name);
	status = umad_sysfs_read_text(text, "infiniband/%s/node_type", ca_name);
	if (status)
		return -ENODEV;
	ca.node_type = (unsigned)umad_sysfs_number(text);
	umad_sysfs_read_text(text, "infiniband/%s/fw_ver", ca_name);
	copy_text(ca.fw_ver, sizeof(ca.fw_ver), text);
	umad_sysfs_read_text(text, "infiniband/%s/hca_type", ca_name);
	copy_text(ca.ca_type, sizeof(ca.ca_type), text);
	umad_sysfs_read_text(text, "infiniband/%s/hw_rev", ca_name);
	copy_text(ca.hw_ver, sizeof(ca.hw_ver), text);
	ca.node_guid = read_guid(ca_name, "node_guid");
	ca.system_guid = read_guid(ca_name, "sys_image_guid");
	status = read_ports(&ca);
	if (status) {
		umad_release_ca(&ca);
		return status;
	}
	*ret_ca = ca;
	return 0;
}

int umad_init(void)
{
	return 0;
}

int umad_done(void)
{
	return 0;
}

int umad_get_ca(const char *ca_name, umad_ca_t *ca)
{
	char name[UMAD_CA_NAME_LEN];
	int port_number = 0;
	int status;

	status = ca_port_choose(ca_name, &port_number, name);
	if (!status)
		status = read_ca(name, ca);
	return status ? fail(-status) : 0;
}

int umad_release_ca(umad_ca_t *ca)
{
	if (!ca)
		return fail(ENODEV);
	for (int number = 0; number < UMAD_CA_MAX_PORTS; number++) {
		if (!ca->ports[number])
			continue;
		umad_release_port(ca->ports[number]);
		free(ca->ports[number]);
		ca->ports[number] = NULL;
	}
	return 0;
}

int umad_get_port(const char *ca_name, int portnum, umad_port_t *port)
{
	char name[UMAD_CA_NAME_LEN];
	int status;

	status = ca_port_choose(ca_name, &portnum, name);
	if (!status)
		status = read_port(name, portnum, port);
	return status ? fail(-status) : 0;
}

int umad_release_port(umad_port_t *port)
{
	if (!port)
		return fail(ENODEV);
	free(port->pkeys);
	port->pkeys = NULL;
	port->pkeys_size = 0;
	return 0;
}

int umad_get_ca_portguids(const char *ca_name, __be64 *portguids, int max)
{
	umad_ca_t ca;
	int count;
	int status = umad_get_ca(ca_name, &ca);

	if (status)
		return status;
	count = ca.numports + 1;
	if (portguids && count > max) {
		umad_release_ca(&ca);
		return fail(ENOMEM);
	}
	for (int number = 0; portguids && number < count; number++)
		portguids[number] = ca.ports[number] ? ca.ports[number]->port_guid : 0;
	umad_release_ca(&ca);
	return count;
}

int umad_get_issm_path(const char *ca_name, int portnum, char path[], int max)
{
	char name[UMAD_CA_NAME_LEN];
	char text[UMAD_SYSFS_TEXT_BYTES];
	int status = ca_port_choose(ca_name, &portnum, name);

	if (status)
		return fail(-status);
	for (int index = 0; index < UMAD_MAX_PORTS; index++) {
		int length;

		if (umad_sysfs_read_text(text, "infiniband_mad/issm%d/ibdev", index) ||
		    strcmp(text, name))
			continue;
		umad_sysfs_read_text(text, "infiniband_mad/issm%d/port", index);
		if (umad_sysfs_number(text) != (uint64_t)portnum)
			continue;
		length = snprintf(path, (size_t)max, "%s/dev/infiniband/issm%d", umad_sysfs_root(),
				  index);
		return length < max ? 0 : fail(ENAMETOOLONG);
	}
	return fail(ENODEV);
}
