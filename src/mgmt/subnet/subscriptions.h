/* SPDX-License-Identifier: Apache-2.0 */
/* Who wants to hear of which notices: subscriptions by InformInfo (vol 1, chapter 13). */
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
	struct mad_address subscriber; /* whom to send reports */
	uint64_t port_guid;	       /* of the subscriber */
	uint16_t number;	       /* InformInfoRecord.Enum: among those of this port */
	bool is_trusted;	       /* may hear of security violations anywhere */
	struct inform_info info;
	unsigned failure_count; /* reports in a row that were not acknowledged */
	void *reports;		/* what is on its way to it; of whoever sends reports */
};

struct subscriptions {
	struct list subscriptions;
	uint32_t count;
};

void subscriptions_init(struct subscriptions *subscriptions);
void subscriptions_release(struct subscriptions *subscriptions);

/* The one of this subscriber (port and QP) for the same notices, or NULL. */
struct subscription *subscriptions_find(const struct subscriptions *subscriptions,
					uint64_t port_guid, uint32_t qpn,
					const struct inform_info *info);

/* -ENOSPC, -ENOMEM. */
MUST_USE int subscriptions_add(struct subscriptions *subscriptions,
			       const struct mad_address *subscriber, uint64_t port_guid,
			       const struct inform_info *info,
			       struct subscription **ret_subscription);
void subscriptions_remove(struct subscriptions *subscriptions, struct subscription *subscription);

/* Whether the notice is one of those that were asked for. */
bool inform_info_matches(const struct inform_info *info, const struct notice *notice,
			 const struct gid *issuer);

static inline struct subscription *subscription_of(struct list *link)
{
	return container_of(link, struct subscription, link);
}

#endif
