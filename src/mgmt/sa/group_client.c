/* SPDX-License-Identifier: Apache-2.0 */
/* A port that follows the multicast groups of its subnet (management 4.7, 4.8). */
#include "mgmt/sa/group_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/subnet/multicast_groups.h"
#include "wire/notice.h"

/* A lost report is made up for after REFRESH_TIME. Many new groups at once do not cause a read of
 * the table for each of them. */
#define READ_PAUSE   MILLISECONDS(10)
#define RETRY_PAUSE  SECONDS(1)
#define REFRESH_TIME SECONDS(30)

/* Offset of the GID in the details of traps 64 to 67 (management 5.2). */
enum { DETAILS_GID_OFFSET = 6, REQUESTS_MAX = 16, RESP_TIME_VALUE = 18 };

/* The kind of a request: mad_purpose.detail. The subject is the membership. */
enum {
	ASKED_TO_SUBSCRIBE,
	ASKED_FOR_TABLE = ASKED_TO_SUBSCRIBE + GROUP_CLIENT_TRAPS,
	ASKED_MEMBERSHIP
};

static const enum trap_number traps[GROUP_CLIENT_TRAPS] = {TRAP_MULTICAST_GROUP_CREATED,
							   TRAP_MULTICAST_GROUP_DELETED};

static struct gid record_mgid(const struct mc_member_record *record)
{
	return gid_from(record->mgid_high, record->mgid_low);
}

int group_client_init(struct group_client *client, uint32_t agent_number)
{
	const struct sa_client_options options = {.agent_number = agent_number,
						  .requests_max = REQUESTS_MAX};

	*client = (struct group_client){.refresh_at = TIME_NEVER};
	group_memberships_init(&client->memberships);
	return sa_client_init(&client->sa, &options);
}

void group_client_release(struct group_client *client)
{
	sa_client_release(&client->sa);
	group_memberships_release(&client->memberships);
	free(client->groups);
}

static void forget_requests(struct group_client *client)
{
	sa_client_cancel(&client->sa, client);
	list_for_each (link, &client->memberships.all) {
		group_membership_doubt_request(group_membership_of(link));
		sa_client_cancel(&client->sa, group_membership_of(link));
	}
	client->asked_count = 0;
}

void group_client_restart(struct group_client *client)
{
	forget_requests(client);
	list_for_each (link, &client->memberships.all) {
		group_membership_of(link)->is_doubtful = true;
		group_membership_of(link)->retry_at = 0;
	}
	memset(client->is_subscribed, 0, sizeof(client->is_subscribed));
	client->is_stale = true;
	client->must_read = true;
	client->is_silent = false;
	client->memberships_due = 0;
	client->ask_at = 0;
	client->read_at = 0;
	client->has_news = true;
}

static bool ports_equal(const struct group_port *a, const struct group_port *b)
{
	return a->is_active == b->is_active && gid_equal(&a->gid, &b->gid) && a->lid == b->lid &&
	       a->sm_lid == b->sm_lid && a->sm_sl == b->sm_sl && a->pkey == b->pkey;
}

static bool is_up(const struct group_client *client)
{
	return client->port.is_active && client->port.lid && client->port.sm_lid &&
	       client->port.pkey;
}

void group_client_set_port(struct group_client *client, const struct group_port *port)
{
	if (ports_equal(&client->port, port))
		return;
	client->port = *port;
	sa_client_set_sa(&client->sa, port->sm_lid, port->sm_sl, port->pkey);
	sa_client_set_own_gid(&client->sa, &port->gid);
	group_client_restart(client);
}

bool group_client_is_settled(const struct group_client *client)
{
	return !is_up(client) || client->is_silent ||
	       (!client->asked_count && !client->must_read && client->refresh_at != TIME_NEVER);
}

static int compare_mgids(const void *a, const void *b)
{
	const struct mc_member_record *left = a, *right = b;

	if (left->mgid_high != right->mgid_high)
		return left->mgid_high < right->mgid_high ? -1 : 1;
	return left->mgid_low < right->mgid_low ? -1 : left->mgid_low > right->mgid_low;
}

const struct mc_member_record *group_client_find(const struct group_client *client,
						 const struct gid *mgid)
{
	const struct mc_member_record key = {.mgid_high = gid_prefix(mgid),
					     .mgid_low = gid_guid(mgid)};

	if (!client->group_count)
		return NULL;
	return bsearch(&key, client->groups, client->group_count, sizeof(key), compare_mgids);
}

struct group_membership *group_client_membership(const struct group_client *client,
						 const struct gid *mgid)
{
	return group_memberships_find(&client->memberships, mgid);
}

int group_client_want(struct group_client *client, const struct mc_member_record *group,
		      uint8_t join_states)
{
	struct gid mgid = record_mgid(group);
	struct group_membership *membership = group_client_membership(client, &mgid);

	if (!membership) {
		if (!join_states)
			return 0;
		membership = group_memberships_add(&client->memberships, &mgid);
		if (!membership)
			return -ENOMEM;
	}
	if (membership->wanted != join_states) {
		membership->retry_at = 0;
		client->memberships_due = 0;
	}
	membership->wanted = join_states;
	membership->group = *group;
	return 0;
}

static void ask_to_subscribe(struct group_client *client)
{
	for (unsigned index = 0; index < GROUP_CLIENT_TRAPS; index++) {
		const struct inform_info wanted = {.lid_range_begin = INFORM_ANY_LID,
						   .is_generic = INFORM_GENERIC,
						   .subscribe = 1,
						   .type = INFORM_ANY_TYPE,
						   .trap_number = (uint16_t)traps[index],
						   .resp_time_value = RESP_TIME_VALUE,
						   .producer_type = INFORM_ANY_PRODUCER};
		uint8_t data[INFORM_INFO_BYTES];

		if (client->is_subscribed[index])
			continue;
		inform_info_encode(&wanted, data);
		if (sa_client_ask(&client->sa, MAD_SET, SA_INFORM_INFO, 0, data, sizeof(data),
				  (struct mad_purpose){client, ASKED_TO_SUBSCRIBE + index}) == 0)
			client->asked_count++;
	}
}

static void ask_for_table(struct group_client *client)
{
	const struct mad_purpose purpose = {client, ASKED_FOR_TABLE};
	const uint8_t data[MC_MEMBER_RECORD_BYTES] = {0};

	if (sa_client_get_table(&client->sa, SA_MC_MEMBER_RECORD, 0, data, sizeof(data), purpose) !=
	    0)
		return;
	client->asked_count++;
	/* Later changes may be in the table or not. */
	client->is_stale = false;
}

static const uint64_t join_components =
	SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID) | SA_COMPONENT(MCR_JOIN_STATE);

static const uint64_t create_components =
	SA_COMPONENT(MCR_QKEY) | SA_COMPONENT(MCR_TRAFFIC_CLASS) | SA_COMPONENT(MCR_PKEY) |
	SA_COMPONENT(MCR_SL) | SA_COMPONENT(MCR_FLOW_LABEL) | SA_COMPONENT(MCR_HOP_LIMIT) |
	SA_COMPONENT(MCR_SCOPE) | SA_COMPONENT(MCR_MTU_SELECTOR) | SA_COMPONENT(MCR_MTU) |
	SA_COMPONENT(MCR_RATE_SELECTOR) | SA_COMPONENT(MCR_RATE);

static void ask_membership(struct group_client *client, struct group_membership *membership)
{
	const struct mad_purpose purpose = {membership, ASKED_MEMBERSHIP};
	struct mc_member_record record = membership->group;
	bool is_leaving;
	uint8_t states = group_membership_due(membership, &is_leaving);
	uint64_t components = join_components | (states & JOIN_KEEPS_ALIVE ? create_components : 0);

	record.port_gid_prefix = gid_prefix(&client->port.gid);
	record.port_gid_guid = gid_guid(&client->port.gid);
	record.join_state = states & JOIN_ALL;
	record.mlid = 0;
	record.proxy_join = 0;
	if ((is_leaving ? sa_client_leave(&client->sa, &record, purpose)
			: sa_client_join(&client->sa, &record, components, purpose)) != 0)
		return;
	client->asked_count++;
	membership->asked = states;
	membership->is_leaving = is_leaving;
}

static void ask_memberships(struct group_client *client, time_ns now)
{
	if (now < client->memberships_due)
		return;
	client->memberships_due = TIME_NEVER;
	list_for_each_safe (link, &client->memberships.all) {
		struct group_membership *membership = group_membership_of(link);
		bool is_leaving;

		if (!membership->wanted && !membership->joined && !membership->shown_mlid)
			group_memberships_forget(&client->memberships, membership);
		else if (!group_membership_due(membership, &is_leaving))
			continue;
		else if (membership->retry_at <= now)
			ask_membership(client, membership);
		else
			client->memberships_due =
				time_earlier(client->memberships_due, membership->retry_at);
	}
}

/* One request after the other, so that a table always matches the known memberships. */
static void ask(struct group_client *client, time_ns now)
{
	if (!is_up(client) || client->asked_count || now < client->ask_at)
		return;
	if (now >= client->refresh_at)
		client->is_stale = true;
	if (!client->is_subscribed[0] || !client->is_subscribed[1])
		ask_to_subscribe(client);
	else if (client->is_stale && now >= client->read_at)
		ask_for_table(client);
	else
		ask_memberships(client, now);
}

static void take_table(struct group_client *client, const struct sa_client_result *result,
		       time_ns now)
{
	struct mc_member_record *groups = NULL;
	size_t count = 0;

	if (result->record_bytes >= MC_MEMBER_RECORD_BYTES)
		count = result->record_count;
	if (count) {
		groups = malloc(count * sizeof(*groups));
		if (!groups)
			return;
	}
	for (size_t index = 0; index < count; index++)
		mc_member_record_decode(result->table + index * result->record_bytes,
					&groups[index]);
	if (count)
		qsort(groups, count, sizeof(*groups), compare_mgids);
	free(client->groups);
	client->groups = groups;
	client->group_count = count;
	client->must_read = false;
	client->read_at = now + READ_PAUSE;
	client->refresh_at = now + REFRESH_TIME;
	client->memberships_due = 0;
	/* A group that was deleted lost its members. */
	list_for_each (link, &client->memberships.all)
		if (!group_client_find(client, &group_membership_of(link)->mgid))
			group_membership_of(link)->joined = 0;
}

static void take_membership(struct group_client *client, struct group_membership *membership,
			    const struct sa_client_result *result, time_ns now)
{
	uint8_t asked = membership->asked;
	struct mc_member_record record;

	membership->asked = 0;
	membership->retry_at = now + RETRY_PAUSE;
	client->memberships_due = 0;
	if (result->outcome == SA_CLIENT_TIMED_OUT)
		return;
	if (membership->is_leaving) {
		/* An error response means that the membership no longer exists. */
		membership->joined &= (uint8_t)~asked;
		membership->retry_at = 0;
		client->must_read |= (asked & JOIN_KEEPS_ALIVE) != 0;
		client->is_stale |= client->must_read;
	} else if (result->outcome == SA_CLIENT_REFUSED) {
		client->is_stale = true;
	} else {
		mc_member_record_decode(result->data, &record);
		membership->joined = record.join_state | asked;
		membership->mlid = record.mlid;
		membership->is_doubtful = false;
		membership->retry_at = 0;
	}
}

static void take_result(struct group_client *client, const struct sa_client_result *result,
			time_ns now)
{
	bool is_refused_table = result->status == SA_STATUS_NO_RECORDS;

	client->asked_count--;
	client->has_news = true;
	client->is_silent = result->outcome == SA_CLIENT_TIMED_OUT;
	if (client->is_silent)
		client->ask_at = now + RETRY_PAUSE;
	if (result->purpose.detail == ASKED_MEMBERSHIP) {
		take_membership(client, result->purpose.subject, result, now);
	} else if (result->purpose.detail < ASKED_FOR_TABLE) {
		/* Without reports the client reads the table from time to time. */
		client->is_subscribed[result->purpose.detail] = !client->is_silent;
	} else if (result->outcome == SA_CLIENT_ANSWERED || is_refused_table) {
		take_table(client, result, now);
	} else {
		client->is_stale = true;
		client->ask_at = now + RETRY_PAUSE;
	}
}

static void take_report(struct group_client *client, const struct mad_message *report)
{
	struct mad_message *answer;
	struct notice notice;
	struct gid mgid;

	/* The SA repeats a report that is not acknowledged now. */
	if (client->answer_count == GROUP_CLIENT_ANSWERS_MAX)
		return;
	answer = &client->answers[client->answer_count++];
	*answer = *report;
	answer->bytes[MAD_METHOD_OFFSET] = MAD_REPORT_RESPONSE;
	notice_decode(report->bytes + SA_DATA_OFFSET, &notice);
	client->is_stale = true;
	memcpy(mgid.bytes, notice.details + DETAILS_GID_OFFSET, sizeof(mgid.bytes));

	struct group_membership *membership = group_client_membership(client, &mgid);

	/* The group may have been created again before the table is read. */
	if (membership && notice.header.trap_number == TRAP_MULTICAST_GROUP_DELETED)
		membership->is_doubtful = true;
	client->memberships_due = 0;
}

void group_client_receive(struct group_client *client, time_ns now,
			  const struct mad_message *message)
{
	if (message->bytes[MAD_METHOD_OFFSET] == MAD_REPORT)
		take_report(client, message);
	else
		sa_client_receive(&client->sa, now, message);
}

unsigned group_client_transmit(struct group_client *client, time_ns now, unsigned messages_max,
			       struct mad_message ret_messages[])
{
	struct sa_client_result result;
	unsigned count = 0;

	while (sa_client_take_result(&client->sa, &result)) {
		take_result(client, &result, now);
		free(result.table);
	}
	ask(client, now);
	while (count < messages_max && client->answer_count)
		ret_messages[count++] = client->answers[--client->answer_count];
	return count +
	       sa_client_transmit(&client->sa, now, messages_max - count, ret_messages + count);
}

/* When ask() has something to do. */
static time_ns next_question(const struct group_client *client)
{
	time_ns next = client->is_stale ? client->read_at : client->refresh_at;

	if (!is_up(client) || client->asked_count)
		return TIME_NEVER;
	if (!client->is_subscribed[0] || !client->is_subscribed[1])
		return client->ask_at;
	next = time_earlier(next, client->memberships_due);
	return next > client->ask_at ? next : client->ask_at;
}

time_ns group_client_deadline(const struct group_client *client)
{
	if (client->answer_count)
		return 0;
	return time_earlier(sa_client_deadline(&client->sa), next_question(client));
}
