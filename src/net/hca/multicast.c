/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast groups of an adapter and the queue pairs attached to them (vol 1, chapters 10, 11;
 * transport 7.7). */
#include "net/hca/multicast.h"

#include <errno.h>
#include <stdlib.h>
#include "net/hca/hca.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum { IPV6_DESTINATION_OFFSET = 24 };

struct multicast_entry {
	struct list link; /* in a bucket */
	struct list members;
	uint32_t member_count;
	struct gid gid;
	uint16_t lid;
};

struct multicast_member {
	struct list group_link;
	struct list object_link; /* in object->multicast_memberships */
	struct multicast_entry *group;
	struct qp_object *object;
};

void multicast_init(struct multicast_table *groups)
{
	for (unsigned i = 0; i < MULTICAST_BUCKETS; i++)
		list_init(&groups->buckets[i]);
}

static struct list *bucket_of(struct multicast_table *groups, uint16_t lid)
{
	return &groups->buckets[lid % MULTICAST_BUCKETS];
}

static struct multicast_entry *find_group(struct multicast_table *groups, const struct gid *gid,
					  uint16_t lid)
{
	list_for_each (link, bucket_of(groups, lid)) {
		struct multicast_entry *group = container_of(link, struct multicast_entry, link);

		if (group->lid == lid && gid_equal(&group->gid, gid))
			return group;
	}
	return NULL;
}

static struct multicast_member *find_member(const struct qp_object *object,
					    const struct multicast_entry *group)
{
	list_for_each (link, &object->multicast_memberships) {
		struct multicast_member *member =
			container_of(link, struct multicast_member, object_link);

		if (member->group == group)
			return member;
	}
	return NULL;
}

static int make_group(struct hca *hca, const struct gid *gid, uint16_t lid,
		      struct multicast_entry **ret_group)
{
	if (hca->multicast.group_count == hca->limits.multicast_groups_max)
		return -ENOMEM;

	struct multicast_entry *group = calloc(1, sizeof(*group));

	if (!group)
		return -ENOMEM;
	group->gid = *gid;
	group->lid = lid;
	list_init(&group->members);
	list_append(bucket_of(&hca->multicast, lid), &group->link);
	hca->multicast.group_count++;
	*ret_group = group;
	return 0;
}

static void release_if_empty(struct hca *hca, struct multicast_entry *group)
{
	if (group->member_count)
		return;
	list_remove(&group->link);
	hca->multicast.group_count--;
	free(group);
}

static int join(struct qp_object *object, struct multicast_entry *group)
{
	struct hca *hca = object->hca;

	if (group->member_count == hca->limits.multicast_members_max ||
	    hca->multicast.member_count == hca->limits.multicast_total_members_max)
		return -ENOMEM;

	struct multicast_member *member = calloc(1, sizeof(*member));

	if (!member)
		return -ENOMEM;
	member->group = group;
	member->object = object;
	list_append(&group->members, &member->group_link);
	list_append(&object->multicast_memberships, &member->object_link);
	group->member_count++;
	hca->multicast.member_count++;
	return 0;
}

static void leave(struct hca *hca, struct multicast_member *member)
{
	struct multicast_entry *group = member->group;

	list_remove(&member->group_link);
	list_remove(&member->object_link);
	free(member);
	group->member_count--;
	hca->multicast.member_count--;
	release_if_empty(hca, group);
}

int multicast_attach(struct qp_object *object, const struct gid *gid, uint16_t lid)
{
	struct hca *hca = object->hca;
	int error = 0;

	bool may_attach = object->qp.type == QP_UD || qp_type_is_raw(object->qp.type);

	if (!may_attach || gid->bytes[0] != 0xff || !lid_is_multicast(lid))
		return -EINVAL;

	struct multicast_entry *group = find_group(&hca->multicast, gid, lid);

	if (group && find_member(object, group))
		return 0;
	if (!group)
		error = make_group(hca, gid, lid, &group);
	if (error)
		return error;
	error = join(object, group);
	if (error)
		release_if_empty(hca, group);
	return error;
}

int multicast_detach(struct qp_object *object, const struct gid *gid, uint16_t lid)
{
	struct multicast_entry *group = find_group(&object->hca->multicast, gid, lid);
	struct multicast_member *member = group ? find_member(object, group) : NULL;

	if (!member)
		return -EINVAL;
	leave(object->hca, member);
	return 0;
}

void multicast_detach_all(struct qp_object *object)
{
	struct list *memberships = &object->multicast_memberships;

	for (struct list *link = list_first(memberships); link; link = list_first(memberships))
		leave(object->hca, container_of(link, struct multicast_member, object_link));
}

static bool is_from(const struct qp *qp, const struct packet *packet)
{
	return packet->deth.source_qpn == qp->qpn &&
	       packet->lrh.slid >> qp->port->lmc == qp->port->lid >> qp->port->lmc;
}

bool multicast_receive(struct hca *hca, time_ns now, uint8_t port_number,
		       const struct packet *packet)
{
	/* Every multicast packet has a GRH; the LID alone does not identify a group. */
	struct multicast_entry *group =
		packet->has_grh ? find_group(&hca->multicast, &packet->grh.dgid, packet->lrh.dlid)
				: NULL;
	bool was_taken = false;

	if (!group)
		return false;
	/* Each queue pair checks P_Key and Q_Key of its copy, and drops only its own copy if it has
	 * no receive request (transport 7.7). */
	list_for_each (link, &group->members) {
		struct qp_object *object =
			container_of(link, struct multicast_member, group_link)->object;
		struct qp *qp = &object->qp;

		/* A raw queue pair is attached for raw packets, which hca_receive_raw delivers. */
		if (!qp->port || qp->port->number != port_number || qp_type_is_raw(qp->type))
			continue;
		if (object->blocks_own_multicast && is_from(qp, packet))
			continue;
		was_taken = true;
		qp_receive(qp, now, packet);
		hca_ready_add(hca, qp);
	}
	return was_taken;
}

/* A raw IPv6 packet has the group's GID and LID, a raw EtherType packet only the LID. */
bool multicast_takes_raw(const struct qp_object *object, const struct packet *packet)
{
	struct gid destination;

	if (packet->kind == PACKET_RAW_IPV6)
		payload_copy(&packet->payload, IPV6_DESTINATION_OFFSET, sizeof(destination.bytes),
			     destination.bytes);
	list_for_each (link, &object->multicast_memberships) {
		const struct multicast_entry *group =
			container_of(link, struct multicast_member, object_link)->group;

		if (group->lid == packet->lrh.dlid &&
		    (packet->kind != PACKET_RAW_IPV6 || gid_equal(&group->gid, &destination)))
			return true;
	}
	return false;
}
