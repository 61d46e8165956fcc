/* SPDX-License-Identifier: Apache-2.0 */
/* Communication ids: making, finding and ending them, and what they show of their route. */
#include "api/librdmacm/identifier.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "base/hash_table.h"

/* All ids of this process by softibd's number, and who owned them: after a fork they are the
 * parent's. */
static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct hash_table table;

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

int identifier_adopt(struct rdma_event_channel *channel, void *context,
		     enum rdma_port_space port_space, enum ibv_qp_type qp_type, uint32_t number,
		     struct identifier **ret_identifier)
{
	struct identifier *identifier = calloc(1, sizeof(*identifier));

	if (!identifier)
		return -ENOMEM;
	identifier->number = number;
	identifier->public.channel = channel;
	identifier->public.context = context;
	identifier->public.ps = port_space;
	identifier->public.qp_type = qp_type;
	identifier->initiator_depth = RDMA_MAX_INIT_DEPTH;
	identifier->responder_resources = RDMA_MAX_RESP_RES;
	pthread_mutex_init(&identifier->mutex, NULL);
	pthread_cond_init(&identifier->acknowledged, NULL);
	list_init(&identifier->memberships);
	pthread_mutex_lock(&table_mutex);
	/* A number of softibd's earlier life, or of the parent of a fork. */
	hash_table_remove(&table, number);

	int error = hash_table_put(&table, number, identifier);

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
		identifier->held_count++;
		pthread_mutex_unlock(&identifier->mutex);
	}
	pthread_mutex_unlock(&table_mutex);
	return identifier;
}

void identifier_release(struct identifier *identifier)
{
	pthread_mutex_lock(&identifier->mutex);
	identifier->held_count--;
	pthread_cond_broadcast(&identifier->acknowledged);
	pthread_mutex_unlock(&identifier->mutex);
}

int identifier_create(struct rdma_event_channel *channel, void *context,
		      enum rdma_port_space port_space, enum ibv_qp_type qp_type,
		      struct identifier **ret_identifier)
{
	struct cm_command command = {.kind = CM_CREATE, .port_space = port_space};
	struct cm_answer answer;
	bool is_synchronous = !channel;

	if (is_synchronous)
		channel = rdma_create_event_channel();
	if (!channel)
		return -errno;
	command.channel = event_channel_of(channel)->number;
	command.parameters.qp_type = (uint8_t)queue_pair_kind(qp_type);

	int error = cm_session_ask(&command, &answer);

	if (!error)
		error = identifier_adopt(channel, context, port_space, qp_type, answer.id,
					 ret_identifier);
	if (error && is_synchronous)
		rdma_destroy_event_channel(channel);
	if (!error)
		(*ret_identifier)->is_synchronous = is_synchronous;
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

void identifier_drop_event(struct event_channel *channel, const struct cm_event_message *event)
{
	const struct cm_command command = {.kind = CM_DESTROY, .id = event->id};
	struct cm_answer answer;

	if (__atomic_load_n(&channel->dead_count, __ATOMIC_ACQUIRE))
		__atomic_sub_fetch(&channel->dead_count, 1, __ATOMIC_RELEASE);
	/* A request to a listener that is gone: its caller is refused. */
	if (event->kind == CM_PROGRAM_CONNECT_REQUEST && cm_session_ask(&command, &answer) != 0)
		errno = 0;
}

/* Events of an id that is gone are thrown away, so that its channel is readable only while it has
 * something to say. */
static void purge_channel(struct event_channel *channel)
{
	struct cm_event_message event;

	while (__atomic_load_n(&channel->dead_count, __ATOMIC_ACQUIRE) &&
	       cm_session_peek_event(channel->public.fd, &event) == 0) {
		struct identifier *identifier = identifier_hold(
			event.kind == CM_PROGRAM_CONNECT_REQUEST ? event.listener_id : event.id);

		if (identifier) {
			identifier_release(identifier);
			return;
		}
		if (recv(channel->public.fd, &event, sizeof(event), MSG_DONTWAIT) < 0)
			return;
		identifier_drop_event(channel, &event);
	}
}

static void wait_for_acknowledgements(struct identifier *identifier)
{
	pthread_mutex_lock(&identifier->mutex);
	while (identifier->held_count)
		pthread_cond_wait(&identifier->acknowledged, &identifier->mutex);
	pthread_mutex_unlock(&identifier->mutex);
}

static void free_identifier(struct identifier *identifier)
{
	memberships_forget(identifier);
	if (identifier->is_synchronous)
		rdma_destroy_event_channel(identifier->public.channel);
	rdma_freeaddrinfo(identifier->found_addresses);
	free(identifier->request_qp);
	free(identifier->connect_data);
	pthread_cond_destroy(&identifier->acknowledged);
	pthread_mutex_destroy(&identifier->mutex);
	free(identifier);
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	struct identifier *identifier = identifier_of(id);
	struct cm_command command;
	struct cm_answer answer;

	identifier_command(identifier, CM_DESTROY, &command);

	int error = cm_session_ask(&command, &answer);

	/* softibd gone, or the id the parent's: what is here goes all the same. */
	if (error && error != -ENODEV && error != -ENOENT)
		return rdma_result(error);
	pthread_mutex_lock(&table_mutex);
	if (hash_table_get(&table, identifier->number) == identifier)
		hash_table_remove(&table, identifier->number);
	pthread_mutex_unlock(&table_mutex);
	if (id->event)
		rdma_ack_cm_event(id->event);
	if (!error && answer.number != identifier->read_count && !identifier->is_synchronous) {
		struct event_channel *channel = event_channel_of(id->channel);

		__atomic_add_fetch(&channel->dead_count, answer.number - identifier->read_count,
				   __ATOMIC_RELEASE);
		purge_channel(channel);
	}
	wait_for_acknowledgements(identifier);
	free_identifier(identifier);
	return 0;
}

static void take_path(struct identifier *identifier, const struct path_record *path)
{
	struct gid dgid = gid_from(path->dgid_prefix, path->dgid_guid);
	struct gid sgid = gid_from(path->sgid_prefix, path->sgid_guid);

	identifier->path = (struct ibv_sa_path_rec){
		.dlid = htons(path->dlid),
		.slid = htons(path->slid),
		.raw_traffic = path->raw_traffic,
		.flow_label = htonl(path->flow_label),
		.hop_limit = path->hop_limit,
		.traffic_class = path->traffic_class,
		.reversible = path->reversible,
		.numb_path = path->path_count,
		.pkey = htons(path->pkey),
		.sl = path->sl,
		.mtu_selector = path->mtu_selector,
		.mtu = path->mtu,
		.rate_selector = path->rate_selector,
		.rate = path->rate,
		.packet_life_time_selector = path->packet_life_time_selector,
		.packet_life_time = path->packet_life_time,
		.preference = path->preference,
	};
	memcpy(identifier->path.dgid.raw, dgid.bytes, sizeof(dgid.bytes));
	memcpy(identifier->path.sgid.raw, sgid.bytes, sizeof(sgid.bytes));
	identifier->public.route.path_rec = &identifier->path;
	identifier->public.route.num_paths = 1;
}

void identifier_take_route(struct identifier *identifier, const struct cm_route *route)
{
	struct rdma_cm_id *id = &identifier->public;
	struct rdma_addr *address = &id->route.addr;

	address_to_socket(&route->source, &address->src_storage);
	address_to_socket(&route->destination, &address->dst_storage);
	memcpy(address->addr.ibaddr.sgid.raw, route->sgid.bytes, sizeof(route->sgid.bytes));
	memcpy(address->addr.ibaddr.dgid.raw, route->dgid.bytes, sizeof(route->dgid.bytes));
	address->addr.ibaddr.pkey = htons(route->pkey);
	identifier->qkey = route->qkey;
	identifier->pkey_index = route->pkey_index;
	if (route->has_path)
		take_path(identifier, &route->path);
	if (!route->port_number)
		return;
	id->port_num = route->port_number;
	if (!id->verbs)
		id->verbs = devices_context(route->adapter_index);
	if (!id->pd) {
		identifier->default_pd = devices_pd(route->adapter_index);
		id->pd = identifier->default_pd;
	}
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
	struct cm_answer answer;

	/* One that is synchronous already has a channel of its own. */
	if (is_synchronous && was_synchronous)
		return rdma_result(-EINVAL);
	if (is_synchronous)
		channel = rdma_create_event_channel();
	if (!channel)
		return -1;
	identifier_command(identifier, CM_MIGRATE, &command);
	command.channel = event_channel_of(channel)->number;
	command.value = identifier->read_count;
	/* Before softibd knows: what it sends there must not seem to be of another channel. */
	__atomic_store_n(&id->channel, channel, __ATOMIC_RELEASE);

	int error = cm_session_ask(&command, &answer);

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
