/* SPDX-License-Identifier: Apache-2.0 */
/* A client of general service classes that follows redirection (management 1.5, 1.6). */
#include "mgmt/sa/class_client.h"

#include <errno.h>
#include <stdlib.h>
#include "wire/class_port_info.h"
#include "wire/pkey.h"

/* A request, until its result is taken. */
struct class_exchange {
	struct list link;
	struct mad_message request; /* with the address where it was last sent to */
	struct class_client_result result;
	unsigned redirects_left;
	struct class_port_info redirect; /* to a GID whose path is asked for */
};

static struct class_exchange *exchange_of(struct list *link)
{
	return container_of(link, struct class_exchange, link);
}

int class_client_init(struct class_client *client, const struct class_client_options *options)
{
	const struct mad_transactions_options transactions = {
		.agent_number = options->agent_number,
		.timeout = options->timeout,
		.tries = options->tries,
		.own_pkey = options->own_pkey,
		.context = options->context,
	};
	const struct sa_client_options sa = {.agent_number = options->sa_agent_number};
	int error;

	*client = (struct class_client){0};
	list_init(&client->exchanges);
	list_init(&client->results);
	error = mad_transactions_init(&client->transactions, &transactions);
	if (error)
		return error;
	error = sa_client_init(&client->sa, &sa);
	if (error)
		mad_transactions_release(&client->transactions);
	return error;
}

static void free_all(struct list *exchanges)
{
	for (struct list *link; (link = list_pop(exchanges));)
		free(exchange_of(link));
}

void class_client_release(struct class_client *client)
{
	free_all(&client->exchanges);
	free_all(&client->results);
	sa_client_release(&client->sa);
	mad_transactions_release(&client->transactions);
}

static void send(struct class_client *client, struct class_exchange *exchange)
{
	mad_transactions_send(&client->transactions, &exchange->request,
			      (struct mad_purpose){.subject = exchange});
}

int class_client_ask(struct class_client *client, const struct mad_message *request,
		     struct mad_purpose purpose)
{
	struct class_exchange *exchange;

	assert(request->bytes[MAD_CLASS_OFFSET] != MAD_CLASS_SUBNET_ADMINISTRATION);
	/* So there is always room for a request that is sent again. */
	if (client->exchange_count == client->transactions.options.requests_max)
		return -ENOBUFS;
	exchange = calloc(1, sizeof(*exchange));
	if (!exchange)
		return -ENOMEM;
	exchange->request = *request;
	exchange->result.purpose = purpose;
	exchange->redirects_left = MAD_REDIRECTS_MAX;
	list_append(&client->exchanges, &exchange->link);
	client->exchange_count++;
	send(client, exchange);
	return 0;
}

/* mad_transactions gives a redirection to a LID back only after too many of them, or if the LID is
 * none. */
static bool is_loop(const struct class_exchange *exchange, const struct mad_message *redirection)
{
	struct class_port_info info;

	mad_redirect_read(redirection, &info);
	return !exchange->redirects_left || lid_is_unicast(info.redirect_lid);
}

static void end(struct class_client *client, struct class_exchange *exchange,
		enum class_client_outcome outcome, const struct mad_message *message)
{
	exchange->result.outcome = outcome;
	exchange->result.is_loop = outcome == CLASS_CLIENT_REDIRECTED && is_loop(exchange, message);
	exchange->result.message = *message;
	list_remove(&exchange->link);
	list_append(&client->results, &exchange->link);
	client->exchange_count--;
}

/* false: the redirection does not name a GID alone, or the client can't follow. */
static bool ask_for_path(struct class_client *client, struct class_exchange *exchange,
			 const struct mad_message *message)
{
	const struct gid *own = &client->sa.own_gid;
	struct path_record wanted = {.sgid_prefix = gid_prefix(own), .sgid_guid = gid_guid(own)};
	const struct mad_transactions_options *options = &client->transactions.options;
	uint16_t *pkey = &exchange->redirect.redirect_pkey;

	mad_redirect_read(message, &exchange->redirect);
	if (!wanted.sgid_guid || !exchange->redirects_left ||
	    !mad_redirect_needs_path(&exchange->redirect))
		return false;
	if (*pkey & 0x7fff && options->own_pkey &&
	    !options->own_pkey(options->context, *pkey, pkey))
		return false;
	wanted.dgid_prefix = exchange->redirect.redirect_gid_prefix;
	wanted.dgid_guid = exchange->redirect.redirect_gid_guid;
	exchange->redirects_left--;
	/* The redirection is the result if there is no path. */
	exchange->result.message = *message;
	return sa_client_query_path(&client->sa, &wanted,
				    SA_COMPONENT(PR_SGID) | SA_COMPONENT(PR_DGID),
				    (struct mad_purpose){.subject = exchange}) == 0;
}

static void take_paths(struct class_client *client)
{
	struct sa_client_result result;
	struct path_record record;

	while (sa_client_take_result(&client->sa, &result)) {
		struct class_exchange *exchange = result.purpose.subject;

		path_record_decode(result.data, &record);

		const struct mad_path path = {
			.lid = record.dlid, .sl = record.sl, .hop_limit = record.hop_limit};

		if (result.outcome == SA_CLIENT_ANSWERED &&
		    mad_redirect_apply_path(&exchange->redirect, &path,
					    &exchange->request.address)) {
			send(client, exchange);
		} else {
			const struct mad_message redirection = exchange->result.message;

			end(client, exchange, CLASS_CLIENT_REDIRECTED, &redirection);
		}
	}
}

void class_client_receive(struct class_client *client, time_ns now,
			  const struct mad_message *message)
{
	struct mad_purpose purpose;

	if (message->bytes[MAD_CLASS_OFFSET] == MAD_CLASS_SUBNET_ADMINISTRATION) {
		sa_client_receive(&client->sa, now, message);
		take_paths(client);
		return;
	}
	if (!mad_transactions_receive(&client->transactions, message, &purpose))
		return;
	if (!mad_is_redirected(message))
		end(client, purpose.subject, CLASS_CLIENT_ANSWERED, message);
	else if (!ask_for_path(client, purpose.subject, message))
		end(client, purpose.subject, CLASS_CLIENT_REDIRECTED, message);
}

unsigned class_client_transmit(struct class_client *client, time_ns now, unsigned messages_max,
			       struct mad_message ret_messages[])
{
	unsigned count = sa_client_transmit(&client->sa, now, messages_max, ret_messages);
	struct mad_message request;
	struct mad_purpose purpose;

	take_paths(client);
	count += mad_transactions_transmit(&client->transactions, now, messages_max - count,
					   ret_messages + count);
	while (mad_transactions_take_failed(&client->transactions, &purpose, &request))
		end(client, purpose.subject, CLASS_CLIENT_TIMED_OUT, &request);
	return count;
}

time_ns class_client_deadline(const struct class_client *client)
{
	if (!list_is_empty(&client->results))
		return 0;
	return time_earlier(sa_client_deadline(&client->sa),
			    mad_transactions_deadline(&client->transactions));
}

bool class_client_take_result(struct class_client *client, struct class_client_result *ret_result)
{
	struct list *link = list_pop(&client->results);

	if (!link)
		return false;
	*ret_result = exchange_of(link)->result;
	free(exchange_of(link));
	return true;
}
