/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast groups that programs join through connection management. The SA knows ports, not
 * programs: a port joins with its first member and leaves with its last (vol 1, chapter 15; group
 * addresses as in Linux's rdma_cm). */
#include "daemon/cm/cm_multicast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/cm/cm_address.h"
#include "daemon/cm/cm_events.h"
#include "daemon/cm/cm_port.h"
#include "daemon/core/limits.h"
#include "wire/ipoib.h"
#include "wire/pkey.h"

enum { STATE_FULL = 1, STATE_SEND_ONLY_FULL = 8 };

struct cm_membership {
	struct list id_link; /* id->groups */
	struct list link;    /* group->members */
	struct cm_id *id;
	struct cm_group *group;
	uint32_t token;
	uint8_t join_state;
	bool is_told;
};

struct cm_group {
	struct list link; /* port->groups */
	struct cm_port *port;
	struct account *account; /* of the process that joined first */
	struct gid mgid;
	uint32_t qkey;
	struct list members;
	uint8_t joined_states; /* the port's join states at the SA */
	uint8_t asked_states;  /* join states of the outstanding request; 0: none */
	struct mc_member_record record;
};

static uint8_t wanted_states(const struct cm_group *group)
{
	uint8_t states = 0;

	list_for_each (link, &group->members)
		states |= container_of(link, struct cm_membership, link)->join_state;
	return states;
}

/* SL, traffic class and flow label are those of the IPoIB broadcast group, as with Linux
 * (management 8.2). */
static void fill_request(const struct cm_group *group, uint8_t states,
			 struct mc_member_record *ret_wanted)
{
	const struct mc_member_record *broadcast = &group->port->ip.partitions[0].group;
	struct gid own = cm_port_gid(group->port);

	*ret_wanted = (struct mc_member_record){
		.mgid_high = gid_prefix(&group->mgid),
		.mgid_low = gid_guid(&group->mgid),
		.port_gid_prefix = gid_prefix(&own),
		.port_gid_guid = gid_guid(&own),
		.qkey = group->qkey,
		.traffic_class = broadcast->traffic_class,
		.pkey = cm_port_pkey(group->port),
		.sl = broadcast->sl,
		.flow_label = broadcast->flow_label,
		.join_state = states,
	};
}

static int ask_for(struct cm_group *group, uint8_t states)
{
	const uint64_t components = SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID) |
				    SA_COMPONENT(MCR_PKEY) | SA_COMPONENT(MCR_JOIN_STATE) |
				    SA_COMPONENT(MCR_QKEY) | SA_COMPONENT(MCR_SL) |
				    SA_COMPONENT(MCR_FLOW_LABEL) | SA_COMPONENT(MCR_TRAFFIC_CLASS);
	const struct mad_purpose purpose = {group, CM_SA_REQUEST_GROUP};
	struct mc_member_record wanted;

	fill_request(group, states, &wanted);

	int error = sa_client_join(cm_port_sa(group->port), &wanted, components, purpose);

	if (!error)
		group->asked_states = states;
	cm_host_wake(group->port->host);
	return error;
}

/* Leaves without waiting for the answer. */
static void give_up(struct cm_group *group, uint8_t states)
{
	const struct mad_purpose purpose = {NULL, CM_SA_REQUEST_NONE};
	struct mc_member_record membership;

	if (!states)
		return;
	fill_request(group, states, &membership);
	group->joined_states &= (uint8_t)~states;
	/* If the request can't be sent: the SA removes a port that has gone by itself. */
	if (sa_client_leave(cm_port_sa(group->port), &membership, purpose) == 0)
		cm_host_wake(group->port->host);
}

static void group_free(struct cm_group *group)
{
	sa_client_cancel(&group->port->sa, group);
	list_remove(&group->link);
	account_give(group->account, LIMIT_MULTICAST, 1);
	account_release(group->account);
	free(group);
}

static struct cm_group *find_group(struct cm_port *port, const struct gid *mgid)
{
	list_for_each (link, &port->groups) {
		struct cm_group *group = container_of(link, struct cm_group, link);

		if (gid_equal(&group->mgid, mgid))
			return group;
	}
	return NULL;
}

/* NULL: no memory, or the process has too many. A group may outlive its members until the SA has
 * answered. */
static struct cm_group *make_group(const struct cm_id *id, const struct gid *mgid)
{
	struct account *account = id->program->account;
	struct cm_port *port = id->port;
	struct cm_group *group;

	if (account_take(account, LIMIT_MULTICAST, 1) != 0)
		return NULL;
	group = calloc(1, sizeof(*group));
	if (!group) {
		account_give(account, LIMIT_MULTICAST, 1);
		return NULL;
	}
	group->account = account_share(account);
	group->port = port;
	group->mgid = *mgid;
	group->qkey = id->route.qkey;
	list_init(&group->members);
	list_append(&port->groups, &group->link);
	return group;
}

static void tell_joined(struct cm_membership *membership)
{
	const struct mc_member_record *record = &membership->group->record;
	struct cm_id *id = membership->id;
	struct cm_event_message event;

	membership->is_told = true;
	cm_id_event_init(id, CM_PROGRAM_MULTICAST_JOIN, 0, &event);
	event.token = membership->token;
	event.parameters.qpn = QPN_MULTICAST;
	event.parameters.qkey = record->qkey;
	event.parameters.qp_type = CM_QP_UD;
	event.terms.port_number = id->route.port_number;
	event.terms.vector = (struct cm_vector){
		.dlid = record->mlid,
		.sl = record->sl,
		.rate = record->rate,
		.has_grh = 1,
		.hop_limit = record->hop_limit,
		.traffic_class = record->traffic_class,
		.flow_label = record->flow_label,
		.dgid = gid_from(record->mgid_high, record->mgid_low),
	};
	cm_id_write(id, &event);
}

static void membership_free(struct cm_membership *membership)
{
	list_remove(&membership->link);
	list_remove(&membership->id_link);
	account_give(membership->id->program->account, LIMIT_MULTICAST, 1);
	free(membership);
}

static void tell_refused(struct cm_membership *membership, int error)
{
	struct cm_event_message event;

	cm_id_event_init(membership->id, CM_PROGRAM_MULTICAST_ERROR, error, &event);
	event.token = membership->token;
	cm_id_write(membership->id, &event);
	membership_free(membership);
}

/* Asks the SA for join states that members want and the port does not have, and gives up those that
 * no member wants. */
static void group_settle(struct cm_group *group)
{
	uint8_t wanted = wanted_states(group);

	if (group->asked_states)
		return;
	give_up(group, group->joined_states & (uint8_t)~wanted);
	if (!wanted) {
		group_free(group);
		return;
	}
	if ((wanted & ~group->joined_states) && ask_for(group, wanted) == 0)
		return;
	list_for_each_safe (link, &group->members) {
		struct cm_membership *membership = container_of(link, struct cm_membership, link);

		if (!membership->is_told && (membership->join_state & group->joined_states))
			tell_joined(membership);
	}
}

void cm_group_answered(struct cm_group *group, const struct sa_client_result *result)
{
	uint8_t asked = group->asked_states;

	group->asked_states = 0;
	if (result->outcome == SA_CLIENT_ANSWERED) {
		group->joined_states |= asked;
		mc_member_record_decode(result->data, &group->record);
		/* The SA chose the address. */
		group->mgid = gid_from(group->record.mgid_high, group->record.mgid_low);
	} else {
		int error = result->outcome == SA_CLIENT_REFUSED ? -EINVAL : -ETIMEDOUT;

		list_for_each_safe (link, &group->members) {
			struct cm_membership *membership =
				container_of(link, struct cm_membership, link);

			if (!(membership->join_state & group->joined_states))
				tell_refused(membership, error);
		}
	}
	group_settle(group);
}

struct gid cm_group_address(const struct cm_id *id, const struct cm_address *address)
{
	struct ip_address ip = cm_address_ip(address);
	struct gid gid;

	/* A GID is used as it is, also if it comes as an IPv6 address; zero: the SA chooses. */
	if (address->family == CM_ADDRESS_IB || cm_address_is_any(address) ||
	    (address->family == CM_ADDRESS_IPV6 && address->bytes[0] == 0xff &&
	     address->bytes[1] == 0x10 && address->bytes[2] == 0xa0 && address->bytes[3] == 0x1b)) {
		memcpy(gid.bytes, address->bytes, sizeof(gid.bytes));
		return gid;
	}
	return ipoib_multicast_gid(cm_address_ip_version(address), &ip, cm_port_pkey(id->port),
				   id->port_space == CM_PORT_SPACE_UDP ? IPOIB_SIGNATURE_UDP
								       : IPOIB_SIGNATURE_IP);
}

int cm_group_join(struct cm_id *id, const struct cm_address *address, enum cm_join_kind kind,
		  uint32_t token)
{
	if (!id->port || id->state == CM_ID_IDLE)
		return -EINVAL;

	struct gid mgid = cm_group_address(id, address);
	struct account *account = id->program->account;
	int error = account_take(account, LIMIT_MULTICAST, 1);
	struct cm_membership *membership = error ? NULL : calloc(1, sizeof(*membership));
	bool is_chosen_by_sa = gid_prefix(&mgid) == 0 && gid_guid(&mgid) == 0;
	struct cm_group *group = is_chosen_by_sa ? NULL : find_group(id->port, &mgid);

	if (!group && membership)
		group = make_group(id, &mgid);
	if (!membership || !group) {
		free(membership);
		if (!error)
			account_give(account, LIMIT_MULTICAST, 1);
		return -ENOMEM;
	}
	membership->id = id;
	membership->group = group;
	membership->token = token;
	membership->join_state = kind == CM_JOIN_FULL ? STATE_FULL : STATE_SEND_ONLY_FULL;
	list_append(&group->members, &membership->link);
	list_append(&id->groups, &membership->id_link);
	group_settle(group);
	return 0;
}

static void leave(struct cm_membership *membership)
{
	struct cm_group *group = membership->group;

	membership_free(membership);
	group_settle(group);
}

int cm_group_leave(struct cm_id *id, uint32_t token)
{
	list_for_each (link, &id->groups) {
		struct cm_membership *membership =
			container_of(link, struct cm_membership, id_link);

		if (membership->token == token) {
			leave(membership);
			return 0;
		}
	}
	return -EADDRNOTAVAIL;
}

void cm_groups_leave_all(struct cm_id *id)
{
	for (struct list *link; (link = list_first(&id->groups));)
		leave(container_of(link, struct cm_membership, id_link));
}

void cm_groups_rejoin(struct cm_port *port)
{
	list_for_each_safe (link, &port->groups) {
		struct cm_group *group = container_of(link, struct cm_group, link);

		group->joined_states = 0;
		group_settle(group);
	}
}

void cm_groups_forget(struct cm_port *port)
{
	for (struct list *link; (link = list_first(&port->groups));)
		group_free(container_of(link, struct cm_group, link));
}
