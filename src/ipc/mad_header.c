/* SPDX-License-Identifier: Apache-2.0 */
/* The 64 bytes in front of each message on the socket of an open port. */
#include "ipc/mad_header.h"

#include <string.h>
#include "base/bytes.h"

enum {
	AGENT_ID = 0,
	STATUS = 4,
	TIMEOUT = 8,
	RETRIES = 12,
	LENGTH = 16,
	QPN = 20,
	QKEY = 24,
	LID = 28,
	SL = 30,
	PATH_BITS = 31,
	GRH_PRESENT = 32,
	GID_INDEX = 33,
	HOP_LIMIT = 34,
	TRAFFIC_CLASS = 35,
	GID = 36,
	FLOW_LABEL = 52,
	PKEY_INDEX = 56,
	SL_MASK = 0x0f,
	QPN_MASK = 0xffffff,
	FLOW_LABEL_MASK = 0xfffff,
};

static void put_host32(uint8_t *bytes, uint32_t value)
{
	memcpy(bytes, &value, sizeof(value));
}

static uint32_t get_host32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

void mad_port_header_encode(const struct mad_port_header *header,
			    uint8_t ret_bytes[static MAD_PORT_HEADER_BYTES])
{
	const struct mad_address *address = &header->address;

	memset(ret_bytes, 0, MAD_PORT_HEADER_BYTES);
	put_host32(ret_bytes + AGENT_ID, header->agent_id);
	put_host32(ret_bytes + STATUS, header->status);
	put_host32(ret_bytes + TIMEOUT, header->timeout_ms);
	put_host32(ret_bytes + RETRIES, header->retries);
	put_host32(ret_bytes + LENGTH, header->byte_count);
	put_be32(ret_bytes + QPN, address->qpn);
	put_be32(ret_bytes + QKEY, address->qkey);
	put_be16(ret_bytes + LID, address->lid);
	ret_bytes[SL] = address->sl;
	ret_bytes[PATH_BITS] = address->path_bits;
	memcpy(ret_bytes + PKEY_INDEX, &header->pkey_index, sizeof(header->pkey_index));
	if (!address->has_grh)
		return;
	ret_bytes[GRH_PRESENT] = 1;
	ret_bytes[GID_INDEX] = address->gid_index;
	ret_bytes[HOP_LIMIT] = address->hop_limit;
	ret_bytes[TRAFFIC_CLASS] = address->traffic_class;
	memcpy(ret_bytes + GID, address->gid.bytes, sizeof(address->gid.bytes));
	put_be32(ret_bytes + FLOW_LABEL, address->flow_label);
}

bool mad_port_header_decode(const uint8_t *bytes, size_t byte_count,
			    struct mad_port_header *ret_header)
{
	if (byte_count < MAD_PORT_HEADER_BYTES)
		return false;
	*ret_header = (struct mad_port_header){
		.agent_id = get_host32(bytes + AGENT_ID),
		.status = get_host32(bytes + STATUS),
		.timeout_ms = get_host32(bytes + TIMEOUT),
		.retries = get_host32(bytes + RETRIES),
		.byte_count = get_host32(bytes + LENGTH),
		.address = {.lid = get_be16(bytes + LID),
			    .sl = bytes[SL] & SL_MASK,
			    .path_bits = bytes[PATH_BITS],
			    .qpn = get_be32(bytes + QPN) & QPN_MASK,
			    .qkey = get_be32(bytes + QKEY),
			    .has_grh = bytes[GRH_PRESENT] != 0},
	};
	memcpy(&ret_header->pkey_index, bytes + PKEY_INDEX, sizeof(ret_header->pkey_index));
	if (!ret_header->address.has_grh)
		return true;
	ret_header->address.gid_index = bytes[GID_INDEX];
	ret_header->address.hop_limit = bytes[HOP_LIMIT];
	ret_header->address.traffic_class = bytes[TRAFFIC_CLASS];
	ret_header->address.flow_label = get_be32(bytes + FLOW_LABEL) & FLOW_LABEL_MASK;
	memcpy(ret_header->address.gid.bytes, bytes + GID, sizeof(ret_header->address.gid.bytes));
	return true;
}
