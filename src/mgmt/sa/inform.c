/* SPDX-License-Identifier: Apache-2.0 */
/* Subscriptions to notices: InformInfo and InformInfoRecord (management 4.8). */
#include <string.h>
#include "mgmt/sa/sa_query.h"
#include "wire/sa_records.h"

/* Whether the subscription names security traps. A subscription to everything gets everything else.
 */
static bool asks_for_security(const struct inform_info *info)
{
	bool is_security_trap =
		info->trap_number >= TRAP_BAD_MKEY && info->trap_number <= TRAP_BAD_PKEY_AT_SWITCH;

	return info->type == NOTICE_SECURITY || (info->is_generic && is_security_trap);
}

static uint16_t subscribe(struct sa *sa, const struct sa_request *request,
			  const struct inform_info *info)
{
	struct subscription *subscription;
	int error;

	if (asks_for_security(info) && !request->is_trusted)
		return SA_STATUS_REQ_INVALID;
	/* A repeated subscription changes nothing. */
	subscription = subscriptions_find(&sa->subscriptions, request->requester->guid,
					  request->address.qpn, info);
	if (subscription) {
		subscription->subscriber = request->address;
		subscription->failure_count = 0;
		return MAD_STATUS_OK;
	}
	error = subscriptions_add(&sa->subscriptions, &request->address, request->requester->guid,
				  info, &subscription);
	if (error)
		return SA_STATUS_NO_RESOURCES;
	subscription->is_trusted = request->is_trusted;
	return MAD_STATUS_OK;
}

static uint16_t unsubscribe(struct sa *sa, const struct sa_request *request,
			    const struct inform_info *info)
{
	uint64_t guid = request->requester->guid;
	struct subscription *subscription =
		subscriptions_find(&sa->subscriptions, guid, request->address.qpn, info);

	/* Another QP of the port may unsubscribe too, if it names the QPN of the subscription. */
	if (!subscription)
		subscription = subscriptions_find(&sa->subscriptions, guid, info->qpn, info);
	if (!subscription)
		return SA_STATUS_REQ_INVALID;
	reports_forget(&sa->reports, subscription);
	subscriptions_remove(&sa->subscriptions, subscription);
	return MAD_STATUS_OK;
}

uint16_t sa_set_inform_info(struct sa *sa, const struct sa_request *request)
{
	uint8_t *place = sa_records_place(&sa->records);
	uint16_t status = SA_STATUS_REQ_INVALID;
	struct inform_info info;

	if (!place)
		return SA_STATUS_NO_RESOURCES;
	inform_info_decode(request->data, &info);
	if (inform_info_is_valid(&info) && request->requester)
		status = info.subscribe ? subscribe(sa, request, &info)
					: unsubscribe(sa, request, &info);
	/* The response tells whether the subscription is in force, even in an error response
	 * (management 4.8). */
	if (status != MAD_STATUS_OK)
		info.subscribe = 0;
	inform_info_encode(&info, place);
	sa_records_keep(&sa->records);
	sa->records.is_part_of_refusal = true;
	return status;
}

static void add_subscription(struct sa_query *query, const struct subscription *subscription)
{
	const struct sa_request *request = query->request;
	const struct inform_info_record_id id = {
		.subscriber_prefix = query->sa->subnet->gid_prefix,
		.subscriber_guid = subscription->port_guid,
		.number = subscription->number,
	};
	struct inform_info info = subscription->info;
	uint8_t *place;

	if (!request->is_trusted &&
	    (!request->requester || request->requester->guid != subscription->port_guid))
		return;
	place = sa_query_place(query);
	if (!place)
		return;
	/* C15-0.1.23.4: only a trusted request sees the QPN. */
	info.qpn = request->is_trusted ? subscription->subscriber.qpn : 0;
	inform_info_record_id_encode(&id, place);
	inform_info_encode(&info, place + INFORM_INFO_RECORD_INFO_OFFSET);
	sa_query_keep_if_wanted(query, place);
}

uint16_t sa_find_subscriptions(struct sa *sa, const struct sa_request *request)
{
	struct sa_query query;

	sa_query_begin(&query, sa, request, &inform_info_record_components, 0);
	list_for_each (link, &sa->subscriptions.subscriptions)
		add_subscription(&query, subscription_of(link));
	return MAD_STATUS_OK;
}
