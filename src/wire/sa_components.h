/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Component masks of subnet administration: bit n of the mask selects component n of the attribute,
 * reserved ones included (vol 1, chapter 15; management 4.4).
 *
 * A record matches a request when it has the request's value in every selected component. Both are
 * compared in wire format, so that one function serves every attribute.
 */
#ifndef SOFTIB_WIRE_SA_COMPONENTS_H
#define SOFTIB_WIRE_SA_COMPONENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/sa_mad.h"

#define SA_COMPONENT(number) ((uint64_t)1 << (number))

/* Records whose id is only a LID. */
enum record_component { RECORD_LID = 0 };

enum node_record_component { NR_LID = 0, NR_NODE_GUID = 7, NR_PORT_GUID = 8 };

enum port_info_record_component { PIR_LID = 0, PIR_PORT_NUMBER = 1, PIR_CAPABILITY_MASK = 7 };
/* The attribute modifier of a query for ports that have all bits of a CapabilityMask (management
 * 4.3). */
#define PORT_INFO_SUBSET_MATCH 0x80000000u

enum sl_to_vl_record_component { SLVL_LID = 0, SLVL_INPUT_PORT = 1, SLVL_OUTPUT_PORT = 2 };

enum block_record_component { BLOCK_LID = 0, BLOCK_NUMBER = 1 };

enum multicast_forwarding_record_component { MFR_LID = 0, MFR_POSITION = 1, MFR_BLOCK = 3 };

enum link_record_component { LR_FROM_LID = 0, LR_FROM_PORT = 1, LR_TO_PORT = 2, LR_TO_LID = 3 };

enum guid_info_record_component { GIR_LID = 0, GIR_BLOCK = 1, GIR_GUID_FIRST = 4 };

enum service_record_component {
	SR_ID = 0,
	SR_GID = 1,
	SR_PKEY = 2,
	SR_LEASE = 4,
	SR_KEY = 5,
	SR_NAME = 6,
	SR_DATA_FIRST = 7,
	SR_DATA_LAST = 36,
};

enum path_record_component {
	PR_SERVICE_ID_HIGH = 0,
	PR_SERVICE_ID_LOW = 1,
	PR_DGID = 2,
	PR_SGID = 3,
	PR_DLID = 4,
	PR_SLID = 5,
	PR_RAW_TRAFFIC = 6,
	PR_FLOW_LABEL = 8,
	PR_HOP_LIMIT = 9,
	PR_TRAFFIC_CLASS = 10,
	PR_REVERSIBLE = 11,
	PR_PATH_COUNT = 12,
	PR_PKEY = 13,
	PR_QOS_CLASS = 14,
	PR_SL = 15,
	PR_MTU_SELECTOR = 16,
	PR_MTU = 17,
	PR_RATE_SELECTOR = 18,
	PR_RATE = 19,
	PR_PACKET_LIFE_TIME_SELECTOR = 20,
	PR_PACKET_LIFE_TIME = 21,
	PR_PREFERENCE = 22,
};

enum multi_path_component {
	MPR_RAW_TRAFFIC = 0,
	MPR_FLOW_LABEL = 2,
	MPR_HOP_LIMIT = 3,
	MPR_TRAFFIC_CLASS = 4,
	MPR_REVERSIBLE = 5,
	MPR_PATH_COUNT = 6,
	MPR_PKEY = 7,
	MPR_QOS_CLASS = 8,
	MPR_SL = 9,
	MPR_MTU_SELECTOR = 10,
	MPR_MTU = 11,
	MPR_RATE_SELECTOR = 12,
	MPR_RATE = 13,
	MPR_PACKET_LIFE_TIME_SELECTOR = 14,
	MPR_PACKET_LIFE_TIME = 15,
	MPR_SERVICE_ID_HIGH = 16,
	MPR_INDEPENDENCE = 17,
	MPR_SGID_COUNT = 19,
	MPR_DGID_COUNT = 20,
	MPR_SERVICE_ID_LOW = 21,
};

enum mc_member_record_component {
	MCR_MGID = 0,
	MCR_PORT_GID = 1,
	MCR_QKEY = 2,
	MCR_MLID = 3,
	MCR_MTU_SELECTOR = 4,
	MCR_MTU = 5,
	MCR_TRAFFIC_CLASS = 6,
	MCR_PKEY = 7,
	MCR_RATE_SELECTOR = 8,
	MCR_RATE = 9,
	MCR_PACKET_LIFE_TIME_SELECTOR = 10,
	MCR_PACKET_LIFE_TIME = 11,
	MCR_SL = 12,
	MCR_FLOW_LABEL = 13,
	MCR_HOP_LIMIT = 14,
	MCR_SCOPE = 15,
	MCR_JOIN_STATE = 16,
	MCR_PROXY_JOIN = 17,
};

enum inform_info_record_component { IIR_SUBSCRIBER_GID = 0, IIR_NUMBER = 1, IIR_QPN = 11 };

/* Bits of a component in its attribute; no bits: reserved, matches anything. */
struct sa_component {
	uint16_t bit_offset;
	uint16_t bit_count;
};

struct sa_components {
	const struct sa_component *rows;
	size_t count;
	size_t byte_count; /* of the attribute */
};

extern const struct sa_components node_record_components;
extern const struct sa_components port_info_record_components;
extern const struct sa_components sl_to_vl_record_components;
extern const struct sa_components switch_info_record_components;
extern const struct sa_components forwarding_record_components; /* linear and random */
extern const struct sa_components multicast_forwarding_record_components;
extern const struct sa_components vl_arbitration_record_components;
extern const struct sa_components sm_info_record_components;
extern const struct sa_components link_record_components;
extern const struct sa_components guid_info_record_components;
extern const struct sa_components pkey_table_record_components;
extern const struct sa_components service_record_components;
extern const struct sa_components service_association_record_components;
extern const struct sa_components path_record_components;
extern const struct sa_components mc_member_record_components;
extern const struct sa_components inform_info_record_components;

/* The bits that a record must have. */
struct sa_match {
	size_t word_count;
	uint64_t care[SA_DATA_BYTES / 8];
	uint64_t value[SA_DATA_BYTES / 8];
};

/* Bits of the mask beyond the attribute's components are ignored. */
void sa_match_make(const struct sa_components *components, uint64_t component_mask,
		   const uint8_t request[static SA_DATA_BYTES], struct sa_match *ret_match);

/* The record is padded with zeros to a multiple of 8 bytes, as in a table. */
bool sa_match_accepts(const struct sa_match *match, const uint8_t *record);

#endif
