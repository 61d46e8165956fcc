/* SPDX-License-Identifier: Apache-2.0 */
/* An agent that a management program registered on an open port: its requests with retries and
 * timeouts, its RMPP, the MADs that it receives (modelled on Linux's MAD layer). */
#include "daemon/mad/mad_agents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "daemon/core/limits.h"
#include "daemon/mad/mad_files.h"
#include "daemon/mad/mad_requests.h"
#include "net/link/port.h"
#include "wire/pkey.h"

enum {
	CLASS_LAST = MAD_CLASS_VENDOR2_LAST,
	CLASS_VERSION_LAST = 7,
	OUI_BYTES_MAX = 0xffffff,
	SEGMENTS_PER_TURN = 64,
};

static struct mad_files *files_of(const struct mad_agent *agent)
{
	return mad_file_owner(agent->file);
}

static uint64_t transaction_id(const uint8_t *mad)
{
	return get_be64(mad + MAD_TRANSACTION_ID_OFFSET);
}

void mad_agent_stall(struct mad_agent *agent)
{
	if (!list_is_linked(&agent->stalled_link))
		list_append(&files_of(agent)->stalled, &agent->stalled_link);
}

static bool options_are_valid(const struct mad_agent_options *options)
{
	bool is_rmpp = options->kind == MAD_AGENT_RMPP || options->kind == MAD_AGENT_USER_RMPP;

	if (!options->management_class)
		return !is_rmpp;
	if (options->management_class > CLASS_LAST &&
	    options->management_class != MAD_CLASS_SUBNET_DIRECTED)
		return false;
	if (mad_class_has_oui(options->management_class) &&
	    (!options->oui || options->oui > OUI_BYTES_MAX))
		return false;
	return options->class_version <= CLASS_VERSION_LAST &&
	       (!is_rmpp || rmpp_class_has_header(options->management_class));
}

static void receive(struct mad_client *client, const struct mad_message *message, time_ns now);
static void expire_rmpp(struct mad_timer *timer, time_ns now);

int mad_timer_reserve(struct mad_files *files)
{
	int error = timer_queue_reserve(&files->timers, files->timer_count + 1);

	if (!error)
		files->timer_count++;
	return error;
}

void mad_timer_release(struct mad_files *files, struct mad_timer *timer)
{
	timer_queue_cancel(&files->timers, &timer->timer);
	files->timer_count--;
}

static int make_rmpp(struct rmpp **ret_rmpp)
{
	const struct rmpp_options options = {.byte_count_max = MAD_PORT_BYTES_MAX,
					     .received_bytes_max = MAD_PORT_BYTES_MAX};
	struct rmpp *rmpp = malloc(sizeof(*rmpp));
	int error = rmpp ? rmpp_init(rmpp, &options) : -ENOMEM;

	if (error)
		free(rmpp);
	else
		*ret_rmpp = rmpp;
	return error;
}

static struct account *account_of_agent(const struct mad_agent *agent)
{
	return mad_file_account(agent->file);
}

/* Messages that arrive in parts grow as far as the process has room for. */
static void limit_received(struct mad_agent *agent)
{
	uint64_t max = (uint64_t)agent->received_charged +
		       account_room(account_of_agent(agent), LIMIT_MAD_BYTES);

	agent->rmpp->options.received_bytes_max =
		max < MAD_PORT_BYTES_MAX ? max : MAD_PORT_BYTES_MAX;
}

/* A buffer that doubled may be larger than the limit; then only the room is charged, and it does
 * not grow again. */
static void charge_received(struct mad_agent *agent)
{
	struct account *account = account_of_agent(agent);
	uint32_t charged = agent->received_charged;
	uint32_t wanted = (uint32_t)agent->rmpp->received_bytes;

	if (wanted > charged) {
		uint32_t room = account_room(account, LIMIT_MAD_BYTES);
		uint32_t more = wanted - charged < room ? wanted - charged : room;

		if (account_take(account, LIMIT_MAD_BYTES, more) == 0)
			agent->received_charged += more;
	} else {
		account_give(account, LIMIT_MAD_BYTES, charged - wanted);
		agent->received_charged = wanted;
	}
}

static void free_agent(struct mad_agent *agent)
{
	account_give(account_of_agent(agent), LIMIT_MAD_BYTES, agent->received_charged);
	account_give(account_of_agent(agent), LIMIT_MAD_AGENTS, 1);
	mad_timer_release(files_of(agent), &agent->rmpp_timer);
	if (agent->rmpp)
		rmpp_release(agent->rmpp);
	free(agent->rmpp);
	free(agent);
}

int mad_agent_create(struct mad_file *file, uint32_t id, struct port *port,
		     const struct mad_agent_options *options, struct mad_agent **ret_agent)
{
	struct mad_files *files = mad_file_owner(file);

	if (!options_are_valid(options))
		return -EINVAL;

	struct mad_agent *agent = calloc(1, sizeof(*agent));

	if (!agent || account_take(mad_file_account(file), LIMIT_MAD_AGENTS, 1) != 0) {
		free(agent);
		return -ENOMEM;
	}
	if (mad_timer_reserve(files) != 0) {
		account_give(mad_file_account(file), LIMIT_MAD_AGENTS, 1);
		free(agent);
		return -ENOMEM;
	}
	agent->file = file;
	agent->id = id;
	agent->kind = options->kind;
	agent->rmpp_timer.expire = expire_rmpp;
	list_init(&agent->requests);
	list_init(&agent->unsent);
	list_init(&agent->stalled_link);
	agent->client.port = port;
	agent->client.receive = receive;
	if (options->methods[0] | options->methods[1]) {
		agent->client.registration_count = 1;
		agent->client.registrations[0] = (struct mad_registration){
			.management_class = options->management_class,
			.class_version = options->class_version,
			.oui = options->oui,
			.methods = {options->methods[0], options->methods[1]}};
	}

	int error = options->kind == MAD_AGENT_RMPP ? make_rmpp(&agent->rmpp) : 0;

	if (!error)
		error = mad_client_add(files->dispatch, &agent->client);
	if (error) {
		free_agent(agent);
		return error;
	}
	*ret_agent = agent;
	return 0;
}

void mad_agent_destroy(struct mad_agent *agent)
{
	mad_client_remove(files_of(agent)->dispatch, &agent->client);
	while (!list_is_empty(&agent->requests))
		mad_request_destroy(
			container_of(list_first(&agent->requests), struct mad_request, link));
	list_remove(&agent->stalled_link);
	free_agent(agent);
}

/* The outcome of RMPP sends. From now on the agent waits for the answers to its requests. */
static void take_results(struct mad_agent *agent, time_ns now)
{
	struct rmpp_result result;

	while (rmpp_take_result(agent->rmpp, &result)) {
		struct mad_request *request = result.purpose.subject;

		request->is_rmpp = false;
		if (result.status != RMPP_STATUS_NORMAL)
			mad_request_fail(request, ETIMEDOUT);
		else
			mad_request_sent(request, now);
	}
}

/* Sends RMPP segments. Returns false if one found no room. */
static bool pump(struct mad_agent *agent, time_ns now)
{
	struct mad_dispatch *dispatch = files_of(agent)->dispatch;

	for (unsigned count = 0; count < SEGMENTS_PER_TURN; count++) {
		if (!agent->has_unsent_segment &&
		    rmpp_transmit(agent->rmpp, now, 1, &agent->unsent_segment) == 0)
			break;
		agent->has_unsent_segment =
			!mad_client_send(dispatch, &agent->client, &agent->unsent_segment, now);
		if (agent->has_unsent_segment)
			break;
	}
	take_results(agent, now);
	charge_received(agent);

	time_ns deadline = rmpp_deadline(agent->rmpp);

	if (agent->has_unsent_segment || deadline <= now) {
		mad_agent_stall(agent);
		return false;
	}
	if (deadline == TIME_NEVER)
		timer_queue_cancel(&files_of(agent)->timers, &agent->rmpp_timer.timer);
	else
		timer_queue_arm(&files_of(agent)->timers, &agent->rmpp_timer.timer, deadline);
	return true;
}

static void expire_rmpp(struct mad_timer *timer, time_ns now)
{
	pump(container_of(timer, struct mad_agent, rmpp_timer), now);
}

/* The status that a program gets. EINVAL: a request with the same transaction id is outstanding. */
static int failure(int error)
{
	return error == -EEXIST ? EINVAL : -error;
}

static void send_rmpp(struct mad_agent *agent, const struct mad_port_header *header,
		      const struct mad_message *first, const uint8_t *bytes, size_t byte_count,
		      time_ns now)
{
	struct rmpp_message message = {
		.address = first->address, .bytes = malloc(byte_count), .byte_count = byte_count};
	struct mad_request *request;
	int error = message.bytes
			    ? mad_request_make(agent, header, first, (uint32_t)byte_count, &request)
			    : -ENOMEM;

	if (error) {
		free(message.bytes);
		mad_request_report(agent, header, first->bytes, failure(error));
		return;
	}

	const struct rmpp_send_options options = {
		.timeout = MILLISECONDS(header->timeout_ms),
		.tries = header->retries ? header->retries + 1 : 0,
		.sides = mad_is_response(first->bytes) ? RMPP_SINGLE_SIDED : RMPP_DOUBLE_SIDED,
		.purpose = {.subject = request},
	};

	memcpy(message.bytes, bytes, byte_count);
	put_be64(message.bytes + MAD_TRANSACTION_ID_OFFSET, transaction_id(first->bytes));
	error = rmpp_send(agent->rmpp, &message, &options);
	if (error) {
		free(message.bytes);
		mad_request_fail(request, -error);
		return;
	}
	request->is_rmpp = true;
	pump(agent, now);
}

/* softibd sets the upper half of a request's transaction id to the agent's number; a response keeps
 * its id. */
static void stamp(const struct mad_agent *agent, uint8_t *mad)
{
	if (!mad_is_response(mad))
		put_be32(mad + MAD_TRANSACTION_ID_OFFSET, agent->client.agent_number);
}

static bool find_pkey(const struct mad_agent *agent, const struct mad_port_header *header,
		      uint16_t *ret_pkey)
{
	const struct port *port = agent->client.port;

	if (agent->kind == MAD_AGENT_RAW) {
		*ret_pkey = header->pkey_index;
		return true;
	}
	if (header->pkey_index >= port->pkey_count)
		return false;
	*ret_pkey = port->pkeys[header->pkey_index];
	return true;
}

static void send_single(struct mad_agent *agent, const struct mad_port_header *header,
			const struct mad_message *message, time_ns now)
{
	struct mad_request *request;

	/* Most responses and one-way MADs need no state after they are sent. */
	if ((!header->timeout_ms || mad_is_response(message->bytes)) &&
	    list_is_empty(&agent->unsent) &&
	    mad_client_send(files_of(agent)->dispatch, &agent->client, message, now))
		return;

	int error = mad_request_make(agent, header, message, 0, &request);

	if (error)
		mad_request_report(agent, header, message->bytes, failure(error));
	else
		mad_request_send(request, now);
}

void mad_agent_send(struct mad_agent *agent, const struct mad_port_header *header,
		    const uint8_t *bytes, size_t byte_count, time_ns now)
{
	struct mad_message message = {.address = header->address};
	size_t first = byte_count < MAD_BYTES ? byte_count : MAD_BYTES;

	memcpy(message.bytes, bytes, first);
	stamp(agent, message.bytes);
	/* A received MAD is reported without a Q_Key, and its address serves for the answer: QP1
	 * sends with its own. */
	if (!message.address.qkey)
		message.address.qkey = QKEY_GSI;

	bool is_rmpp = agent->kind == MAD_AGENT_RMPP && rmpp_mad_is_active(message.bytes);

	if (!find_pkey(agent, header, &message.address.pkey) ||
	    (!is_rmpp && byte_count > MAD_BYTES)) {
		mad_request_report(agent, header, message.bytes, EINVAL);
		return;
	}
	if (is_rmpp)
		send_rmpp(agent, header, &message, bytes, byte_count, now);
	else
		send_single(agent, header, &message, now);
}

bool mad_agent_retry(struct mad_agent *agent, time_ns now)
{
	struct mad_dispatch *dispatch = files_of(agent)->dispatch;
	struct list *link;

	while ((link = list_first(&agent->unsent))) {
		struct mad_request *request = container_of(link, struct mad_request, unsent_link);

		if (!mad_client_send(dispatch, &agent->client, &request->message, now))
			return false;
		list_remove(link);
		mad_request_sent(request, now);
	}
	/* Leaves the list first, so that stalling again puts it at the end. */
	list_remove(&agent->stalled_link);
	return !agent->rmpp || pump(agent, now);
}

static uint16_t pkey_index(const struct port *port, uint16_t pkey)
{
	for (uint16_t index = 0; index < port->pkey_count; index++) {
		if (port->pkeys[index] == pkey)
			return index;
	}
	return 0;
}

static void deliver(struct mad_agent *agent, const struct mad_address *address,
		    const uint8_t *bytes, size_t byte_count)
{
	struct mad_port_header header = {
		.agent_id = agent->id,
		.byte_count = (uint32_t)(MAD_PORT_HEADER_BYTES + byte_count),
		.address = *address,
		.pkey_index = pkey_index(agent->client.port, address->pkey),
	};

	if (agent->kind == MAD_AGENT_RAW)
		header.pkey_index = address->pkey;
	else
		header.address.qkey = 0; /* Linux reports no Q_Key */
	mad_file_deliver(agent->file, &header, bytes, byte_count);
}

static void receive_whole(struct mad_agent *agent, const struct mad_address *address,
			  const uint8_t *bytes, size_t byte_count)
{
	if (mad_is_response(bytes)) {
		struct mad_request *request = mad_request_find(agent, bytes);

		if (request)
			mad_request_destroy(request);
		/* If the program reassembles RMPP itself, only the first segment ends its request.
		 */
		else if (agent->kind != MAD_AGENT_USER_RMPP || !rmpp_mad_is_active(bytes))
			return;
	}
	deliver(agent, address, bytes, byte_count);
}

static void receive_segment(struct mad_agent *agent, const struct mad_message *segment, time_ns now)
{
	struct mad_request *request =
		mad_is_response(segment->bytes) ? mad_request_find(agent, segment->bytes) : NULL;
	struct rmpp_message message;
	bool is_whole;

	limit_received(agent);
	is_whole = rmpp_receive(agent->rmpp, now, segment, &message);

	/* An answer whose first segment has arrived is not late. */
	if (request && timer_is_armed(&request->timer.timer))
		mad_request_wait(request, now);
	take_results(agent, now);
	if (is_whole) {
		receive_whole(agent, &message.address, message.bytes, message.byte_count);
		free(message.bytes);
	}
	pump(agent, now);
}

static void receive(struct mad_client *client, const struct mad_message *message, time_ns now)
{
	struct mad_agent *agent = container_of(client, struct mad_agent, client);

	if (agent->kind == MAD_AGENT_RAW)
		deliver(agent, &message->address, message->bytes, MAD_BYTES);
	else if (agent->kind == MAD_AGENT_RMPP && rmpp_mad_is_active(message->bytes))
		receive_segment(agent, message, now);
	else
		receive_whole(agent, &message->address, message->bytes, MAD_BYTES);
}
