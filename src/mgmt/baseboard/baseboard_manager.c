/* SPDX-License-Identifier: Apache-2.0 */
/* The baseboard manager of a subnet (management 5, 6.2). */
#include "mgmt/baseboard/baseboard_manager.h"

#include <stdlib.h>
#include "base/bytes.h"
#include "mgmt/baseboard/baseboard_client.h"
#include "wire/class_port_info.h"
#include "wire/pkey.h"
#include "wire/smp.h"

enum { RENEWALS_PER_LEASE = 3, REQUESTS_UNDER_WAY = 64 };

#define SWEEP_INTERVAL_DEFAULT SECONDS(10)
#define RETRY_INTERVAL	       SECONDS(1)

static time_ns sweep_interval(const struct baseboard_manager_options *options)
{
	time_ns interval =
		options->sweep_interval ? options->sweep_interval : SWEEP_INTERVAL_DEFAULT;

	if (options->lease_period && interval > SECONDS(options->lease_period) / RENEWALS_PER_LEASE)
		interval = SECONDS(options->lease_period) / RENEWALS_PER_LEASE;
	return interval;
}

/* To a port that redirects the class: the manager knows the LIDs of all end ports. */
static bool find_path(void *context, const struct gid *gid, struct mad_path *ret_path)
{
	const struct baseboard_manager *manager = context;
	const struct managed_port *port = managed_ports_by_guid(&manager->ports, gid_guid(gid));

	return mad_path_within_subnet(gid, &manager->port.gid, port ? port->lid : 0, 0, ret_path);
}

int baseboard_manager_init(struct baseboard_manager *manager,
			   const struct baseboard_manager_options *options)
{
	const struct sa_client_options sa = {.agent_number = options->sa_agent_number};
	const struct mad_transactions_options requests = {.agent_number = options->agent_number,
							  .requests_max = REQUESTS_UNDER_WAY,
							  .find_path = find_path,
							  .context = manager};
	const struct mad_transactions_options reports = {.agent_number = options->agent_number,
							 .requests_max = REPORTS_UNDER_WAY_MAX,
							 .find_path = find_path,
							 .context = manager};
	static const struct report_class class = {MAD_CLASS_BASEBOARD, BASEBOARD_CLASS_VERSION,
						  BASEBOARD_DATA_OFFSET};
	int error;

	*manager = (struct baseboard_manager){.options = *options};
	manager->options.sweep_interval = sweep_interval(options);
	managed_ports_init(&manager->ports);
	list_init(&manager->ready);
	subscriptions_init(&manager->subscriptions);
	error = sa_client_init(&manager->sa, &sa);
	if (error)
		return error;
	error = mad_transactions_init(&manager->transactions, &requests);
	if (error)
		goto release_sa;
	error = reports_init_for_class(&manager->reports, &class, &manager->subscriptions,
				       &reports);
	if (error)
		goto release_transactions;
	return 0;

release_transactions:
	mad_transactions_release(&manager->transactions);
release_sa:
	sa_client_release(&manager->sa);
	return error;
}

void baseboard_manager_release(struct baseboard_manager *manager)
{
	sa_client_release(&manager->sa);
	reports_release(&manager->reports);
	subscriptions_release(&manager->subscriptions);
	mad_transactions_release(&manager->transactions);
	managed_ports_release(&manager->ports);
}

void baseboard_manager_set_port(struct baseboard_manager *manager,
				const struct baseboard_manager_port *port)
{
	if (manager->port.lid != port->lid || manager->port.sm_lid != port->sm_lid)
		manager->sweep_at = 0;
	manager->port = *port;
	sa_client_set_sa(&manager->sa, port->sm_lid, port->sm_sl, PKEY_DEFAULT_FULL);
	sa_client_set_own_gid(&manager->sa, &port->gid);
}

static void tell(struct baseboard_manager *manager, enum baseboard_event_kind kind,
		 const struct managed_port *port, const struct notice *notice)
{
	const struct baseboard_event event = {.kind = kind, .port = port, .notice = notice};

	if (manager->options.tell)
		manager->options.tell(manager->options.context, &event);
}

static void set_state(struct baseboard_manager *manager, struct managed_port *port,
		      enum managed_state state)
{
	static const enum baseboard_event_kind kinds[] = {
		[MANAGED_OURS] = BASEBOARD_PORT_OURS,
		[MANAGED_FOREIGN] = BASEBOARD_PORT_FOREIGN,
		[MANAGED_SILENT] = BASEBOARD_PORT_SILENT,
	};

	if (port->state == state || state == MANAGED_UNKNOWN)
		return;
	port->state = state;
	tell(manager, kinds[state], port, NULL);
}

/* The port's next step. A trap may have asked for a renewal in the meantime. */
static void go_to(struct baseboard_manager *manager, struct managed_port *port,
		  enum managed_step step)
{
	if (step == STEP_NONE && port->must_renew)
		step = STEP_READ;
	if (step == STEP_READ)
		port->must_renew = false;
	port->step = step;
	if (step != STEP_NONE && !list_is_linked(&port->ready_link))
		list_append(&manager->ready, &port->ready_link);
}

static uint64_t own_key(const struct baseboard_manager *manager, const struct managed_port *port)
{
	return bkey_of(&manager->options.keys, port->guid);
}

static void leave(void *context, struct managed_port *port)
{
	tell(context, BASEBOARD_PORT_GONE, port, NULL);
}

/* Every port is read once per sweep: that finds ports that lost the key, and renews the leases. */
static void take_table(struct baseboard_manager *manager, const struct sa_client_result *result)
{
	managed_ports_update(&manager->ports, result->table, result->record_count,
			     result->record_bytes, leave, manager);
	list_for_each (link, &manager->ports.ports) {
		struct managed_port *port = container_of(link, struct managed_port, link);

		if (port->step == STEP_NONE && !port->is_asked)
			go_to(manager, port, STEP_READ);
	}
	tell(manager, BASEBOARD_SWEPT, NULL, NULL);
}

static void take_results(struct baseboard_manager *manager, time_ns now)
{
	struct sa_client_result result;

	while (sa_client_take_result(&manager->sa, &result)) {
		manager->is_reading = false;
		if (result.outcome == SA_CLIENT_ANSWERED) {
			take_table(manager, &result);
			manager->sweep_at = now + manager->options.sweep_interval;
		} else {
			manager->sweep_at = now + RETRY_INTERVAL;
		}
		free(result.table);
	}
}

static void begin_sweep(struct baseboard_manager *manager, time_ns now)
{
	const uint8_t any[NODE_RECORD_BYTES] = {0};

	if (manager->is_reading || manager->sweep_at > now || !manager->port.sm_lid)
		return;
	manager->is_reading = sa_client_get_table(&manager->sa, SA_NODE_RECORD, 0, any, sizeof(any),
						  (struct mad_purpose){.subject = manager}) == 0;
	manager->sweep_at = now + RETRY_INTERVAL;
}

static void encode_address(const struct baseboard_manager *manager, uint8_t *ret_data)
{
	const struct class_port_info info = {
		.trap_gid_prefix = gid_prefix(&manager->port.gid),
		.trap_gid_guid = gid_guid(&manager->port.gid),
		.trap_lid = manager->port.lid,
		.trap_pkey = PKEY_DEFAULT_FULL,
		.trap_qpn = QPN_GSI,
		.trap_qkey = QKEY_GSI,
	};

	class_port_info_encode(&info, ret_data);
}

static void encode_key(const struct baseboard_manager *manager, const struct managed_port *port,
		       uint8_t *ret_data)
{
	const struct class_key_info info = {
		.key = own_key(manager, port),
		.protect_bit = manager->options.protects,
		.lease_period = manager->options.lease_period,
	};

	class_key_info_encode(&info, ret_data);
}

static void make_request(const struct baseboard_manager *manager, const struct managed_port *port,
			 struct mad_message *ret_request)
{
	const struct mad_address to = {
		.lid = port->lid, .qpn = QPN_GSI, .qkey = QKEY_GSI, .pkey = PKEY_DEFAULT_FULL};
	uint8_t *data = ret_request->bytes + BASEBOARD_DATA_OFFSET;

	switch (port->step) {
	case STEP_NONE:
	case STEP_READ:
		baseboard_mad_make(&to, own_key(manager, port), MAD_GET, ATTRIBUTE_BKEY_INFO,
				   ret_request);
		break;
	case STEP_ADDRESS:
		baseboard_mad_make(&to, port->under_key, MAD_SET, ATTRIBUTE_CLASS_PORT_INFO,
				   ret_request);
		encode_address(manager, data);
		break;
	case STEP_KEY:
	case STEP_ATTEMPT:
		baseboard_mad_make(&to, port->under_key, MAD_SET, ATTRIBUTE_BKEY_INFO, ret_request);
		encode_key(manager, port, data);
		break;
	}
}

static void send_requests(struct baseboard_manager *manager)
{
	struct list *link;

	while (mad_transactions_has_room(&manager->transactions) &&
	       (link = list_pop(&manager->ready))) {
		struct managed_port *port = container_of(link, struct managed_port, ready_link);
		struct mad_message request;

		make_request(manager, port, &request);
		port->is_asked = true;
		mad_transactions_send(&manager->transactions, &request,
				      (struct mad_purpose){.subject = port});
	}
}

/* The port has our key and address. The request that tells so has renewed its lease. */
static bool is_as_wanted(const struct baseboard_manager *manager, const struct managed_port *port,
			 const struct class_key_info *info)
{
	uint64_t own = own_key(manager, port);

	return own && info->key == own && info->protect_bit == manager->options.protects &&
	       info->lease_period == manager->options.lease_period &&
	       port->told_lid == manager->port.lid;
}

/* Whose key the port has, and what follows from that. A manager without keys only sets the trap
 * address. */
static void take_key_info(struct baseboard_manager *manager, struct managed_port *port,
			  const struct class_key_info *info)
{
	uint64_t own = own_key(manager, port);
	bool is_free = info->key == 0 && !info->protect_bit;

	if (is_as_wanted(manager, port, info)) {
		set_state(manager, port, MANAGED_OURS);
		go_to(manager, port, STEP_NONE);
		return;
	}
	if (is_free || (own && info->key == own)) {
		port->under_key = own;
		go_to(manager, port, STEP_ADDRESS);
		return;
	}
	set_state(manager, port, MANAGED_FOREIGN);
	if (!manager->options.takes_over || !own) {
		go_to(manager, port, STEP_NONE);
		return;
	}
	/* A key that can be read is one whose manager failed, or does not hide it. */
	port->under_key = info->key ? info->key : own;
	go_to(manager, port, info->key ? STEP_ADDRESS : STEP_ATTEMPT);
}

/* The answer to a Set tells the value after it (management 1.3), so it shows a port that has not
 * taken the key, or another one. A port may hide the key that it has taken. */
static void take_set_key(struct baseboard_manager *manager, struct managed_port *port,
			 const struct class_key_info *info)
{
	bool has_taken = info->key == own_key(manager, port) || (!info->key && info->protect_bit);
	enum managed_state otherwise = info->key ? MANAGED_FOREIGN : MANAGED_SILENT;

	set_state(manager, port, has_taken ? MANAGED_OURS : otherwise);
	go_to(manager, port, STEP_NONE);
}

static void take_answer(struct baseboard_manager *manager, struct managed_port *port,
			const struct mad_message *message)
{
	struct class_port_info address;
	struct class_key_info info;

	port->is_asked = false;
	if (get_be16(message->bytes + MAD_STATUS_OFFSET) != MAD_STATUS_OK) {
		set_state(manager, port, MANAGED_SILENT);
		go_to(manager, port, STEP_NONE);
		return;
	}
	switch (port->step) {
	case STEP_NONE:
		break;
	case STEP_READ:
		class_key_info_decode(message->bytes + BASEBOARD_DATA_OFFSET, &info);
		take_key_info(manager, port, &info);
		break;
	case STEP_ADDRESS:
		class_port_info_decode(message->bytes + BASEBOARD_DATA_OFFSET, &address);
		port->told_lid = address.trap_lid;
		if (own_key(manager, port)) {
			go_to(manager, port, STEP_KEY);
			break;
		}
		set_state(manager, port, MANAGED_OURS);
		go_to(manager, port, STEP_NONE);
		break;
	case STEP_KEY:
	case STEP_ATTEMPT:
		class_key_info_decode(message->bytes + BASEBOARD_DATA_OFFSET, &info);
		take_set_key(manager, port, &info);
		break;
	}
}

/* The port is asked again in the next sweep. An attempt is meant to get no answer. */
static void take_failures(struct baseboard_manager *manager)
{
	struct mad_message request;
	struct mad_purpose purpose;

	while (mad_transactions_take_failed(&manager->transactions, &purpose, &request)) {
		struct managed_port *port = purpose.subject;

		port->is_asked = false;
		if (port->step != STEP_ATTEMPT)
			set_state(manager, port, MANAGED_SILENT);
		port->must_renew = false;
		go_to(manager, port, STEP_NONE);
	}
}

/* NULL: too many wait. The sender repeats what gets no answer. */
static struct mad_message *outbox_place(struct baseboard_manager *manager)
{
	if (manager->outbox_count == BASEBOARD_OUTBOX_MAX)
		return NULL;
	return &manager->outbox[(manager->outbox_first + manager->outbox_count++) %
				BASEBOARD_OUTBOX_MAX];
}

static void report(struct baseboard_manager *manager, const struct managed_port *port,
		   const struct notice *notice)
{
	const struct gid issuer = gid_from(gid_prefix(&manager->port.gid), port->guid);
	struct report_notice *made = report_notice_make(notice, &issuer);

	if (!made)
		return;
	list_for_each (link, &manager->subscriptions.subscriptions) {
		struct subscription *subscription = subscription_of(link);

		/* Trap 259 has a key in it, which may be another manager's. */
		if ((subscription->is_trusted || notice->header.trap_number != TRAP_BAD_BKEY) &&
		    inform_info_matches(&subscription->info, notice, &issuer))
			reports_send(&manager->reports, subscription, made);
	}
	report_notice_release(made);
}

/* A trap is repeated until it is repressed, so one of a port that is not known yet comes again. */
static void take_trap(struct baseboard_manager *manager, const struct mad_message *message)
{
	struct managed_port *port = managed_ports_by_lid(&manager->ports, message->address.lid);
	struct mad_message *repress = port ? outbox_place(manager) : NULL;
	struct notice notice;

	if (!repress)
		return;
	*repress = *message;
	repress->bytes[MAD_METHOD_OFFSET] = MAD_TRAP_REPRESS;
	put_be64(repress->bytes + CLASS_KEY_OFFSET, own_key(manager, port));
	if (managed_port_knows_trap(port, get_be64(message->bytes + MAD_TRANSACTION_ID_OFFSET)))
		return;
	manager->trap_count++;
	notice_decode(message->bytes + BASEBOARD_DATA_OFFSET, &notice);
	tell(manager, BASEBOARD_TRAP, port, &notice);
	report(manager, port, &notice);
	/* The refused request may have started the lease. */
	if (notice.header.trap_number != TRAP_BAD_BKEY)
		return;
	port->must_renew = true;
	if (port->step == STEP_NONE && !port->is_asked)
		go_to(manager, port, STEP_NONE);
}

static uint16_t change_subscription(struct baseboard_manager *manager,
				    const struct mad_message *message,
				    const struct inform_info *info)
{
	const struct managed_port *requester =
		managed_ports_by_lid(&manager->ports, message->address.lid);
	struct subscription *subscription;

	/* The next sweep finds the requester's port. */
	if (!requester)
		return MAD_STATUS_BUSY;
	if (!inform_info_is_valid(info))
		return MAD_STATUS_BAD_FIELD;
	subscription = subscriptions_find(&manager->subscriptions, requester->guid,
					  message->address.qpn, info);
	if (!info->subscribe) {
		if (!subscription)
			return MAD_STATUS_BAD_FIELD;
		reports_forget(&manager->reports, subscription);
		subscriptions_remove(&manager->subscriptions, subscription);
		return MAD_STATUS_OK;
	}
	if (!subscription && subscriptions_add(&manager->subscriptions, &message->address,
					       requester->guid, info, &subscription))
		return MAD_STATUS_BUSY;
	subscription->subscriber = message->address;
	subscription->failure_count = 0;
	subscription->is_trusted = get_be64(message->bytes + CLASS_KEY_OFFSET) ==
				   bkey_of(&manager->options.keys, gid_guid(&manager->port.gid));
	return MAD_STATUS_OK;
}

static void take_inform_info(struct baseboard_manager *manager, const struct mad_message *message)
{
	struct mad_message *answer = outbox_place(manager);
	struct inform_info info;
	uint16_t status;

	if (!answer)
		return;
	inform_info_decode(message->bytes + BASEBOARD_DATA_OFFSET, &info);
	status = change_subscription(manager, message, &info);
	*answer = *message;
	answer->bytes[MAD_METHOD_OFFSET] = MAD_GET_RESPONSE;
	put_be16(answer->bytes + MAD_STATUS_OFFSET, status);
	put_be64(answer->bytes + CLASS_KEY_OFFSET, 0);
	if (status != MAD_STATUS_OK)
		info.subscribe = 0;
	inform_info_encode(&info, answer->bytes + BASEBOARD_DATA_OFFSET);
}

void baseboard_manager_receive(struct baseboard_manager *manager, time_ns now,
			       const struct mad_message *message)
{
	struct mad_header header;
	struct mad_purpose purpose;

	if (!mad_header_decode(message->bytes, MAD_BYTES, &header))
		return;
	if (header.management_class == MAD_CLASS_SUBNET_ADMINISTRATION) {
		sa_client_receive(&manager->sa, now, message);
		take_results(manager, now);
		return;
	}
	if (header.management_class != MAD_CLASS_BASEBOARD ||
	    header.base_version != MAD_BASE_VERSION ||
	    header.class_version != BASEBOARD_CLASS_VERSION)
		return;
	if (header.method == MAD_REPORT_RESPONSE)
		reports_receive(&manager->reports, message);
	else if (header.method == MAD_TRAP && header.attribute_id == ATTRIBUTE_NOTICE)
		take_trap(manager, message);
	else if (header.method == MAD_SET && header.attribute_id == ATTRIBUTE_INFORM_INFO)
		take_inform_info(manager, message);
	else if (mad_transactions_receive(&manager->transactions, message, &purpose))
		take_answer(manager, purpose.subject, message);
}

static unsigned send_outbox(struct baseboard_manager *manager, unsigned messages_max,
			    struct mad_message ret_messages[])
{
	unsigned count = 0;

	while (count < messages_max && manager->outbox_count) {
		ret_messages[count++] = manager->outbox[manager->outbox_first];
		manager->outbox_first = (manager->outbox_first + 1) % BASEBOARD_OUTBOX_MAX;
		manager->outbox_count--;
	}
	return count;
}

unsigned baseboard_manager_transmit(struct baseboard_manager *manager, time_ns now,
				    unsigned messages_max, struct mad_message ret_messages[])
{
	unsigned count = send_outbox(manager, messages_max, ret_messages);

	begin_sweep(manager, now);
	mad_transactions_transmit(&manager->transactions, now, 0, NULL);
	take_failures(manager);
	send_requests(manager);
	count += mad_transactions_transmit(&manager->transactions, now, messages_max - count,
					   ret_messages + count);
	count += reports_transmit(&manager->reports, now, messages_max - count,
				  ret_messages + count);
	count += sa_client_transmit(&manager->sa, now, messages_max - count, ret_messages + count);
	take_results(manager, now);
	return count;
}

time_ns baseboard_manager_deadline(const struct baseboard_manager *manager)
{
	time_ns deadline = sa_client_deadline(&manager->sa);

	if (manager->outbox_count ||
	    (!list_is_empty(&manager->ready) && mad_transactions_has_room(&manager->transactions)))
		return 0;
	if (!manager->is_reading && manager->port.sm_lid)
		deadline = time_earlier(deadline, manager->sweep_at);
	deadline = time_earlier(deadline, mad_transactions_deadline(&manager->transactions));
	return time_earlier(deadline, reports_deadline(&manager->reports));
}

unsigned baseboard_manager_count(const struct baseboard_manager *manager, enum managed_state state)
{
	unsigned count = 0;

	list_for_each (link, &manager->ports.ports)
		count += container_of(link, struct managed_port, link)->state == state;
	return count;
}
