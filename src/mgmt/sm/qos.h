/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quality of service: which SL the paths of a partition or service get, and what every port does
 * with SLs and lanes (vol 1, chapters 7 and 14).
 */
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

/* One line: paths that match all it names get its SL. */
struct qos_rule {
	bool names_pkey, names_service;
	uint16_t pkey; /* 15 bits */
	uint64_t service_first, service_last;
	uint8_t sl;
};

struct qos {
	bool sets_lanes; /* a table or a limit of the text is to be written */
	uint8_t sl_to_vl[SL_COUNT];
	uint8_t high_limit;
	struct vl_arbitration_entry high[QOS_WEIGHTS_MAX], low[QOS_WEIGHTS_MAX];
	unsigned high_count, low_count;
	struct qos_rule rules[QOS_RULES_MAX]; /* the first that fits counts */
	unsigned rule_count;
	bool has_default_sl;
	uint8_t default_sl;
};

/* No rules, lanes as they are. */
void qos_init(struct qos *qos);

/*
 * A text of lines, # for comments:
 *
 *	qos-ulps			optional, as is end-qos-ulps: OpenSM's policy file has them
 *	default : SL			paths that no other line is about
 *	any, pkey P : SL
 *	any, service-id A[-B] : SL
 *	ipoib[, pkey P] : SL		without a key: the default partition
 *	sdp[, port-num A[-B]] : SL
 *	sl2vl V,V,...			16 lanes; without it SL n goes to lane n, as far as there are
 *lanes vlarb_high VL:W,VL:W,...	vlarb_low likewise high_limit N
 *
 * -EINVAL with the error filled in.
 */
MUST_USE int qos_parse(struct qos *qos, const char *text, size_t text_bytes,
		       struct policy_error *ret_error);

/* service_id 0: not asked for. Rules first, then the partition's own SL, then the default. */
uint8_t qos_path_sl(const struct qos *qos, const struct partitions *partitions, uint16_t pkey,
		    uint64_t service_id);

/* The lane for an SL on a port with this many data lanes (a code), and for a lane that the port may
 * not have: folded onto those it has. */
uint8_t qos_lane(const struct qos *qos, uint8_t sl, uint8_t operational_vls);
uint8_t qos_fold(uint8_t vl, uint8_t operational_vls);
/* How many data lanes a code names. */
unsigned qos_lane_count(uint8_t operational_vls);
/* Whether it has an arbitration table of its own. */
bool qos_has_weights(const struct qos *qos);

#endif
