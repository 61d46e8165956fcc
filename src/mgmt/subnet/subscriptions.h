/* SPDX-License-Identifier: Apache-2.0 */
/* Subscriptions to notices by InformInfo (management 4.8). */
#ifndef SOFTIB_MGMT_SUBNET_SUBSCRIPTIONS_H
#define SOFTIB_MGMT_SUBNET_SUBSCRIPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "mgmt/mad/mad_message.h"
#include "wire/notice.h"
#include "wire/sa_records.h"

enum { SUBSCRIPTIONS_MAX = 16384, SUBSCRIPTIONS_PER_PORT_MAX = 1024 };

struct subscription {
	struct list link;
	struct mad_address subscriber; /* address for reports */
	uint64_t port_guid;	       /* of the subscriber */
	uint16_t number; /* InformInfoRecord.Enum: unique among the subscriptions of this port */
	bool is_trusted; /* may get notices of security violations at any port */
	struct inform_info info;
	unsigned failure_count; /* consecutive reports without acknowledgement */
	void *reports;		/* pending reports; owned by the sender of reports */
};

struct subscriptions {
	struct list subscriptions;
	uint32_t count;
};

void subscriptions_init(struct subscriptions *subscriptions);
void subscriptions_release(struct subscriptions *subscriptions);

/* The subscription of this subscriber (port and QP) to the same notices. NULL: none. */
struct subscription *subscriptions_find(const struct subscriptions *subscriptions,
					uint64_t port_guid, uint32_t qpn,
					const struct inform_info *info);

/* -ENOSPC, -ENOMEM. */
MUST_USE int subscriptions_add(struct subscriptions *subscriptions,
			       const struct mad_address *subscriber, uint64_t port_guid,
			       const struct inform_info *info,
			       struct subscription **ret_subscription);
void subscriptions_remove(struct subscriptions *subscriptions, struct subscription *subscription);

bool inform_info_is_valid(const struct inform_info *info);

/* Whether the subscription covers the notice (management 4.8). */
bool inform_info_matches(const struct inform_info *info, const struct notice *notice,
			 const struct gid *issuer);

static inline struct subscription *subscription_of(struct list *link)
{
	return container_of(link, struct subscription, link);
}

#endif
