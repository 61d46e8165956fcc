/* SPDX-License-Identifier: Apache-2.0 */
/* A client of general service classes that follows redirection (management 1.5, 1.6). */
#include "mgmt/sa/class_client.h"

#include <errno.h>
#include <stdlib.h>
#include "mgmt/sa/redirect_path.h"

/* A request, until its result is taken. */
struct class_exchange {
	struct list link;
	struct class_client_result result;
};

static struct class_exchange *exchange_of(struct list *link)
{
	return container_of(link, struct class_exchange, link);
}

/* The context of the transactions. The owner's function has a context of its own. */
static bool own_pkey(void *context, uint16_t pkey, uint16_t *ret_own)
{
	const struct class_client *client = context;

	*ret_own = pkey;
	return !client->own_pkey || client->own_pkey(client->context, pkey, ret_own);
}

static bool ask_path(void *context, const struct gid *gid, uint32_t number)
{
	struct class_client *client = context;

	return redirect_path_ask(&client->sa, gid, (struct mad_purpose){.detail = number});
}

int class_client_init(struct class_client *client, const struct class_client_options *options)
{
	const struct mad_transactions_options transactions = {
		.agent_number = options->agent_number,
		.timeout = options->timeout,
		.tries = options->tries,
		.own_pkey = own_pkey,
		.ask_path = ask_path,
		.context = client,
	};
	const struct sa_client_options sa = {.agent_number = options->sa_agent_number};
	int error;

	*client = (struct class_client){.own_pkey = options->own_pkey, .context = options->context};
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
	exchange->result.purpose = purpose;
	list_append(&client->exchanges, &exchange->link);
	client->exchange_count++;
	mad_transactions_send(&client->transactions, request,
			      (struct mad_purpose){.subject = exchange});
	return 0;
}

static void end(struct class_client *client, struct class_exchange *exchange,
		enum class_client_outcome outcome, const struct mad_message *message)
{
	exchange->result.outcome = outcome;
	exchange->result.message = *message;
	list_remove(&exchange->link);
	list_append(&client->results, &exchange->link);
	client->exchange_count--;
}

static void take_answer(struct class_client *client, struct class_exchange *exchange,
			const struct mad_message *message)
{
	exchange->result.place = client->transactions.place;
	end(client, exchange,
	    mad_is_redirected(message) ? CLASS_CLIENT_REDIRECTED : CLASS_CLIENT_ANSWERED, message);
}

static void take_paths(struct class_client *client)
{
	struct sa_client_result result;
	struct mad_message redirection;
	struct mad_purpose purpose;

	while (sa_client_take_result(&client->sa, &result))
		if (redirect_path_take(&client->transactions, &result, &purpose, &redirection))
			take_answer(client, purpose.subject, &redirection);
}

void class_client_receive(struct class_client *client, time_ns now,
			  const struct mad_message *message)
{
	uint64_t loop_count = client->transactions.redirect_loop_count;
	struct class_exchange *exchange;
	struct mad_purpose purpose;

	if (message->bytes[MAD_CLASS_OFFSET] == MAD_CLASS_SUBNET_ADMINISTRATION) {
		sa_client_receive(&client->sa, now, message);
		take_paths(client);
		return;
	}
	if (!mad_transactions_receive(&client->transactions, message, &purpose))
		return;
	exchange = purpose.subject;
	exchange->result.is_loop = client->transactions.redirect_loop_count != loop_count;
	take_answer(client, exchange, message);
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
