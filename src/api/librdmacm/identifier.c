/* SPDX-License-Identifier: Apache-2.0 */
/* Communication ids: creation, lookup and destruction. */
#include "api/librdmacm/identifier.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash_table.h"

/* All ids of this process by number. After a fork they belong to the parent. */
static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct hash_table table;
static uint32_t last_number;

int rdma_result(int error)
{
	if (!error)
		return 0;
	errno = -error;
	return -1;
}

void identifier_command(const struct identifier *identifier, enum cm_command_kind kind,
			struct cm_command *ret_command)
{
	memset(ret_command, 0, offsetof(struct cm_command, private_data));
	ret_command->kind = kind;
	ret_command->id = identifier->number;
}

/* Marks the command as the first one of this id, from which softibd creates the id. The
 * identifier's mutex is held until softibd has answered, so that no other thread's command comes
 * first. */
static void announce(struct identifier *identifier, struct cm_command *command)
{
	command->is_new = 1;
	command->channel = event_channel_of(identifier->public.channel)->number;
	command->port_space = identifier->public.ps;
	command->new_qp_type = (uint8_t)queue_pair_kind(identifier->public.qp_type);
}

int identifier_ask(struct identifier *identifier, struct cm_command *command,
		   struct cm_answer *ret_answer)
{
	identifier->quiet_until = 0;
	if (__atomic_load_n(&identifier->is_announced, __ATOMIC_ACQUIRE))
		return cm_session_ask(command, ret_answer);
	pthread_mutex_lock(&identifier->mutex);
	if (!identifier->is_announced)
		announce(identifier, command);
	ret_answer->is_id_known = 0;

	int error = cm_session_ask(command, ret_answer);

	if (ret_answer->is_id_known)
		__atomic_store_n(&identifier->is_announced, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&identifier->mutex);
	return error;
}

int identifier_post(struct identifier *identifier, struct cm_command *command)
{
	identifier->quiet_until = 0;
	command->is_posted = 1;
	if (__atomic_load_n(&identifier->is_announced, __ATOMIC_ACQUIRE))
		return cm_session_post(command);
	pthread_mutex_lock(&identifier->mutex);
	if (!identifier->is_announced)
		announce(identifier, command);

	int error = cm_session_post(command);

	if (!error)
		__atomic_store_n(&identifier->is_announced, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&identifier->mutex);
	return error;
}

static uint32_t next_number(void)
{
	do {
		last_number = last_number + 1 < CM_ID_OF_SOFTIBD ? last_number + 1 : 1;
	} while (hash_table_get(&table, last_number));
	return last_number;
}

int identifier_adopt(struct rdma_event_channel *channel, void *context,
		     enum rdma_port_space port_space, enum ibv_qp_type qp_type, uint32_t number,
		     struct identifier **ret_identifier)
{
	struct identifier *identifier = calloc(1, sizeof(*identifier));

	if (!identifier)
		return -ENOMEM;
	identifier->public.channel = channel;
	identifier->public.context = context;
	identifier->public.ps = port_space;
	identifier->public.qp_type = qp_type;
	identifier->initiator_depth = RDMA_MAX_INIT_DEPTH;
	identifier->responder_resources = RDMA_MAX_RESP_RES;
	pthread_mutex_init(&identifier->mutex, NULL);
	pthread_cond_init(&identifier->events.acknowledged, NULL);
	list_init(&identifier->memberships);
	identifier->is_announced = number != 0;
	pthread_mutex_lock(&table_mutex);
	/* The table may still hold this number from an earlier softibd, or from the parent of a
	 * fork. */
	if (number)
		hash_table_remove(&table, number);
	identifier->number = number ? number : next_number();

	int error = hash_table_put(&table, identifier->number, identifier);

	pthread_mutex_unlock(&table_mutex);
	if (error) {
		free(identifier);
		return error;
	}
	*ret_identifier = identifier;
	return 0;
}

struct identifier *identifier_hold(uint32_t number)
{
	pthread_mutex_lock(&table_mutex);

	struct identifier *identifier = hash_table_get(&table, number);

	if (identifier) {
		pthread_mutex_lock(&identifier->mutex);
		identifier->events.held_count++;
		pthread_mutex_unlock(&identifier->mutex);
	}
	pthread_mutex_unlock(&table_mutex);
	return identifier;
}

unsigned identifier_count(void)
{
	pthread_mutex_lock(&table_mutex);

	unsigned count = table.count;

	pthread_mutex_unlock(&table_mutex);
	return count;
}

void identifier_release(struct identifier *identifier)
{
	pthread_mutex_lock(&identifier->mutex);
	identifier->events.held_count--;
	pthread_cond_broadcast(&identifier->events.acknowledged);
	pthread_mutex_unlock(&identifier->mutex);
}

int identifier_create(struct rdma_event_channel *channel, void *context,
		      enum rdma_port_space port_space, enum ibv_qp_type qp_type,
		      struct identifier **ret_identifier)
{
	bool is_synchronous = !channel;

	if (port_space != RDMA_PS_IPOIB && port_space != RDMA_PS_TCP && port_space != RDMA_PS_UDP &&
	    port_space != RDMA_PS_IB)
		return -EINVAL;
	if (is_synchronous)
		channel = rdma_create_event_channel();
	if (!channel)
		return -errno;

	int error = identifier_adopt(channel, context, port_space, qp_type, 0, ret_identifier);

	if (error && is_synchronous)
		rdma_destroy_event_channel(channel);
	if (!error) {
		(*ret_identifier)->is_synchronous = is_synchronous;
		(*ret_identifier)->phase = PHASE_NEW;
		(*ret_identifier)->quiet_until = UINT64_MAX;
	}
	return error;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	enum ibv_qp_type qp_type =
		ps == RDMA_PS_IPOIB || ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
	struct identifier *identifier;
	int error = identifier_create(channel, context, ps, qp_type, &identifier);

	if (!error)
		*id = &identifier->public;
	return rdma_result(error);
}

/* Removes the unread events of a destroyed id from its channel, so that the channel is readable
 * only while it has an event. */
static void drop_events(struct identifier *identifier)
{
	const struct event_channel *channel = event_channel_of(identifier->public.channel);
	struct cm_command command;

	identifier_command(identifier, CM_DROP_EVENTS, &command);
	command.channel = channel->number;
	/* If softibd is gone, so are the events. */
	if (event_channel_take_back(channel, &command) != 0)
		errno = 0;
}

static void wait_for_acknowledgements(struct identifier *identifier)
{
	pthread_mutex_lock(&identifier->mutex);
	while (identifier->events.held_count)
		pthread_cond_wait(&identifier->events.acknowledged, &identifier->mutex);
	pthread_mutex_unlock(&identifier->mutex);
}

static void free_identifier(struct identifier *identifier)
{
	memberships_forget(identifier);
	if (identifier->is_synchronous)
		rdma_destroy_event_channel(identifier->public.channel);
	rdma_freeaddrinfo(identifier->found_addresses);
	free(identifier->endpoint.request_qp);
	free(identifier->endpoint.connect_data);
	pthread_cond_destroy(&identifier->events.acknowledged);
	pthread_mutex_destroy(&identifier->mutex);
	free(identifier);
}

/* Destroys the id at softibd and returns how many of its events are unread. Does not wait for the
 * answer if the id can have no unread events, or if they go with the id's own channel. */
static int end_identifier(struct identifier *identifier, uint32_t *ret_unread_count)
{
	struct cm_command command;
	struct cm_answer answer;

	*ret_unread_count = 0;
	if (!identifier->is_announced)
		return 0;
	identifier_command(identifier, CM_DESTROY, &command);
	if (identifier->is_synchronous ||
	    (!identifier->writes_events && cm_session_is_before(identifier->quiet_until)))
		return identifier_post(identifier, &command);

	int error = identifier_ask(identifier, &command, &answer);

	if (!error)
		*ret_unread_count = answer.number - identifier->events.read_count;
	return error;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	struct identifier *identifier = identifier_of(id);
	uint32_t unread_count;
	int error = end_identifier(identifier, &unread_count);

	/* If softibd is gone, or the id belongs to the parent of a fork, the local part is still
	 * freed. */
	if (error && error != -ENODEV && error != -ENOENT)
		return rdma_result(error);
	pthread_mutex_lock(&table_mutex);
	if (hash_table_get(&table, identifier->number) == identifier)
		hash_table_remove(&table, identifier->number);
	pthread_mutex_unlock(&table_mutex);
	if (id->event)
		rdma_ack_cm_event(id->event);
	if (unread_count)
		drop_events(identifier);
	wait_for_acknowledgements(identifier);
	free_identifier(identifier);
	return 0;
}

int identifier_complete(struct identifier *identifier)
{
	struct rdma_cm_id *id = &identifier->public;

	if (!identifier->is_synchronous)
		return 0;
	if (id->event) {
		rdma_ack_cm_event(id->event);
		id->event = NULL;
	}

	int result = rdma_get_cm_event(id->channel, &id->event);

	if (result || !id->event->status)
		return result;
	if (id->event->event == RDMA_CM_EVENT_REJECTED)
		errno = ECONNREFUSED;
	else
		errno = id->event->status < 0 ? -id->event->status : id->event->status;
	return -1;
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
	struct identifier *identifier = identifier_of(id);
	struct rdma_event_channel *old = id->channel;
	bool was_synchronous = identifier->is_synchronous;
	bool is_synchronous = !channel;
	struct cm_command command;

	/* A synchronous id has its own channel already. */
	if (is_synchronous && was_synchronous)
		return rdma_result(-EINVAL);
	if (is_synchronous)
		channel = rdma_create_event_channel();
	if (!channel)
		return -1;
	identifier_command(identifier, CM_MIGRATE, &command);
	command.channel = event_channel_of(channel)->number;
	command.value = identifier->events.read_count;
	/* Set before softibd switches channels: a thread that gets an event from the new channel
	 * reads id->channel. */
	__atomic_store_n(&id->channel, channel, __ATOMIC_RELEASE);
	identifier->quiet_until = 0;

	/* softibd learns the channel of an id with the id's first command. */
	int error = identifier->is_announced
			    ? event_channel_take_back(event_channel_of(old), &command)
			    : 0;

	if (error) {
		id->channel = old;
		if (is_synchronous)
			rdma_destroy_event_channel(channel);
		return rdma_result(error);
	}
	identifier->is_synchronous = is_synchronous;
	if (was_synchronous) {
		if (id->event)
			rdma_ack_cm_event(id->event);
		id->event = NULL;
		rdma_destroy_event_channel(old);
	}
	wait_for_acknowledgements(identifier);
	return 0;
}
