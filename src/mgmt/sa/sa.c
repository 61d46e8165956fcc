/* SPDX-License-Identifier: Apache-2.0 */
/* Subnet administration's interface: MADs and time in, MADs out (management 4). */
#include "mgmt/sa/sa.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/sa/answers.h"
#include "mgmt/sa/pruning.h"
#include "mgmt/sa/remote_tables.h"
#include "mgmt/sa/request.h"
#include "mgmt/subnet/subnet_path.h"
#include "mgmt/subnet/subnet_copy.h"
#include "wire/smp.h"

enum { SA_RMPP_TRANSFERS = 1024, SA_REQUEST_BYTES_MAX = 1 << 16 };

/* For subscribers that redirect: the SA knows every path. */
static bool find_path(void *context, const struct gid *gid, struct mad_path *ret_path)
{
	const struct sa *sa = context;
	const struct subnet_port *own, *port;
	struct subnet_path path;

	if (!sa->subnet)
		return false;
	own = subnet_port_by_guid(sa->subnet, sa->options.port_guid);
	port = sa_port_by_gid(sa, gid_prefix(gid), gid_guid(gid));
	if (!own || !port || !subnet_path_find(sa->subnet, own, port->lid, &path))
		return false;
	*ret_path = (struct mad_path){.lid = port->lid, .sl = path.sl};
	return true;
}

static int init_parts(struct sa *sa)
{
	const struct mad_transactions_options reports = {
		.requests_max = REPORTS_UNDER_WAY_MAX,
		.timeout = sa->options.report_timeout,
		.tries = sa->options.report_tries,
		.agent_number = sa->options.agent_number,
		.find_path = find_path,
		.context = sa,
	};
	const struct rmpp_options rmpp = {.transfers_max = SA_RMPP_TRANSFERS,
					  .byte_count_max = SA_REQUEST_BYTES_MAX,
					  .received_bytes_max = 16 * SA_REQUEST_BYTES_MAX};
	const struct mad_transactions_options tables = {.requests_max = REMOTE_TABLES_SMPS_MAX,
							.agent_number = sa->options.agent_number};
	int error = reports_init(&sa->reports, &sa->subscriptions, &reports);

	if (!error)
		error = remote_tables_init(&sa->remote_tables, &tables);
	if (!error)
		error = rmpp_init(&sa->rmpp, &rmpp);
	if (error)
		return error;
	sa->outbox = calloc(SA_OUTBOX_MESSAGES, sizeof(*sa->outbox));
	sa->outbox_by_lid = calloc(UINT16_MAX + 1u, sizeof(*sa->outbox_by_lid));
	return sa->outbox && sa->outbox_by_lid ? 0 : -ENOMEM;
}

int sa_create(const struct sa_options *options, struct sa **ret_sa)
{
	struct sa *sa = calloc(1, sizeof(*sa));
	int error;

	if (!sa)
		return -ENOMEM;
	sa->options = *options;
	sa->groups = options->groups;
	pruning_init(sa);
	service_registry_init(&sa->services);
	subscriptions_init(&sa->subscriptions);
	alias_guids_init(&sa->alias_guids);
	sa_records_init(&sa->records);
	error = init_parts(sa);
	if (error) {
		sa_destroy(sa);
		return error;
	}
	*ret_sa = sa;
	return 0;
}

static void forget_clients(struct sa *sa)
{
	while (!list_is_empty(&sa->subscriptions.subscriptions)) {
		struct subscription *subscription =
			subscription_of(list_first(&sa->subscriptions.subscriptions));

		reports_forget(&sa->reports, subscription);
		subscriptions_remove(&sa->subscriptions, subscription);
	}
	service_registry_release(&sa->services);
	service_registry_init(&sa->services);
}

/* Groups of the configuration stay, without members. */
static void forget_members(struct sa *sa)
{
	list_for_each_safe (link, &sa->groups->groups) {
		struct multicast_group *group = multicast_group_of(link);

		while (!list_is_empty(&group->members))
			multicast_group_leave(
				group, multicast_member_of(list_first(&group->members)), JOIN_ALL);
		if (!group->is_kept)
			multicast_groups_delete(sa->groups, group);
	}
}

void sa_destroy(struct sa *sa)
{
	if (!sa)
		return;
	forget_clients(sa);
	service_registry_release(&sa->services);
	alias_guids_release(&sa->alias_guids);
	reports_release(&sa->reports);
	remote_tables_release(&sa->remote_tables);
	if (sa->rmpp.ready.next) /* sa_create() got this far */
		rmpp_release(&sa->rmpp);
	sa_records_release(&sa->records);
	subnet_copy_destroy(sa->subnet);
	free(sa->outbox);
	free(sa->outbox_by_lid);
	free(sa);
}

void sa_stop_serving(struct sa *sa)
{
	if (!sa->subnet)
		return;
	forget_clients(sa);
	forget_members(sa);
	subnet_copy_destroy(sa->subnet);
	sa->subnet = NULL;
	pruning_init(sa);
}

/* Decodes what every method needs. false: drop the request silently. */
static bool understand(struct sa *sa, time_ns now, const struct mad_address *address,
		       const uint8_t *bytes, size_t byte_count, struct sa_request *ret_request)
{
	*ret_request = (struct sa_request){.address = *address,
					   .data = bytes + SA_DATA_OFFSET,
					   .data_bytes = byte_count - SA_DATA_OFFSET,
					   .now = now};
	if (!mad_header_decode(bytes, byte_count, &ret_request->header) ||
	    !sa_header_decode(bytes + SA_HEADER_OFFSET, SA_HEADER_BYTES, &ret_request->sa_header))
		return false;

	uint64_t key = ret_request->sa_header.sm_key;

	/* A wrong key gets no response, so that guessing keys reveals nothing. */
	if (key && key != sa->options.sm_key)
		return false;
	ret_request->is_trusted = key != 0;
	ret_request->requester = subnet_port_by_lid(sa->subnet, address->lid);
	return true;
}

static void handle(struct sa *sa, time_ns now, const struct mad_address *address,
		   const uint8_t *bytes, size_t byte_count)
{
	struct sa_request request;

	if (!understand(sa, now, address, bytes, byte_count, &request))
		return;
	sa->request_count++;
	service_registry_expire(&sa->services, now);
	answers_make(sa, &request);
}

static void take_results(struct sa *sa)
{
	struct rmpp_result result;

	while (rmpp_take_result(&sa->rmpp, &result))
		sa->table_bytes_in_flight -= result.purpose.detail;
}

/* Segments of long requests, and ACKs of our tables. */
static void receive_segment(struct sa *sa, time_ns now, const struct mad_message *message)
{
	struct rmpp_message whole;

	if (!rmpp_receive(&sa->rmpp, now, message, &whole)) {
		take_results(sa);
		return;
	}

	/* Handlers may read a whole MAD's data. */
	uint8_t *padded =
		whole.byte_count < MAD_BYTES ? realloc(whole.bytes, MAD_BYTES) : whole.bytes;

	if (padded) {
		if (whole.byte_count < MAD_BYTES)
			memset(padded + whole.byte_count, 0, MAD_BYTES - whole.byte_count);
		whole.bytes = padded;
		if (whole.byte_count >= SA_DATA_OFFSET)
			handle(sa, now, &whole.address, whole.bytes, whole.byte_count);
	}
	free(whole.bytes);
}

void sa_receive(struct sa *sa, time_ns now, const struct mad_message *message)
{
	struct mad_header header;

	if (!mad_header_decode(message->bytes, sizeof(message->bytes), &header) || !sa->subnet)
		return;
	if (header.management_class == MAD_CLASS_SUBNET_LID)
		remote_tables_receive(sa, message);
	if (header.management_class != MAD_CLASS_SUBNET_ADMINISTRATION)
		return;
	if (header.base_version != MAD_BASE_VERSION || header.class_version != SA_CLASS_VERSION) {
		if (!(header.method & MAD_RESPONSE))
			answers_refuse(sa, message, MAD_STATUS_BAD_VERSION);
		return;
	}
	if (rmpp_mad_is_active(message->bytes))
		receive_segment(sa, now, message);
	else if (header.method & MAD_RESPONSE)
		reports_receive(&sa->reports, message);
	else
		handle(sa, now, &message->address, message->bytes, sizeof(message->bytes));
}

unsigned sa_transmit(struct sa *sa, time_ns now, unsigned messages_max,
		     struct mad_message ret_messages[])
{
	unsigned count = 0;
	unsigned plain_max = (messages_max + 1) / 2;

	service_registry_expire(&sa->services, now);
	pruning_run(sa, now);
	/* Half of the room is for plain responses, so that large tables and plain responses do not
	 * delay each other. */
	count += answers_transmit(sa, plain_max, ret_messages);
	count += reports_transmit(&sa->reports, now, messages_max - count, ret_messages + count);
	count += remote_tables_transmit(sa, now, messages_max - count, ret_messages + count);
	count += rmpp_transmit(&sa->rmpp, now, messages_max - count, ret_messages + count);
	take_results(sa);
	count += answers_transmit(sa, messages_max - count, ret_messages + count);
	return count;
}

time_ns sa_deadline(const struct sa *sa)
{
	time_ns deadline = time_earlier(reports_deadline(&sa->reports), rmpp_deadline(&sa->rmpp));

	if (sa->outbox_count)
		return 0;
	deadline = time_earlier(deadline, remote_tables_deadline(&sa->remote_tables));
	deadline = time_earlier(deadline, pruning_deadline(sa));
	return time_earlier(deadline, service_registry_deadline(&sa->services));
}

void sa_status(const struct sa *sa, struct sa_status *ret_status)
{
	*ret_status = (struct sa_status){
		.is_serving = sa->subnet != NULL,
		.request_count = sa->request_count,
		.dropped_count = sa->dropped_count,
		.report_count = sa->reports.sent_count,
		.report_failed_count = sa->reports.failed_count,
		.pruned_count = sa->pruned_count,
		.group_count = sa->groups->group_count,
		.service_count = sa->services.count,
		.subscription_count = sa->subscriptions.count,
	};
}
