/* SPDX-License-Identifier: Apache-2.0 */
/* Quality of service: the SL of paths by partition or service, and the SLtoVL and arbitration
 * tables of every port (management 3.6, 9.4). */
#ifndef SOFTIB_MGMT_SM_QOS_H
#define SOFTIB_MGMT_SM_QOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/subnet/policy_text.h"
#include "wire/smp_tables.h"

struct partitions;

enum { QOS_RULES_MAX = 64, QOS_WEIGHTS_MAX = 16 };

/* One line: paths that match all its conditions get its SL. */
struct qos_rule {
	bool names_pkey, names_service;
	uint16_t pkey; /* 15 bits */
	uint64_t service_first, service_last;
	uint8_t sl;
};

struct qos {
	bool sets_lanes; /* the text has a table or a limit to write */
	uint8_t sl_to_vl[SL_COUNT];
	uint8_t high_limit;
	struct vl_arbitration_entry high[QOS_WEIGHTS_MAX], low[QOS_WEIGHTS_MAX];
	unsigned high_count, low_count;
	struct qos_rule rules[QOS_RULES_MAX]; /* the first match counts */
	unsigned rule_count;
	bool has_default_sl;
	uint8_t default_sl;
};

/* No rules, and the tables stay as they are. */
void qos_init(struct qos *qos);

/*
 * Reads lines of text, # for comments:
 *
 *	qos-ulps                    optional, as end-qos-ulps; OpenSM's policy file has them
 *	default : SL                paths that no other line matches
 *	any, pkey P : SL
 *	any, service-id A[-B] : SL
 *	ipoib[, pkey P] : SL        without a key: the default partition
 *	sdp[, port-num A[-B]] : SL
 *	sl2vl V,V,...               16 VLs; without it SL n uses VL n, folded to the VLs there are
 *	vlarb_high VL:W,VL:W,...
 *	vlarb_low VL:W,VL:W,...
 *	high_limit N
 *
 * -EINVAL with the error filled in.
 */
MUST_USE int qos_parse(struct qos *qos, const char *text, size_t text_bytes,
		       struct policy_error *ret_error);

/* service_id 0: not given. Rules come first, then the partition's SL, then the default. */
uint8_t qos_path_sl(const struct qos *qos, const struct partitions *partitions, uint16_t pkey,
		    uint64_t service_id);

/* The VL for an SL on a port with this VLCap or OperationalVLs code. qos_fold() maps a VL that the
 * port does not have to one it has (management 3.6). */
uint8_t qos_lane(const struct qos *qos, uint8_t sl, uint8_t operational_vls);
uint8_t qos_fold(uint8_t vl, uint8_t operational_vls);
/* The number of data VLs of a code. */
unsigned qos_lane_count(uint8_t operational_vls);
/* Whether the policy has an arbitration table. */
bool qos_has_weights(const struct qos *qos);

#endif
