/* SPDX-License-Identifier: Apache-2.0 */
/* Get and GetTable of MCMemberRecords (management 4.7). */
#include "mgmt/sa/members.h"

#include "mgmt/sa/notices.h"
#include "mgmt/sa/sa_query.h"
#include "mgmt/sa/selectors.h"

static bool has_pair(const struct member_request *asked, unsigned selector, unsigned value)
{
	return member_request_has(asked, selector) && member_request_has(asked, value);
}

static bool accepts_selected(const struct member_request *asked,
			     const struct multicast_characteristics *group)
{
	const struct mc_member_record *wanted = &asked->wanted;

	if (has_pair(asked, MCR_MTU_SELECTOR, MCR_MTU) &&
	    !selector_accepts_mtu(wanted->mtu_selector, wanted->mtu, group->mtu))
		return false;
	if (has_pair(asked, MCR_RATE_SELECTOR, MCR_RATE) &&
	    !selector_accepts_rate(wanted->rate_selector, wanted->rate, group->rate))
		return false;
	return !has_pair(asked, MCR_PACKET_LIFE_TIME_SELECTOR, MCR_PACKET_LIFE_TIME) ||
	       selector_accepts_life_time(wanted->packet_life_time_selector,
					  wanted->packet_life_time, group->packet_life_time);
}

bool member_request_accepts(const struct member_request *asked,
			    const struct multicast_characteristics *group)
{
	const struct mc_member_record *wanted = &asked->wanted;

	if ((member_request_has(asked, MCR_QKEY) && wanted->qkey != group->qkey) ||
	    (member_request_has(asked, MCR_PKEY) && ((wanted->pkey ^ group->pkey) & 0x7fff)) ||
	    (member_request_has(asked, MCR_TRAFFIC_CLASS) &&
	     wanted->traffic_class != group->traffic_class) ||
	    (member_request_has(asked, MCR_SL) && wanted->sl != group->sl) ||
	    (member_request_has(asked, MCR_FLOW_LABEL) &&
	     wanted->flow_label != group->flow_label) ||
	    (member_request_has(asked, MCR_HOP_LIMIT) && wanted->hop_limit != group->hop_limit) ||
	    (member_request_has(asked, MCR_SCOPE) && wanted->scope != group->scope))
		return false;
	return accepts_selected(asked, group);
}

struct mc_member_record member_record_make(const struct sa *sa, const struct multicast_group *group,
					   const struct multicast_member *member)
{
	const struct multicast_characteristics *characteristics = &group->characteristics;

	return (struct mc_member_record){
		.mgid_high = gid_prefix(&group->mgid),
		.mgid_low = gid_guid(&group->mgid),
		.port_gid_prefix = member ? sa->subnet->gid_prefix : 0,
		.port_gid_guid = member ? member->port_guid : 0,
		.qkey = characteristics->qkey,
		.mlid = group->mlid,
		.mtu_selector = SELECT_EXACTLY,
		.mtu = characteristics->mtu,
		.traffic_class = characteristics->traffic_class,
		.pkey = characteristics->pkey,
		.rate_selector = SELECT_EXACTLY,
		.rate = characteristics->rate,
		.packet_life_time_selector = SELECT_EXACTLY,
		.packet_life_time = characteristics->packet_life_time,
		.sl = characteristics->sl,
		.flow_label = characteristics->flow_label,
		.hop_limit = characteristics->hop_limit,
		.scope = characteristics->scope,
		.join_state = member ? member->join_state : 0,
		.proxy_join = member ? member->is_proxy : 0,
	};
}

/* These components are compared by value. member_request_accepts() handles the selectors and their
 * values. */
static const uint64_t compared_as_sent = SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID) |
					 SA_COMPONENT(MCR_MLID) | SA_COMPONENT(MCR_JOIN_STATE) |
					 SA_COMPONENT(MCR_PROXY_JOIN);

static void add_record(struct sa_query *query, const struct multicast_group *group,
		       const struct multicast_member *member)
{
	struct mc_member_record record = member_record_make(query->sa, group, member);
	uint8_t *place = sa_query_place(query);

	if (!place)
		return;
	mc_member_record_encode(&record, place);
	sa_query_keep_if_wanted(query, place);
}

/* A trusted request sees every member. Other requests see the group, and their own membership if
 * they ask for it (management 4.5). */
static void add_group(struct sa_query *query, const struct member_request *asked,
		      const struct multicast_group *group)
{
	const struct sa_request *request = query->request;
	const struct subnet_port *requester = request->requester;

	if (!member_request_accepts(asked, &group->characteristics))
		return;
	if (request->is_trusted) {
		list_for_each (link, &group->members)
			add_record(query, group, multicast_member_of(link));
		/* A group of the configuration may have no members. */
		if (list_is_empty(&group->members))
			add_record(query, group, NULL);
		return;
	}
	if (!requester || !sa_port_holds_pkey(requester, group->characteristics.pkey))
		return;
	if (!member_request_has(asked, MCR_PORT_GID)) {
		add_record(query, group, NULL);
		return;
	}

	const struct multicast_member *own = multicast_group_member(group, requester->guid);

	if (own)
		add_record(query, group, own);
}

uint16_t sa_find_members(struct sa *sa, const struct sa_request *request)
{
	struct member_request asked = {.components = request->sa_header.component_mask};
	struct sa_query query = {.sa = sa, .request = request};

	mc_member_record_decode(request->data, &asked.wanted);
	sa_match_make(&mc_member_record_components, asked.components & compared_as_sent,
		      request->data, &query.match);
	if (member_request_has(&asked, MCR_MGID)) {
		struct gid mgid = gid_from(asked.wanted.mgid_high, asked.wanted.mgid_low);
		const struct multicast_group *group = multicast_groups_find(sa->groups, &mgid);

		if (group)
			add_group(&query, &asked, group);
		return MAD_STATUS_OK;
	}
	list_for_each (link, &sa->groups->groups) {
		if (sa_query_wants_more(&query))
			add_group(&query, &asked, multicast_group_of(link));
	}
	return MAD_STATUS_OK;
}

void members_left(struct sa *sa, time_ns now, struct multicast_group *group)
{
	const struct sa_owner *owner = &sa->options.owner;
	uint16_t mlid = group->mlid;

	if (!multicast_group_is_alive(group)) {
		struct gid mgid = group->mgid;
		uint16_t pkey = group->characteristics.pkey;

		multicast_groups_delete(sa->groups, group);
		notices_multicast(sa, now, TRAP_MULTICAST_GROUP_DELETED, &mgid, pkey);
	}
	if (owner->multicast_changed)
		owner->multicast_changed(owner->context, mlid);
}

void members_drop_port(struct sa *sa, time_ns now, uint64_t port_guid)
{
	list_for_each_safe (link, &sa->groups->groups) {
		struct multicast_group *group = multicast_group_of(link);
		struct multicast_member *member = multicast_group_member(group, port_guid);

		if (!member)
			continue;
		multicast_group_leave(group, member, JOIN_ALL);
		members_left(sa, now, group);
	}
}
