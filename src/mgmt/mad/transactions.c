/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of a manager that wait for their responses (management 1.5). */
#include "mgmt/mad/transactions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "wire/class_port_info.h"

enum {
	ATTRIBUTE_ID_OFFSET = 16,
	PLACE_BITS = 10,
	SEQUENCE_BITS = 32 - PLACE_BITS,
	COPIES_MAX = 8,		  /* of one request at a time */
	COPIES_ON_WIRE_MAX = 128, /* of all requests together */
};

/* Requests are not repeated sooner than this: the host of the responder may be descheduled. */
#define EAGER_DISTANCE_MIN MILLISECONDS(20)

static_assert(1 << PLACE_BITS == MAD_REQUESTS_MAX,
	      "a place fits into its part of the transaction id");

struct mad_transaction {
	struct list link;
	struct mad_message request;
	struct mad_purpose purpose;
	uint64_t transaction_id; /* 0: this entry is free */
	time_ns deadline;
	time_ns sent_at;    /* the last time */
	time_ns give_up_at; /* at any pace but the steady one */
	time_ns timeout;
	enum mad_pace pace;
	unsigned sent_count;  /* tries so far */
	unsigned copies_left; /* of the present try, still to be sent */
	unsigned tries;
	unsigned tries_left;
	unsigned redirects_left;
	uint16_t redirected_by[MAD_REDIRECTS_MAX]; /* LIDs, in order */
	bool awaits_path;
};

static struct mad_transaction *transaction_of(struct list *link)
{
	return container_of(link, struct mad_transaction, link);
}

int mad_transactions_init(struct mad_transactions *transactions,
			  const struct mad_transactions_options *options)
{
	*transactions = (struct mad_transactions){.options = *options};

	struct mad_transactions_options *own = &transactions->options;

	if (!own->requests_max)
		own->requests_max = MAD_REQUESTS_DEFAULT;
	if (own->requests_max > MAD_REQUESTS_MAX)
		return -EINVAL;
	if (!own->tries)
		own->tries = MAD_TRIES_DEFAULT;
	if (!own->timeout)
		own->timeout = MAD_TIMEOUT_DEFAULT;
	transactions->places = calloc(own->requests_max, sizeof(*transactions->places));
	if (!transactions->places)
		return -ENOMEM;
	list_init(&transactions->free);
	list_init(&transactions->to_send);
	list_init(&transactions->on_wire);
	list_init(&transactions->pathless);
	list_init(&transactions->failed);
	for (unsigned i = 0; i < own->requests_max; i++)
		list_append(&transactions->free, &transactions->places[i].link);
	return 0;
}

void mad_transactions_release(struct mad_transactions *transactions)
{
	free(transactions->places);
	free(transactions->redirections);
	transactions->places = NULL;
	transactions->redirections = NULL;
}

bool mad_transactions_has_room(const struct mad_transactions *transactions)
{
	return !list_is_empty(&transactions->free);
}

bool mad_transactions_is_idle(const struct mad_transactions *transactions)
{
	return transactions->busy_count == 0;
}

/* The index of the entry is part of the id, so that a response finds its entry at once. The
 * sequence number keeps late responses to former users of the entry out. */
static uint64_t make_transaction_id(struct mad_transactions *transactions,
				    const struct mad_transaction *transaction)
{
	uint32_t place = (uint32_t)(transaction - transactions->places);

	transactions->sequence = (transactions->sequence + 1) & ((1u << SEQUENCE_BITS) - 1);
	if (!transactions->sequence) /* Transaction id 0 is legal but avoided (management 1.5). */
		transactions->sequence = 1;
	return (uint64_t)transactions->options.agent_number << 32 |
	       transactions->sequence << PLACE_BITS | place;
}

void mad_transactions_send(struct mad_transactions *transactions, const struct mad_message *request,
			   struct mad_purpose purpose)
{
	mad_transactions_send_with_retries(transactions, request, purpose, (struct mad_retries){0});
}

void mad_transactions_send_with_retries(struct mad_transactions *transactions,
					const struct mad_message *request,
					struct mad_purpose purpose, struct mad_retries retries)
{
	const struct mad_transactions_options *options = &transactions->options;
	struct list *link = list_pop(&transactions->free);

	assert(link);

	struct mad_transaction *transaction = transaction_of(link);

	transaction->request = *request;
	transaction->purpose = purpose;
	transaction->timeout = retries.timeout ? retries.timeout : options->timeout;
	transaction->tries = retries.tries ? retries.tries : options->tries;
	transaction->tries_left = transaction->tries;
	transaction->pace = transactions->pace;
	transaction->sent_count = 0;
	transaction->copies_left = 0;
	transaction->redirects_left = MAD_REDIRECTS_MAX;
	transaction->awaits_path = false;
	transaction->transaction_id = make_transaction_id(transactions, transaction);
	put_be64(transaction->request.bytes + MAD_TRANSACTION_ID_OFFSET,
		 transaction->transaction_id);
	transactions->busy_count++;
	list_append(&transactions->to_send, &transaction->link);
}

static void finish(struct mad_transactions *transactions, struct mad_transaction *transaction)
{
	transaction->awaits_path = false;
	transaction->transaction_id = 0;
	list_remove(&transaction->link);
	/* At the end of the list, so that an entry stays unused as long as possible. */
	list_append(&transactions->free, &transaction->link);
	transactions->busy_count--;
}

/* NULL: the message answers no request that is under way. */
static struct mad_transaction *find(struct mad_transactions *transactions,
				    const struct mad_message *message)
{
	struct mad_header header;

	if (!mad_header_decode(message->bytes, sizeof(message->bytes), &header))
		return NULL;
	if (!(header.method & MAD_RESPONSE) && !mad_is_baseboard_answer(message->bytes))
		return NULL;
	if (!header.transaction_id)
		return NULL;

	uint32_t place = (uint32_t)header.transaction_id & ((1u << PLACE_BITS) - 1);

	if (place >= transactions->options.requests_max)
		return NULL;

	struct mad_transaction *transaction = &transactions->places[place];

	if (transaction->transaction_id != header.transaction_id ||
	    transaction->request.bytes[1] != header.management_class ||
	    get_be16(transaction->request.bytes + ATTRIBUTE_ID_OFFSET) != header.attribute_id)
		return NULL;
	return transaction;
}

/* false: it names a partition that the port is not in. */
static bool read_redirection(const struct mad_transactions_options *options,
			     const struct mad_message *message, struct class_port_info *ret_info)
{
	mad_redirect_read(message, ret_info);
	return !(ret_info->redirect_pkey & 0x7fff) || !options->own_pkey ||
	       options->own_pkey(options->context, ret_info->redirect_pkey,
				 &ret_info->redirect_pkey);
}

static bool has_room_for_redirections(struct mad_transactions *transactions)
{
	if (!transactions->redirections)
		transactions->redirections = calloc(transactions->options.requests_max,
						    sizeof(*transactions->redirections));
	return transactions->redirections;
}

enum place_search { PLACE_FOUND, PLACE_ASKED_FOR, PLACE_UNREACHABLE };

/* Changes the address to the place that the redirection names. */
static enum place_search find_place(struct mad_transactions *transactions, uint32_t number,
				    const struct mad_message *message, struct mad_address *address)
{
	const struct mad_transactions_options *options = &transactions->options;
	struct class_port_info info;
	struct mad_path path;
	struct gid gid;

	if (!read_redirection(options, message, &info))
		return PLACE_UNREACHABLE;
	if (!mad_redirect_needs_path(&info))
		return mad_redirect_apply(&info, address) ? PLACE_FOUND : PLACE_UNREACHABLE;
	gid = gid_from(info.redirect_gid_prefix, info.redirect_gid_guid);
	if (options->find_path && options->find_path(options->context, &gid, &path) &&
	    mad_redirect_apply_path(&info, &path, address))
		return PLACE_FOUND;
	if (options->ask_path && has_room_for_redirections(transactions) &&
	    options->ask_path(options->context, &gid, number))
		return PLACE_ASKED_FOR;
	return PLACE_UNREACHABLE;
}

/* A second copy of a redirection that the request has followed. If the present place redirects to a
 * former one, that is none: the response comes from the present place. */
static bool is_repeated_redirection(const struct mad_transaction *transaction,
				    const struct mad_message *message)
{
	if (message->address.lid == transaction->request.address.lid)
		return false;
	for (unsigned i = 0; i < MAD_REDIRECTS_MAX - transaction->redirects_left; i++) {
		if (transaction->redirected_by[i] == message->address.lid)
			return true;
	}
	return false;
}

static void send_to_place(struct mad_transactions *transactions,
			  struct mad_transaction *transaction, const struct mad_address *place)
{
	transaction->request.address = *place;
	transaction->tries_left = transaction->tries;
	transaction->sent_count = 0;
	transaction->copies_left = 0;
	transactions->redirect_count++;
	list_remove(&transaction->link);
	list_append(&transactions->to_send, &transaction->link);
}

static uint32_t path_number(const struct mad_transaction *transaction)
{
	return (uint32_t)transaction->transaction_id;
}

static struct mad_message *redirection_of(const struct mad_transactions *transactions,
					  const struct mad_transaction *transaction)
{
	return &transactions->redirections[transaction - transactions->places];
}

static void await_path(struct mad_transactions *transactions, struct mad_transaction *transaction,
		       const struct mad_message *redirection)
{
	transaction->awaits_path = true;
	*redirection_of(transactions, transaction) = *redirection;
	list_remove(&transaction->link);
	list_append(&transactions->pathless, &transaction->link);
}

/* Sends the request to the place that the response names, once its path is known. If that place
 * can't be reached, or after too many redirections, the requester gets the response. */
static bool follow_redirection(struct mad_transactions *transactions,
			       struct mad_transaction *transaction,
			       const struct mad_message *message)
{
	struct mad_address place = transaction->request.address;
	enum place_search search;

	if (!mad_is_redirected(message))
		return false;
	if (transaction->awaits_path || is_repeated_redirection(transaction, message))
		return true;
	if (!transaction->redirects_left) {
		transactions->redirect_loop_count++;
		return false;
	}
	search = find_place(transactions, path_number(transaction), message, &place);
	if (search == PLACE_UNREACHABLE)
		return false;
	transaction->redirected_by[MAD_REDIRECTS_MAX - transaction->redirects_left] =
		message->address.lid;
	transaction->redirects_left--;
	if (search == PLACE_FOUND)
		send_to_place(transactions, transaction, &place);
	else
		await_path(transactions, transaction, message);
	return true;
}

/* A redirecting response has the attribute ClassPortInfo, whatever the request asked for. */
static struct mad_transaction *find_redirected(struct mad_transactions *transactions,
					       const struct mad_message *message)
{
	struct mad_message original = *message;
	uint32_t place =
		get_be32(message->bytes + MAD_TRANSACTION_ID_OFFSET + 4) & ((1u << PLACE_BITS) - 1);

	if (!mad_is_redirected(message) || place >= transactions->options.requests_max)
		return NULL;
	memcpy(original.bytes + ATTRIBUTE_ID_OFFSET,
	       transactions->places[place].request.bytes + ATTRIBUTE_ID_OFFSET, 2);
	return find(transactions, &original);
}

/* The responder discarded the request and may take the next try (management 1.4). */
static bool waits_while_busy(const struct mad_transaction *transaction,
			     const struct mad_message *message)
{
	return get_be16(message->bytes + MAD_STATUS_OFFSET) == MAD_STATUS_BUSY &&
	       transaction->pace == MAD_PACE_STEADY && transaction->tries_left > 0;
}

/* NULL: not a response, or one after which the request goes on: redirected or later. */
static struct mad_transaction *find_answered(struct mad_transactions *transactions,
					     const struct mad_message *message)
{
	struct mad_transaction *transaction = find(transactions, message);

	if (!transaction)
		transaction = find_redirected(transactions, message);
	if (!transaction || follow_redirection(transactions, transaction, message) ||
	    waits_while_busy(transaction, message))
		return NULL;
	return transaction;
}

static void end_with_answer(struct mad_transactions *transactions,
			    struct mad_transaction *transaction, struct mad_purpose *ret_purpose)
{
	*ret_purpose = transaction->purpose;
	transactions->place = transaction->request.address;
	finish(transactions, transaction);
}

bool mad_transactions_receive(struct mad_transactions *transactions,
			      const struct mad_message *message, struct mad_purpose *ret_purpose)
{
	struct mad_transaction *transaction = find_answered(transactions, message);

	if (!transaction)
		return false;
	end_with_answer(transactions, transaction, ret_purpose);
	return true;
}

bool mad_transactions_receive_timed(struct mad_transactions *transactions, time_ns now,
				    const struct mad_message *message,
				    struct mad_purpose *ret_purpose)
{
	struct mad_transaction *transaction = find_answered(transactions, message);

	if (!transaction)
		return false;
	/* It is unknown which of several tries was answered, so such a response does not tell the
	 * time. */
	if (transaction->sent_count == 1)
		answer_time_learn(&transactions->answer_time, now - transaction->sent_at);
	else
		transactions->repeated_answer_count++;
	end_with_answer(transactions, transaction, ret_purpose);
	return true;
}

bool mad_transactions_take_path(struct mad_transactions *transactions, uint32_t number,
				const struct mad_path *path, struct mad_purpose *ret_purpose,
				struct mad_message *ret_redirection)
{
	struct mad_transaction *transaction =
		&transactions->places[number & ((1u << PLACE_BITS) - 1)];
	const struct mad_message *redirection;
	struct mad_address place;
	struct class_port_info info;

	/* The request may have been cancelled in the meantime. */
	if ((number & ((1u << PLACE_BITS) - 1)) >= transactions->options.requests_max ||
	    !transaction->awaits_path || path_number(transaction) != number)
		return false;
	transaction->awaits_path = false;
	redirection = redirection_of(transactions, transaction);
	place = transaction->request.address;
	if (path && read_redirection(&transactions->options, redirection, &info) &&
	    mad_redirect_apply_path(&info, path, &place)) {
		send_to_place(transactions, transaction, &place);
		return false;
	}
	*ret_redirection = *redirection;
	end_with_answer(transactions, transaction, ret_purpose);
	return true;
}

/* Inserts the transaction in the order of deadlines. Most have the same timeout, so the place is
 * usually at the end. */
static void put_on_wire(struct mad_transactions *transactions, struct mad_transaction *transaction)
{
	struct list *before = transactions->on_wire.previous;

	while (before != &transactions->on_wire &&
	       transaction_of(before)->deadline > transaction->deadline)
		before = before->previous;
	list_prepend(before, &transaction->link);
}

void mad_transactions_hold(struct mad_transactions *transactions,
			   const struct mad_message *part_of_answer, time_ns until)
{
	struct mad_transaction *transaction = find(transactions, part_of_answer);

	if (!transaction || transaction->awaits_path)
		return;
	list_remove(&transaction->link);
	transaction->deadline = until;
	put_on_wire(transactions, transaction);
}

static bool has_another_try(const struct mad_transaction *transaction, time_ns now)
{
	return transaction->pace == MAD_PACE_STEADY ? transaction->tries_left > 0
						    : now < transaction->give_up_at;
}

static void expire(struct mad_transactions *transactions, time_ns now)
{
	for (struct list *link; (link = list_first(&transactions->on_wire));) {
		struct mad_transaction *transaction = transaction_of(link);

		if (transaction->deadline > now)
			return;
		list_remove(link);
		if (has_another_try(transaction, now)) {
			transactions->retry_count++;
			list_append(&transactions->to_send, link);
		} else {
			list_append(&transactions->failed, link);
		}
	}
}

/* The time from this try to the next one. */
static time_ns repetition_distance(const struct mad_transactions *transactions,
				   const struct mad_transaction *transaction)
{
	enum { DOUBLINGS_MAX = 8, INSISTENT_TRIES_PER_TIMEOUT = 16 };
	time_ns distance = answer_time_bound(&transactions->answer_time);
	unsigned doublings =
		transaction->sent_count < DOUBLINGS_MAX ? transaction->sent_count : DOUBLINGS_MAX;

	switch (transaction->pace) {
	case MAD_PACE_STEADY:
		break;
	case MAD_PACE_EAGER:
		if (distance == 0)
			break;
		distance = distance > EAGER_DISTANCE_MIN ? distance : EAGER_DISTANCE_MIN;
		return time_earlier(distance << doublings, transaction->timeout);
	case MAD_PACE_INSISTENT:
		return transaction->timeout / INSISTENT_TRIES_PER_TIMEOUT;
	}
	return transaction->timeout;
}

static unsigned copies_of(const struct mad_transactions *transactions,
			  const struct mad_transaction *transaction)
{
	unsigned share = COPIES_ON_WIRE_MAX / transactions->busy_count;

	/* The first copy may be enough. */
	if (transaction->pace != MAD_PACE_INSISTENT || transaction->sent_count == 0 || share == 0)
		return 1;
	return share < COPIES_MAX ? share : COPIES_MAX;
}

static void begin_try(struct mad_transactions *transactions, struct mad_transaction *transaction,
		      time_ns now)
{
	if (transaction->sent_count == 0)
		transaction->give_up_at = now + transaction->tries * transaction->timeout;
	transaction->deadline = now + repetition_distance(transactions, transaction);
	if (transaction->pace != MAD_PACE_STEADY)
		transaction->deadline =
			time_earlier(transaction->deadline, transaction->give_up_at);
	transaction->copies_left = copies_of(transactions, transaction);
	transaction->sent_at = now;
	transaction->sent_count++;
	if (transaction->tries_left)
		transaction->tries_left--;
}

unsigned mad_transactions_transmit(struct mad_transactions *transactions, time_ns now,
				   unsigned messages_max, struct mad_message ret_messages[])
{
	unsigned message_count = 0;

	expire(transactions, now);
	while (message_count < messages_max) {
		struct list *link = list_first(&transactions->to_send);

		if (!link)
			break;

		struct mad_transaction *transaction = transaction_of(link);

		if (!transaction->copies_left)
			begin_try(transactions, transaction, now);
		ret_messages[message_count++] = transaction->request;
		if (--transaction->copies_left)
			continue;
		list_remove(link);
		put_on_wire(transactions, transaction);
	}
	return message_count;
}

bool mad_transactions_take_failed(struct mad_transactions *transactions,
				  struct mad_purpose *ret_purpose, struct mad_message *ret_request)
{
	struct list *link = list_first(&transactions->failed);

	if (!link)
		return false;
	*ret_purpose = transaction_of(link)->purpose;
	*ret_request = transaction_of(link)->request;
	finish(transactions, transaction_of(link));
	return true;
}

time_ns mad_transactions_deadline(const struct mad_transactions *transactions)
{
	if (!list_is_empty(&transactions->to_send) || !list_is_empty(&transactions->failed))
		return 0;

	struct list *link = list_first(&transactions->on_wire);

	return link ? transaction_of(link)->deadline : TIME_NEVER;
}

void mad_transactions_cancel_all(struct mad_transactions *transactions)
{
	for (unsigned i = 0; i < transactions->options.requests_max; i++) {
		if (transactions->places[i].transaction_id)
			finish(transactions, &transactions->places[i]);
	}
}
