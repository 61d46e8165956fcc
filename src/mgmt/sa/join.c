/* SPDX-License-Identifier: Apache-2.0 */
/* Joining, creating and leaving multicast groups: Set and Delete of MCMemberRecord (management
 * 4.7). */
#include <errno.h>
#include "mgmt/sa/members.h"
#include "mgmt/sa/notices.h"
#include "mgmt/sa/pruning.h"
#include "mgmt/sa/selectors.h"
#include "mgmt/subnet/multicast_tree.h"
#include "mgmt/subnet/subnet_path.h"
#include "wire/mtu.h"
#include "wire/rate.h"

enum {
	MGID_FLAGS_RESERVED = 0xe0,
	HOP_LIMIT_ROUTED = 64, /* of groups with a scope beyond the subnet, unless given */
};

static const uint64_t join_components =
	SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID) | SA_COMPONENT(MCR_JOIN_STATE);

static const uint64_t create_components = SA_COMPONENT(MCR_QKEY) | SA_COMPONENT(MCR_TRAFFIC_CLASS) |
					  SA_COMPONENT(MCR_PKEY) | SA_COMPONENT(MCR_SL) |
					  SA_COMPONENT(MCR_FLOW_LABEL);

/* A request to change a membership. */
struct join {
	struct sa *sa;
	const struct sa_request *request;
	struct member_request asked;
	struct gid mgid;
	const struct subnet_port *port; /* the member */
	bool is_proxy;			/* requested by another port */
};

static uint8_t port_mtu(const struct subnet_port *port)
{
	return port->number && port->info.neighbor_mtu ? port->info.neighbor_mtu
						       : port->info.mtu_cap;
}

/* The checks that joining and leaving share. Which port may act for another depends on the group.
 */
static uint16_t understand(struct sa *sa, const struct sa_request *request, struct join *ret_join)
{
	struct join join = {.sa = sa,
			    .request = request,
			    .asked.components = request->sa_header.component_mask};
	const struct mc_member_record *wanted = &join.asked.wanted;

	mc_member_record_decode(request->data, &join.asked.wanted);
	join.mgid = gid_from(wanted->mgid_high, wanted->mgid_low);
	if (!sa_request_has_all(request, join_components))
		return SA_STATUS_INSUFFICIENT_COMPONENTS;
	if (!wanted->join_state)
		return SA_STATUS_REQ_INVALID;
	if (!sa_prefix_is_local(sa, wanted->port_gid_prefix))
		return SA_STATUS_INVALID_GID;
	join.port = sa_port_by_guid(sa, wanted->port_gid_guid);
	if (!join.port)
		return SA_STATUS_REQ_INVALID;
	join.is_proxy = join.port != request->requester;
	*ret_join = join;
	return MAD_STATUS_OK;
}

/* A port may act for another one with which it shares a partition (management 4.7). */
static bool may_act_for_port(const struct join *join)
{
	const struct sa_request *request = join->request;

	return !join->is_proxy || request->is_trusted ||
	       (request->requester && sa_ports_share_partition(request->requester, join->port));
}

/* Only the port itself may change a membership with ProxyJoin 0 (management 4.7). */
static bool may_change(const struct join *join, const struct multicast_group *group,
		       const struct multicast_member *member)
{
	if (!join->is_proxy || join->request->is_trusted || !member)
		return true;
	return member->is_proxy && join->request->requester &&
	       sa_port_holds_pkey(join->request->requester, group->characteristics.pkey);
}

static bool port_can_take_part(const struct subnet_port *port,
			       const struct multicast_characteristics *characteristics)
{
	return port_mtu(port) >= characteristics->mtu &&
	       rate_compare(subnet_port_rate(port), characteristics->rate) >= 0 &&
	       sa_port_holds_pkey(port, characteristics->pkey);
}

/* Steps c and d of the join algorithm: switches with multicast tables, and links that carry the
 * group's MTU and rate, lead from the port to all members. group NULL: the port is the first
 * member. */
static uint16_t check_tree(const struct join *join, const struct multicast_group *group,
			   const struct multicast_characteristics *characteristics)
{
	const struct multicast_demand demand = {
		.mlid = group ? group->mlid : LID_MULTICAST_FIRST,
		.mtu = characteristics->mtu,
		.rate = characteristics->rate,
	};
	struct multicast_tree tree;
	bool is_possible;

	if (multicast_tree_init(&tree, join->sa->subnet) != 0)
		return SA_STATUS_NO_RESOURCES;
	is_possible =
		multicast_tree_can_include(&tree, join->sa->subnet, group, join->port, &demand);
	multicast_tree_release(&tree);
	return is_possible ? MAD_STATUS_OK : SA_STATUS_REQ_INVALID;
}

static bool mgid_is_acceptable(const struct gid *mgid)
{
	uint8_t scope = mgid->bytes[1] & 15;

	return gid_is_multicast(mgid) && !(mgid->bytes[1] & MGID_FLAGS_RESERVED) &&
	       !(mgid_signature(mgid) == MGID_SIGNATURE_SA && scope == MGID_SCOPE_LINK_LOCAL);
}

/* The broadcast group, whose values the partition's other IP groups must have. */
static struct gid broadcast_of(const struct gid *mgid)
{
	return multicast_broadcast_mgid(mgid->bytes[1] & 15, get_be16(mgid->bytes + 4));
}

/* Chooses MTU, rate and lifetime by their selectors from the port's values. A group whose values
 * can't be met is refused (o15-0.1.8, in part: SL, FlowLabel and TClass are not limited). */
static bool choose_values(const struct join *join, struct multicast_characteristics *values)
{
	const struct member_request *asked = &join->asked;
	const struct mc_member_record *wanted = &asked->wanted;

	if (member_request_has(asked, MCR_MTU_SELECTOR) && member_request_has(asked, MCR_MTU) &&
	    (!selector_mtu_is_valid(wanted->mtu_selector, wanted->mtu) ||
	     !selector_choose_mtu(wanted->mtu_selector, wanted->mtu, port_mtu(join->port),
				  &values->mtu)))
		return false;
	if (member_request_has(asked, MCR_RATE_SELECTOR) && member_request_has(asked, MCR_RATE) &&
	    (!selector_rate_is_valid(wanted->rate_selector, wanted->rate) ||
	     !selector_choose_rate(wanted->rate_selector, wanted->rate,
				   subnet_port_rate(join->port), &values->rate)))
		return false;
	if (!member_request_has(asked, MCR_PACKET_LIFE_TIME_SELECTOR) ||
	    !member_request_has(asked, MCR_PACKET_LIFE_TIME))
		return true;
	/* The lifetime of a group is whatever its members agree on. */
	if (wanted->packet_life_time_selector == SELECT_LESS &&
	    values->packet_life_time >= wanted->packet_life_time) {
		values->packet_life_time = (uint8_t)(wanted->packet_life_time - 1);
		return wanted->packet_life_time > 0;
	}
	if (wanted->packet_life_time_selector == SELECT_EXACTLY) {
		values->packet_life_time = wanted->packet_life_time;
		return true;
	}
	return selector_choose_life_time(wanted->packet_life_time_selector,
					 wanted->packet_life_time, values->packet_life_time,
					 &values->packet_life_time);
}

static struct multicast_characteristics start_characteristics(const struct join *join)
{
	const struct mc_member_record *wanted = &join->asked.wanted;
	uint8_t usual_scope =
		gid_is_multicast(&join->mgid) ? join->mgid.bytes[1] & 15 : MGID_SCOPE_LINK_LOCAL;
	bool has_scope = member_request_has(&join->asked, MCR_SCOPE) && wanted->scope;

	return (struct multicast_characteristics){
		.qkey = wanted->qkey,
		.pkey = wanted->pkey,
		.mtu = port_mtu(join->port),
		.rate = subnet_port_rate(join->port),
		.packet_life_time = SUBNET_PACKET_LIFE_TIME,
		.sl = wanted->sl,
		.traffic_class = wanted->traffic_class,
		.hop_limit = member_request_has(&join->asked, MCR_HOP_LIMIT) ? wanted->hop_limit
			     : usual_scope > MGID_SCOPE_LINK_LOCAL	     ? HOP_LIMIT_ROUTED
									     : 0,
		.scope = has_scope ? wanted->scope : usual_scope,
		.flow_label = wanted->flow_label,
	};
}

/* The broadcast group of the partition must exist, and other IP groups must agree with it
 * (management 4.7). */
static bool agrees_with_broadcast(const struct join *join, struct multicast_characteristics *values)
{
	struct gid broadcast_mgid = broadcast_of(&join->mgid);
	const struct multicast_group *broadcast;

	if (!mgid_is_ip(&join->mgid) || gid_equal(&broadcast_mgid, &join->mgid))
		return true;
	broadcast = multicast_groups_find(join->sa->groups, &broadcast_mgid);
	if (!broadcast || !member_request_accepts(&join->asked, &broadcast->characteristics))
		return false;
	values->mtu = broadcast->characteristics.mtu;
	values->rate = broadcast->characteristics.rate;
	values->packet_life_time = broadcast->characteristics.packet_life_time;
	return true;
}

static uint16_t check_new_group(const struct join *join, struct multicast_characteristics *values)
{
	static const struct gid no_gid;
	const struct sa_request *request = join->request;

	if (!(join->asked.wanted.join_state & JOIN_KEEPS_ALIVE))
		return SA_STATUS_REQ_INVALID;
	if (!sa_request_has_all(request, create_components))
		return SA_STATUS_INSUFFICIENT_COMPONENTS;
	if (!gid_equal(&join->mgid, &no_gid) && !mgid_is_acceptable(&join->mgid))
		return SA_STATUS_REQ_INVALID;
	*values = start_characteristics(join);
	if (!choose_values(join, values) || !agrees_with_broadcast(join, values) ||
	    !port_can_take_part(join->port, values))
		return SA_STATUS_REQ_INVALID;
	if (!request->is_trusted &&
	    (!request->requester || !sa_port_holds_pkey(request->requester, values->pkey)))
		return SA_STATUS_REQ_INVALID;
	return check_tree(join, NULL, values);
}

/* The groups of one port leave half of the MLIDs to others. */
static bool has_too_many_groups(const struct join *join)
{
	const struct multicast_groups *groups = join->sa->groups;
	uint32_t count = 0;

	list_for_each (link, &groups->groups)
		count += multicast_group_of(link)->creator_guid == join->port->guid;
	return count >= (groups->mlid_count_max + 1) / 2;
}

static uint16_t create_group(struct join *join, struct multicast_group **ret_group)
{
	struct sa *sa = join->sa;
	struct multicast_characteristics values;
	uint16_t status = check_new_group(join, &values);

	if (status != MAD_STATUS_OK)
		return status;
	if (!gid_is_multicast(&join->mgid))
		join->mgid = multicast_groups_choose_mgid(sa->groups, values.scope,
							  sa->subnet->gid_prefix);
	if (has_too_many_groups(join) ||
	    multicast_groups_create(sa->groups, &join->mgid, &values, ret_group) != 0)
		return SA_STATUS_NO_RESOURCES;
	(*ret_group)->creator_guid = join->port->guid;
	return MAD_STATUS_OK;
}

static uint16_t check_existing(const struct join *join, const struct multicast_group *group)
{
	const struct multicast_member *member = multicast_group_member(group, join->port->guid);

	if (!member_request_accepts(&join->asked, &group->characteristics) ||
	    !port_can_take_part(join->port, &group->characteristics) ||
	    !may_change(join, group, member))
		return SA_STATUS_REQ_INVALID;
	/* The tree already leads to a member. */
	return member ? MAD_STATUS_OK : check_tree(join, group, &group->characteristics);
}

static void answer(struct sa *sa, const struct mc_member_record *record)
{
	uint8_t *place = sa_records_place(&sa->records);

	if (!place)
		return;
	mc_member_record_encode(record, place);
	sa_records_keep(&sa->records);
}

static uint16_t join_group(struct join *join, struct multicast_group *group)
{
	const struct sa_owner *owner = &join->sa->options.owner;
	struct multicast_member *member = multicast_group_member(group, join->port->guid);
	uint8_t before = member ? member->join_state : 0;
	bool is_new = !member;

	if (multicast_group_join(group, join->port->guid, join->asked.wanted.join_state, &member) !=
	    0)
		return SA_STATUS_NO_RESOURCES;
	if (is_new || !join->is_proxy)
		member->is_proxy = join->is_proxy;
	pruning_confirm(member,
			join->request->requester ? join->request->requester->guid
						 : join->port->guid,
			join->asked.wanted.join_state);

	struct mc_member_record record = member_record_make(join->sa, group, member);

	answer(join->sa, &record);
	if (member->join_state != before && owner->multicast_changed)
		owner->multicast_changed(owner->context, group->mlid);
	return MAD_STATUS_OK;
}

uint16_t sa_set_member(struct sa *sa, const struct sa_request *request)
{
	struct multicast_group *group;
	struct join join;
	uint16_t status = understand(sa, request, &join);

	if (status != MAD_STATUS_OK)
		return status;
	if (!may_act_for_port(&join) ||
	    (sa_request_has(request, MCR_PKEY) && !(join.asked.wanted.pkey & 0x7fff)))
		return SA_STATUS_REQ_INVALID;
	group = multicast_groups_find(sa->groups, &join.mgid);
	if (group) {
		status = check_existing(&join, group);
		return status == MAD_STATUS_OK ? join_group(&join, group) : status;
	}
	status = create_group(&join, &group);
	if (status != MAD_STATUS_OK)
		return status;
	status = join_group(&join, group);
	if (status != MAD_STATUS_OK)
		multicast_groups_delete(sa->groups, group);
	else
		notices_multicast(sa, request->now, TRAP_MULTICAST_GROUP_CREATED, &join.mgid,
				  group->characteristics.pkey);
	return status;
}

uint16_t sa_delete_member(struct sa *sa, const struct sa_request *request)
{
	struct join join;
	uint16_t status = understand(sa, request, &join);

	if (status != MAD_STATUS_OK)
		return status;

	struct multicast_group *group = multicast_groups_find(sa->groups, &join.mgid);
	struct multicast_member *member =
		group ? multicast_group_member(group, join.port->guid) : NULL;
	uint8_t leaving = join.asked.wanted.join_state;

	if (!member || (leaving & ~member->join_state) || !may_act_for_port(&join) ||
	    !may_change(&join, group, member))
		return SA_STATUS_REQ_INVALID;

	struct mc_member_record record = member_record_make(sa, group, member);

	record.join_state = multicast_group_leave(group, member, leaving);
	answer(sa, &record);
	members_left(sa, request->now, group);
	return MAD_STATUS_OK;
}
