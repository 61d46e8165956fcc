/* SPDX-License-Identifier: Apache-2.0 */
/* MADs of an agent that are not on the wire yet, or that wait for an answer. */
#include "daemon/mad/mad_requests.h"

#include <errno.h>
#include <stdlib.h>
#include "base/bytes.h"
#include "daemon/core/limits.h"
#include "daemon/mad/mad_files.h"

static struct mad_files *files_of(const struct mad_agent *agent)
{
	return mad_file_owner(agent->file);
}

static uint64_t transaction_id(const uint8_t *mad)
{
	return get_be64(mad + MAD_TRANSACTION_ID_OFFSET);
}

static int take_limits(const struct mad_agent *agent, uint32_t rmpp_bytes)
{
	struct account *account = mad_file_account(agent->file);
	int error = account_take(account, LIMIT_MAD_REQUESTS, 1);

	if (error)
		return error;
	error = account_take(account, LIMIT_MAD_BYTES, rmpp_bytes);
	if (error)
		account_give(account, LIMIT_MAD_REQUESTS, 1);
	return error;
}

static void give_limits(const struct mad_agent *agent, uint32_t rmpp_bytes)
{
	struct account *account = mad_file_account(agent->file);

	account_give(account, LIMIT_MAD_BYTES, rmpp_bytes);
	account_give(account, LIMIT_MAD_REQUESTS, 1);
}

void mad_request_destroy(struct mad_request *request)
{
	struct mad_agent *agent = request->agent;

	if (request->waits_for_answer)
		hash_table_remove(&files_of(agent)->requests,
				  transaction_id(request->message.bytes));
	if (request->is_rmpp)
		rmpp_cancel(agent->rmpp, transaction_id(request->message.bytes));
	mad_timer_release(files_of(agent), &request->timer);
	list_remove(&request->link);
	list_remove(&request->unsent_link);
	mad_file_count_request(agent->file, -1);
	give_limits(agent, request->rmpp_bytes);
	free(request);
}

/* Reports a failed request as Linux does: its header, and the header of the MAD. */
void mad_request_report(struct mad_agent *agent, const struct mad_port_header *header,
			const uint8_t *mad, int status)
{
	struct mad_port_header reported = *header;

	reported.status = (uint32_t)status;
	reported.byte_count = MAD_PORT_HEADER_BYTES + MAD_HEADER_BYTES;
	mad_file_deliver(agent->file, &reported, mad, MAD_HEADER_BYTES);
}

void mad_request_fail(struct mad_request *request, int status)
{
	mad_request_report(request->agent, &request->header, request->message.bytes, status);
	mad_request_destroy(request);
}

void mad_request_wait(struct mad_request *request, time_ns now)
{
	timer_queue_arm(&files_of(request->agent)->timers, &request->timer.timer,
			now + MILLISECONDS(request->header.timeout_ms));
}

/* The MAD is on the wire: starts to wait for the answer, if there will be one. */
void mad_request_sent(struct mad_request *request, time_ns now)
{
	if (request->waits_for_answer)
		mad_request_wait(request, now);
	else
		mad_request_destroy(request);
}

void mad_request_send(struct mad_request *request, time_ns now)
{
	struct mad_agent *agent = request->agent;

	if (list_is_empty(&agent->unsent) &&
	    mad_client_send(files_of(agent)->dispatch, &agent->client, &request->message, now)) {
		mad_request_sent(request, now);
		return;
	}
	list_append(&agent->unsent, &request->unsent_link);
	mad_agent_stall(agent);
}

static void expire_request(struct mad_timer *timer, time_ns now)
{
	struct mad_request *request = container_of(timer, struct mad_request, timer);

	if (!request->tries_left) {
		mad_request_fail(request, ETIMEDOUT);
		return;
	}
	request->tries_left--;
	mad_request_send(request, now);
}

static int make(struct mad_agent *agent, const struct mad_port_header *header,
		const struct mad_message *message, struct mad_request **ret_request)
{
	struct mad_files *files = files_of(agent);
	struct mad_request *request = calloc(1, sizeof(*request));

	if (!request || mad_timer_reserve(files) != 0) {
		free(request);
		return -ENOMEM;
	}
	*request = (struct mad_request){
		.timer = {.expire = expire_request},
		.agent = agent,
		.header = *header,
		.message = *message,
		.tries_left = header->retries,
		.waits_for_answer = header->timeout_ms && !mad_is_response(message->bytes),
	};

	int error =
		request->waits_for_answer
			? hash_table_put(&files->requests, transaction_id(message->bytes), request)
			: 0;

	if (error) {
		mad_timer_release(files, &request->timer);
		free(request);
		return error;
	}
	list_init(&request->unsent_link);
	list_append(&agent->requests, &request->link);
	mad_file_count_request(agent->file, 1);
	*ret_request = request;
	return 0;
}

int mad_request_make(struct mad_agent *agent, const struct mad_port_header *header,
		     const struct mad_message *message, uint32_t rmpp_bytes,
		     struct mad_request **ret_request)
{
	int error = take_limits(agent, rmpp_bytes);

	if (error)
		return error;
	error = make(agent, header, message, ret_request);
	if (error)
		give_limits(agent, rmpp_bytes);
	else
		(*ret_request)->rmpp_bytes = rmpp_bytes;
	return error;
}

struct mad_request *mad_request_find(const struct mad_agent *agent, const uint8_t *mad)
{
	struct mad_request *request =
		hash_table_get(&files_of(agent)->requests, transaction_id(mad));

	return request && request->agent == agent &&
			       request->message.bytes[MAD_CLASS_OFFSET] == mad[MAD_CLASS_OFFSET]
		       ? request
		       : NULL;
}
