/* SPDX-License-Identifier: Apache-2.0 */
/* Channels and ids of the calls that connect EE contexts: creation, lookup and destruction. */
#include "api/libibverbs/rd/eec_ids.h"

#include <stdlib.h>
#include <unistd.h>
#include "api/libibverbs/async_events.h"

/* Ids of all channels share one number space, because softibd knows ids by process. */
static uint32_t last_number;

struct softib_cm_channel *softib_create_cm_channel(struct ibv_context *public)
{
	const struct cm_command command = {.kind = CM_OPEN_CHANNEL};
	struct cm_answer answer;
	int descriptor = -1;

	if (!public)
		return verbs_null(-EINVAL);

	struct context_object *context = context_of(public);
	struct verbs_cm_channel *channel = calloc(1, sizeof(*channel));

	if (!channel)
		return verbs_null(-ENOMEM);

	int error = cm_session_ask_descriptor(&command, &answer, &descriptor);

	if (!error && descriptor < 0)
		error = -EMFILE;
	if (error) {
		free(channel);
		return verbs_null(error);
	}
	channel->channel.context = public;
	channel->channel.fd = descriptor;
	channel->number = answer.number;
	pthread_mutex_init(&channel->mutex, NULL);
	hash_table_init(&channel->ids);
	adapter_lock(context->adapter);
	context->object_count++;
	adapter_unlock(context->adapter);
	return &channel->channel;
}

/* Drops the connection requests that the program never read. */
static void refuse_unread(const struct verbs_cm_channel *channel)
{
	struct cm_event_message message;

	while (cm_session_peek_event(channel->channel.fd, &message) == 0 &&
	       cm_session_read_event(channel->channel.fd, &message) == 0)
		if (message.kind == CM_PROGRAM_CONNECT_REQUEST)
			cm_refuse(message.id, 0);
}

int softib_destroy_cm_channel(struct softib_cm_channel *public)
{
	if (!public)
		return verbs_result(-EINVAL);

	struct verbs_cm_channel *channel = cm_channel_of(public);
	struct context_object *context = context_of(public->context);

	pthread_mutex_lock(&channel->mutex);

	bool is_used = channel->ids.count != 0;

	pthread_mutex_unlock(&channel->mutex);
	if (is_used)
		return verbs_result(-EBUSY);
	refuse_unread(channel);
	close(public->fd);
	hash_table_release(&channel->ids);
	pthread_mutex_destroy(&channel->mutex);
	free(channel);
	context_object_gone(context);
	return 0;
}

int cm_id_make(struct softib_cm_channel *public, uint32_t number, void *id_context,
	       struct verbs_cm_id **ret_id)
{
	struct verbs_cm_channel *channel = cm_channel_of(public);
	struct verbs_cm_id *id = calloc(1, sizeof(*id));

	if (!id)
		return -ENOMEM;
	while (!number)
		number = __atomic_add_fetch(&last_number, 1, __ATOMIC_RELAXED) & ~CM_ID_OF_SOFTIBD;
	id->number = number;
	id->id.channel = public;
	id->id.id_context = id_context;
	pthread_mutex_init(&id->id.mutex, NULL);
	pthread_cond_init(&id->id.cond, NULL);
	pthread_mutex_lock(&channel->mutex);

	int error = hash_table_put(&channel->ids, number, id);

	pthread_mutex_unlock(&channel->mutex);
	if (error) {
		free(id);
		return error;
	}
	*ret_id = id;
	return 0;
}

void cm_id_forget(struct verbs_cm_id *id)
{
	struct verbs_cm_channel *channel = cm_channel_of(id->id.channel);

	pthread_mutex_lock(&channel->mutex);
	hash_table_remove(&channel->ids, id->number);

	uint32_t handed_out = id->events_handed_out;

	pthread_mutex_unlock(&channel->mutex);
	events_wait_acknowledged(&id->id.mutex, &id->id.cond, &id->id.events_completed, handed_out);
}

void cm_id_free(struct verbs_cm_id *id)
{
	pthread_mutex_destroy(&id->id.mutex);
	pthread_cond_destroy(&id->id.cond);
	free(id);
}

struct verbs_cm_id *cm_id_hold(struct verbs_cm_channel *channel, uint32_t number)
{
	pthread_mutex_lock(&channel->mutex);

	struct verbs_cm_id *id = hash_table_get(&channel->ids, number);

	if (id)
		id->events_handed_out++;
	pthread_mutex_unlock(&channel->mutex);
	return id;
}

void cm_id_acknowledge(struct verbs_cm_id *id)
{
	pthread_mutex_lock(&id->id.mutex);
	id->id.events_completed++;
	pthread_cond_signal(&id->id.cond);
	pthread_mutex_unlock(&id->id.mutex);
}

struct cm_command cm_id_command(const struct verbs_cm_id *id, enum cm_command_kind kind)
{
	return (struct cm_command){.kind = kind, .id = id->number};
}

void cm_post(struct cm_command *command)
{
	command->is_posted = 1;
	/* If softibd is gone, the next read from the channel reports it. */
	if (cm_session_post(command) != 0)
		return;
}

void cm_refuse(uint32_t number, enum cm_reject_reason reason)
{
	struct cm_command command = {.kind = CM_REJECT, .id = number, .value = reason};

	if (reason)
		cm_post(&command);
	command = (struct cm_command){.kind = CM_DESTROY, .id = number};
	cm_post(&command);
}
