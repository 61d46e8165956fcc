/* SPDX-License-Identifier: Apache-2.0 */
/* Which datagram queue pairs get a copy of which multicast packets (vol 1, chapters 10, 11;
 * transport 7.7). */
#ifndef SOFTIB_NET_HCA_MULTICAST_H
#define SOFTIB_NET_HCA_MULTICAST_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "wire/gid.h"

struct hca;
struct packet;
struct qp_object;

enum { MULTICAST_BUCKETS = 64 };

struct multicast_table {
	struct list buckets[MULTICAST_BUCKETS]; /* struct multicast_entry, by LID */
	uint32_t group_count;
	uint32_t member_count; /* in all groups */
};

void multicast_init(struct multicast_table *groups);

/* Attaching twice has no further effect. -EINVAL: neither a datagram nor a raw queue pair, or not a
 * multicast address; -ENOMEM: a limit is reached. */
MUST_USE int multicast_attach(struct qp_object *object, const struct gid *gid, uint16_t lid);
MUST_USE int multicast_detach(struct qp_object *object, const struct gid *gid, uint16_t lid);
void multicast_detach_all(struct qp_object *object);

/* Delivers a copy to each attached queue pair of that port; false: there is none. */
bool multicast_receive(struct hca *hca, time_ns now, uint8_t port_number,
		       const struct packet *packet);
/* Whether a raw queue pair is attached to the group that a raw packet is for. */
bool multicast_takes_raw(const struct qp_object *object, const struct packet *packet);

#endif
