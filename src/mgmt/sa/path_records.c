/* SPDX-License-Identifier: Apache-2.0 */
/* Paths between two ports that satisfy a request (management 4.6). */
#include "mgmt/sa/path_records.h"

#include "mgmt/subnet/subnet_path.h"
#include "mgmt/sa/selectors.h"

enum { HOP_LIMIT_OTHER_SUBNET = 255 };

uint16_t path_request_check(const struct path_request *asked)
{
	const struct path_record *wanted = &asked->wanted;

	if (path_request_has(asked, PR_SERVICE_ID_HIGH) !=
	    path_request_has(asked, PR_SERVICE_ID_LOW))
		return SA_STATUS_INSUFFICIENT_COMPONENTS;
	if (path_request_has(asked, PR_MTU) && path_request_has(asked, PR_MTU_SELECTOR) &&
	    !selector_mtu_is_valid(wanted->mtu_selector, wanted->mtu))
		return SA_STATUS_REQ_INVALID;
	if (path_request_has(asked, PR_RATE) && path_request_has(asked, PR_RATE_SELECTOR) &&
	    !selector_rate_is_valid(wanted->rate_selector, wanted->rate))
		return SA_STATUS_REQ_INVALID;
	return MAD_STATUS_OK;
}

/* GID and LID of one end must belong to the same port (management 4.6). */
static uint16_t find_port(const struct sa *sa, const struct path_request *asked,
			  unsigned gid_component, const struct gid *gid, unsigned lid_component,
			  uint16_t lid, const struct subnet_port **ret_port)
{
	const struct subnet_port *by_gid = NULL;
	const struct subnet_port *by_lid = NULL;

	if (path_request_has(asked, gid_component)) {
		by_gid = sa_port_by_gid(sa, gid_prefix(gid), gid_guid(gid));
		if (!by_gid)
			return SA_STATUS_INVALID_GID;
	}
	if (path_request_has(asked, lid_component)) {
		by_lid = subnet_port_by_lid(sa->subnet, lid);
		if (!by_lid)
			return SA_STATUS_NO_RECORDS;
	}
	if (by_gid && by_lid && by_gid != by_lid)
		return SA_STATUS_REQ_INVALID;
	*ret_port = by_gid ? by_gid : by_lid;
	return MAD_STATUS_OK;
}

static uint16_t find_source(const struct sa *sa, const struct path_request *asked,
			    const struct subnet_port **ret_port)
{
	struct gid gid = gid_from(asked->wanted.sgid_prefix, asked->wanted.sgid_guid);

	return find_port(sa, asked, PR_SGID, &gid, PR_SLID, asked->wanted.slid, ret_port);
}

static uint16_t find_group(const struct sa *sa, const struct path_request *asked,
			   const struct gid *dgid, struct path_target *ret_target)
{
	const struct multicast_group *group =
		path_request_has(asked, PR_DGID)
			? multicast_groups_find(sa->groups, dgid)
			: multicast_groups_by_mlid(sa->groups, asked->wanted.dlid);

	if (!group)
		return path_request_has(asked, PR_DGID) ? SA_STATUS_INVALID_GID
							: SA_STATUS_NO_RECORDS;
	if (path_request_has(asked, PR_DLID) && group->mlid != asked->wanted.dlid)
		return SA_STATUS_REQ_INVALID;
	*ret_target = (struct path_target){.group = group, .gid = group->mgid, .lid = group->mlid};
	return MAD_STATUS_OK;
}

static const struct subnet_port *first_router(const struct sa *sa)
{
	const struct subnet *subnet = sa->subnet;

	for (unsigned lid = LID_UNICAST_FIRST; lid <= subnet->lid_max; lid++) {
		const struct subnet_port *port = subnet->by_lid[lid];

		if (port && port->node->info.node_type == NODE_ROUTER)
			return port;
	}
	return NULL;
}

static const struct subnet_port *find_router(const struct sa *sa, uint64_t prefix)
{
	const struct sa_owner *owner = &sa->options.owner;

	if (!owner->router_to)
		return first_router(sa);

	uint64_t guid = owner->router_to(owner->context, prefix);

	return guid ? subnet_port_by_guid(sa->subnet, guid) : NULL;
}

struct path_target path_target_port(const struct sa *sa, const struct subnet_port *port)
{
	return (struct path_target){.port = port, .gid = sa_port_gid(sa, port)};
}

static uint16_t find_target(const struct sa *sa, const struct path_request *asked,
			    struct path_target *ret_target)
{
	const struct path_record *wanted = &asked->wanted;
	struct gid dgid = gid_from(wanted->dgid_prefix, wanted->dgid_guid);
	const struct subnet_port *port = NULL;
	bool has_gid = path_request_has(asked, PR_DGID);

	if ((has_gid && gid_is_multicast(&dgid)) ||
	    (!has_gid && path_request_has(asked, PR_DLID) && lid_is_multicast(wanted->dlid)))
		return find_group(sa, asked, &dgid, ret_target);
	if (has_gid && !sa_prefix_is_local(sa, wanted->dgid_prefix)) {
		port = find_router(sa, wanted->dgid_prefix);
		if (!port)
			return SA_STATUS_INVALID_GID;
		*ret_target = (struct path_target){
			.port = port, .gid = dgid, .hop_limit = HOP_LIMIT_OTHER_SUBNET};
		return MAD_STATUS_OK;
	}

	uint16_t status = find_port(sa, asked, PR_DGID, &dgid, PR_DLID, wanted->dlid, &port);

	*ret_target = port ? path_target_port(sa, port) : (struct path_target){0};
	/* It may be an alias GUID. */
	if (port && has_gid)
		ret_target->gid = gid_from(sa->subnet->gid_prefix, wanted->dgid_guid);
	if (path_request_has(asked, PR_DLID))
		ret_target->lid = wanted->dlid;
	return status;
}

uint16_t path_find_ends(const struct sa *sa, const struct path_request *asked,
			const struct subnet_port **ret_source, struct path_target *ret_target)
{
	uint16_t status = find_source(sa, asked, ret_source);

	return status == MAD_STATUS_OK ? find_target(sa, asked, ret_target) : status;
}

/* A given P_Key must match at both ends; otherwise the first shared one (management 4.6). */
static bool choose_pkey(const struct path_request *asked, const struct subnet_port *source,
			const struct subnet_port *destination, uint16_t *ret_pkey)
{
	if (!path_request_has(asked, PR_PKEY))
		return subnet_shared_pkeys(source, destination, 1, ret_pkey) > 0;
	if (!subnet_ports_share_pkey(source, destination, asked->wanted.pkey))
		return false;
	*ret_pkey = asked->wanted.pkey;
	return true;
}

/* The requested SL, else that of the policy. If routing uses several VLs, only the bits that it
 * leaves free may differ. */
static bool choose_sl(const struct sa *sa, const struct path_request *asked, uint8_t routing_sl,
		      uint16_t pkey, uint8_t *ret_sl)
{
	const struct sa_owner *owner = &sa->options.owner;

	if (path_request_has(asked, PR_SL))
		*ret_sl = asked->wanted.sl;
	else
		*ret_sl = owner->path_sl
				  ? owner->path_sl(owner->context, pkey, asked->wanted.service_id)
				  : routing_sl;
	if (sa->subnet->service_levels)
		*ret_sl = routing_sl | (*ret_sl & sa->subnet->policy_sl_bits);
	return !path_request_has(asked, PR_SL) || asked->wanted.sl == *ret_sl;
}

static bool choose_values(const struct path_request *asked, const struct subnet_path *path,
			  struct path_record *record)
{
	const struct path_record *wanted = &asked->wanted;
	uint8_t life_time = path->hop_count ? path->packet_life_time : 0;

	record->mtu = path->mtu;
	record->rate = path->rate;
	record->packet_life_time = life_time;
	if (path_request_has(asked, PR_MTU_SELECTOR) && path_request_has(asked, PR_MTU) &&
	    !selector_choose_mtu(wanted->mtu_selector, wanted->mtu, path->mtu, &record->mtu))
		return false;
	if (path_request_has(asked, PR_RATE_SELECTOR) && path_request_has(asked, PR_RATE) &&
	    !selector_choose_rate(wanted->rate_selector, wanted->rate, path->rate, &record->rate))
		return false;
	return !path_request_has(asked, PR_PACKET_LIFE_TIME_SELECTOR) ||
	       !path_request_has(asked, PR_PACKET_LIFE_TIME) ||
	       selector_choose_life_time(wanted->packet_life_time_selector,
					 wanted->packet_life_time, life_time,
					 &record->packet_life_time);
}

/* A reversible path has the lower values of both directions. */
static bool walk(const struct sa *sa, const struct path_request *asked,
		 const struct subnet_port *source, uint16_t slid,
		 const struct subnet_port *destination, uint16_t dlid, struct subnet_path *ret_path,
		 bool *ret_is_reversible)
{
	struct subnet_path back;

	if (!subnet_path_find(sa->subnet, source, dlid, ret_path))
		return false;
	*ret_is_reversible =
		subnet_path_find(sa->subnet, destination, slid, &back) && back.sl == ret_path->sl;
	if (path_request_has(asked, PR_REVERSIBLE) && asked->wanted.reversible) {
		if (!*ret_is_reversible)
			return false;
		selector_take_lower(back.mtu, back.rate, &ret_path->mtu, &ret_path->rate);
	} else if (*ret_is_reversible &&
		   (back.mtu != ret_path->mtu || back.rate != ret_path->rate)) {
		*ret_is_reversible = false;
	}
	return true;
}

/* The fields that the response copies from the request or that do not depend on the path. */
static struct path_record start_record(const struct sa *sa, const struct path_request *asked,
				       const struct subnet_port *source, const struct gid *dgid)
{
	const struct path_record *wanted = &asked->wanted;
	bool has_service = path_request_has(asked, PR_SERVICE_ID_HIGH);

	return (struct path_record){
		.service_id = has_service ? wanted->service_id : 0,
		.dgid_prefix = gid_prefix(dgid),
		.dgid_guid = gid_guid(dgid),
		.sgid_prefix = sa->subnet->gid_prefix,
		.sgid_guid = path_request_has(asked, PR_SGID) ? wanted->sgid_guid : source->guid,
		.flow_label = path_request_has(asked, PR_FLOW_LABEL) ? wanted->flow_label : 0,
		.traffic_class =
			path_request_has(asked, PR_TRAFFIC_CLASS) ? wanted->traffic_class : 0,
		.qos_class = path_request_has(asked, PR_QOS_CLASS) ? wanted->qos_class : 0,
		.mtu_selector = SELECT_EXACTLY,
		.rate_selector = SELECT_EXACTLY,
		.packet_life_time_selector = SELECT_EXACTLY,
	};
}

static bool make_unicast(const struct sa *sa, const struct path_request *asked,
			 const struct subnet_port *source, uint16_t slid,
			 const struct path_target *target, uint16_t dlid,
			 struct path_record *ret_record)
{
	struct path_record record = start_record(sa, asked, source, &target->gid);
	struct subnet_path path;
	bool is_reversible;

	record.dlid = dlid;
	record.slid = slid;
	record.hop_limit = target->hop_limit;
	if (!target->hop_limit && path_request_has(asked, PR_HOP_LIMIT))
		record.hop_limit = asked->wanted.hop_limit;
	if (!choose_pkey(asked, source, target->port, &record.pkey) ||
	    !walk(sa, asked, source, slid, target->port, dlid, &path, &is_reversible) ||
	    !choose_sl(sa, asked, path.sl, record.pkey, &record.sl) ||
	    !choose_values(asked, &path, &record))
		return false;
	record.reversible = is_reversible;
	*ret_record = record;
	return true;
}

/* A group's values are fixed: they satisfy the request or not. */
static bool make_multicast(const struct sa *sa, const struct path_request *asked,
			   const struct subnet_port *source, uint16_t slid,
			   const struct multicast_group *group, struct path_record *ret_record)
{
	const struct multicast_characteristics *fixed = &group->characteristics;
	const struct path_record *wanted = &asked->wanted;
	struct path_record record = start_record(sa, asked, source, &group->mgid);

	if (!sa_port_holds_pkey(source, fixed->pkey) ||
	    (path_request_has(asked, PR_PKEY) && (wanted->pkey ^ fixed->pkey) & 0x7fff) ||
	    (path_request_has(asked, PR_SL) && wanted->sl != fixed->sl) ||
	    (path_request_has(asked, PR_MTU_SELECTOR) && path_request_has(asked, PR_MTU) &&
	     !selector_accepts_mtu(wanted->mtu_selector, wanted->mtu, fixed->mtu)) ||
	    (path_request_has(asked, PR_RATE_SELECTOR) && path_request_has(asked, PR_RATE) &&
	     !selector_accepts_rate(wanted->rate_selector, wanted->rate, fixed->rate)) ||
	    (path_request_has(asked, PR_PACKET_LIFE_TIME_SELECTOR) &&
	     path_request_has(asked, PR_PACKET_LIFE_TIME) &&
	     !selector_accepts_life_time(wanted->packet_life_time_selector,
					 wanted->packet_life_time, fixed->packet_life_time)))
		return false;
	record.dlid = group->mlid;
	record.slid = slid;
	record.flow_label = fixed->flow_label;
	record.hop_limit = fixed->hop_limit;
	record.traffic_class = fixed->traffic_class;
	record.reversible = path_request_has(asked, PR_REVERSIBLE) && wanted->reversible;
	record.pkey = fixed->pkey;
	record.sl = fixed->sl;
	record.mtu = fixed->mtu;
	record.rate = fixed->rate;
	record.packet_life_time = fixed->packet_life_time;
	*ret_record = record;
	return true;
}

static bool keep(struct sa *sa, const struct path_record *record)
{
	uint8_t *place =
		sa_records_wants_more(&sa->records) ? sa_records_place(&sa->records) : NULL;

	if (!place)
		return false;
	path_record_encode(record, place);
	sa_records_keep(&sa->records);
	return true;
}

static unsigned paths_wanted(const struct path_request *asked)
{
	if (!path_request_has(asked, PR_PATH_COUNT) || !asked->wanted.path_count)
		return UINT32_MAX;
	return asked->wanted.path_count;
}

/* Pairs the LIDs of both ports so that the first paths use different LIDs: first with first, second
 * with second, then crosswise. */
static unsigned add_unicast(struct sa *sa, const struct path_request *asked,
			    const struct subnet_port *source, const struct path_target *target)
{
	bool has_slid = path_request_has(asked, PR_SLID);
	unsigned source_count = has_slid ? 1 : 1u << source->lmc;
	unsigned target_count = target->lid ? 1 : 1u << target->port->lmc;
	unsigned wanted_count = paths_wanted(asked);
	unsigned added_count = 0;

	for (unsigned turn = 0; turn < source_count * target_count; turn++) {
		unsigned offset = turn % target_count;
		unsigned slid =
			has_slid ? asked->wanted.slid
				 : source->lid + (offset + turn / target_count) % source_count;
		unsigned dlid = target->lid ? target->lid : target->port->lid + offset;
		struct path_record record;

		if (added_count >= wanted_count)
			break;
		if (!make_unicast(sa, asked, source, (uint16_t)slid, target, (uint16_t)dlid,
				  &record))
			continue;
		if (!keep(sa, &record))
			break;
		added_count++;
	}
	return added_count;
}

unsigned path_add(struct sa *sa, const struct sa_request *request, const struct path_request *asked,
		  const struct subnet_port *source, const struct path_target *target)
{
	struct path_record record;

	/* There are no raw packets, and all paths have equal preference. */
	if (path_request_has(asked, PR_RAW_TRAFFIC) && asked->wanted.raw_traffic)
		return 0;
	if (path_request_has(asked, PR_PREFERENCE) && asked->wanted.preference)
		return 0;
	if (!sa_request_sees(sa, request, source))
		return 0;
	if (!target->group)
		return sa_request_sees(sa, request, target->port)
			       ? add_unicast(sa, asked, source, target)
			       : 0;

	uint16_t slid = path_request_has(asked, PR_SLID) ? asked->wanted.slid : source->lid;

	return make_multicast(sa, asked, source, slid, target->group, &record) && keep(sa, &record);
}
