/* SPDX-License-Identifier: Apache-2.0 */
/* Questions by MADs through libibumad. */
#include "queries.h"

#include <endian.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TIMEOUT_MS = 1000,
	RETRIES = 3,
	GSI_QPN = 1,
	DEVICE_CLASS_VERSION = 1,
	PATH_RECORD = 0x35,
	IO_UNIT_INFO = 0x10,
	IO_CONTROLLER_PROFILE = 0x11,
	SERVICE_ENTRIES = 0x12,
};

/* Components of a PathRecord query. */
enum {
	WITH_SERVICE_ID = 1 << 0 | 1 << 1,
	WITH_DGID = 1 << 2,
	WITH_SGID = 1 << 3,
	WITH_REVERSIBLE = 1 << 11,
	WITH_NUMB_PATH = 1 << 12,
};

#define GSI_QKEY 0x80010000u

static bool fail(const char *what)
{
	fprintf(stderr, "softib-address-resolution: %s\n", what);
	return false;
}

bool query_port_open(struct query_port *port)
{
	umad_port_t attributes;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &attributes) < 0)
		return fail("no port");
	port->umad = umad_open_port(attributes.ca_name, attributes.portnum);
	port->sm_lid = attributes.sm_lid;
	port->sm_sl = attributes.sm_sl;
	port->gid.global.subnet_prefix = attributes.gid_prefix;
	port->gid.global.interface_id = attributes.port_guid;
	umad_release_port(&attributes);
	if (port->umad < 0)
		return fail("the port cannot be opened");
	port->sa_agent =
		umad_register(port->umad, UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION, 0, NULL);
	port->device_agent =
		umad_register(port->umad, UMAD_CLASS_DEVICE_MGMT, DEVICE_CLASS_VERSION, 0, NULL);
	return (port->sa_agent >= 0 && port->device_agent >= 0) || fail("no MAD agents");
}

/* Sends the MAD behind umad's header, and replaces it by the answer. */
static bool ask(const struct query_port *port, int agent, void *umad, const char *what)
{
	struct umad_hdr *header = umad_get_mad(umad);
	int length = sizeof(struct umad_sa_packet);

	if (umad_send(port->umad, agent, umad, length, TIMEOUT_MS, RETRIES) < 0 ||
	    umad_recv(port->umad, umad, &length, (RETRIES + 1) * TIMEOUT_MS) < 0 ||
	    umad_status(umad) != 0) {
		fprintf(stderr, "softib-address-resolution: no answer: %s\n", what);
		return false;
	}
	if (header->status) {
		fprintf(stderr, "softib-address-resolution: %s: status 0x%04x\n", what,
			be16toh(header->status));
		return false;
	}
	return true;
}

static void *new_request(uint8_t class, uint8_t version, uint16_t attribute, uint32_t modifier)
{
	static uint64_t transaction;
	void *umad = calloc(1, umad_size() + sizeof(struct umad_sa_packet));
	struct umad_hdr *header = umad ? umad_get_mad(umad) : NULL;

	if (!header)
		abort();
	header->base_version = UMAD_BASE_VERSION;
	header->mgmt_class = class;
	header->class_version = version;
	header->method = UMAD_METHOD_GET;
	header->tid = htobe64(++transaction);
	header->attr_id = htobe16(attribute);
	header->attr_mod = htobe32(modifier);
	return umad;
}

bool query_path(const struct query_port *port, uint64_t guid, uint64_t service_id,
		struct ibv_path_record *ret_path)
{
	void *umad = new_request(UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION, PATH_RECORD, 0);
	struct umad_sa_packet *packet = umad_get_mad(umad);
	struct ibv_path_record wanted = {.service_id = htobe64(service_id),
					 .sgid = port->gid,
					 .reversible_numpath = IBV_PATH_RECORD_REVERSIBLE | 1};
	uint64_t components = WITH_DGID | WITH_SGID | WITH_REVERSIBLE | WITH_NUMB_PATH;
	bool is_answered;

	wanted.dgid.global.subnet_prefix = port->gid.global.subnet_prefix;
	wanted.dgid.global.interface_id = htobe64(guid);
	if (service_id)
		components |= WITH_SERVICE_ID;
	packet->comp_mask = htobe64(components);
	memcpy(packet->data, &wanted, sizeof(wanted));
	umad_set_addr(umad, port->sm_lid, GSI_QPN, port->sm_sl, (int)GSI_QKEY);
	is_answered = ask(port, port->sa_agent, umad, "PathRecord");
	if (is_answered)
		memcpy(ret_path, packet->data, sizeof(*ret_path));
	free(umad);
	return is_answered;
}

/* Get of an attribute of device management over this path. */
static bool query_device(const struct query_port *port, const struct ibv_path_record *path,
			 uint16_t attribute, uint32_t modifier, const char *what,
			 uint8_t ret_data[static UMAD_LEN_DM_DATA])
{
	void *umad = new_request(UMAD_CLASS_DEVICE_MGMT, DEVICE_CLASS_VERSION, attribute, modifier);
	struct umad_dm_packet *packet = umad_get_mad(umad);
	bool is_answered;

	umad_set_addr(umad, be16toh(path->dlid), GSI_QPN, be16toh(path->qosclass_sl) & 0xf,
		      (int)GSI_QKEY);
	is_answered = ask(port, port->device_agent, umad, what);
	memcpy(ret_data, packet->data, UMAD_LEN_DM_DATA);
	free(umad);
	return is_answered;
}

bool query_unit(const struct query_port *port, const struct ibv_path_record *path,
		struct io_unit *ret_unit)
{
	uint8_t data[UMAD_LEN_DM_DATA];

	if (!query_device(port, path, IO_UNIT_INFO, 0, "IOUnitInfo", data))
		return false;
	memset(ret_unit, 0, sizeof(*ret_unit));
	ret_unit->change_id = (unsigned)data[0] << 8 | data[1];
	ret_unit->slot_count = data[2];
	/* Four bits a slot, the first one in the upper half of its byte. */
	for (unsigned slot = 1; slot <= ret_unit->slot_count; slot++)
		ret_unit->has_controller[slot] =
			(data[4 + (slot - 1) / 2] >> (slot % 2 ? 4 : 0) & 0xf) == 1;
	return true;
}

static uint64_t get_be(const uint8_t *bytes, unsigned byte_count)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < byte_count; i++)
		value = value << 8 | bytes[i];
	return value;
}

/* Text of a peer, for a terminal. */
static void copy_text(const uint8_t *bytes, size_t byte_count, char *ret_text)
{
	for (size_t i = 0; i < byte_count; i++)
		ret_text[i] =
			(char)(bytes[i] == 0 || (bytes[i] >= ' ' && bytes[i] < 0x7f) ? bytes[i]
										     : '?');
	ret_text[byte_count] = '\0';
}

bool query_profile(const struct query_port *port, const struct ibv_path_record *path, unsigned slot,
		   struct io_profile *ret_profile)
{
	uint8_t data[UMAD_LEN_DM_DATA];

	if (!query_device(port, path, IO_CONTROLLER_PROFILE, slot, "IOControllerProfile", data))
		return false;
	ret_profile->guid = get_be(data, 8);
	ret_profile->io_class = (unsigned)get_be(data + 28, 2);
	ret_profile->protocol = (unsigned)get_be(data + 32, 2);
	ret_profile->service_count = data[54];
	copy_text(data + 64, ID_STRING_BYTES, ret_profile->id_string);
	return ret_profile->service_count > 0 || fail("the controller has no service");
}

bool query_service(const struct query_port *port, const struct ibv_path_record *path, unsigned slot,
		   struct io_service *ret_service)
{
	uint8_t data[UMAD_LEN_DM_DATA];

	/* Entries 0 to 0. */
	if (!query_device(port, path, SERVICE_ENTRIES, slot << 16, "ServiceEntries", data))
		return false;
	copy_text(data, SERVICE_NAME_BYTES, ret_service->name);
	ret_service->id = get_be(data + SERVICE_NAME_BYTES, 8);
	return true;
}
