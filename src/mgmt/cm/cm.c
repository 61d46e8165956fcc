/* SPDX-License-Identifier: Apache-2.0 */
/* Communication management of one host: creation, received messages, messages to send, timers
 * (management 7). */
#include "mgmt/cm/cm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "mgmt/cm/cm_connection.h"

enum { TIMERS_PER_TURN = 4096 };

int cm_create(const struct cm_options *options, struct cm **ret_cm)
{
	struct random random = random_seeded(options->seed);
	struct cm *cm = calloc(1, sizeof(*cm));

	if (!cm)
		return -ENOMEM;
	assert(options->port_count <= CM_PORTS_MAX);
	cm->options = *options;
	if (!cm->options.connections_max)
		cm->options.connections_max = CM_CONNECTIONS_DEFAULT;
	memcpy(cm->ca_guids, options->ca_guids, options->port_count * sizeof(cm->ca_guids[0]));
	cm->next_id = (uint32_t)random_next(&random);
	cm->id_mask = (uint32_t)random_next(&random);
	list_init(&cm->connections);
	list_init(&cm->peer_calls);
	list_init(&cm->masked_listeners);
	list_init(&cm->held);
	hash_table_init(&cm->by_local_id);
	hash_table_init(&cm->by_remote_id);
	hash_table_init(&cm->by_remote_qpn);
	hash_table_init(&cm->exact_listeners);
	timer_queue_init(&cm->timers);
	*ret_cm = cm;
	return 0;
}

void cm_destroy(struct cm *cm)
{
	for (struct list *link; (link = list_first(&cm->connections));)
		connection_free(container_of(link, struct cm_connection, link));
	listeners_release(cm);
	hash_table_release(&cm->by_local_id);
	hash_table_release(&cm->by_remote_id);
	hash_table_release(&cm->by_remote_qpn);
	timer_queue_release(&cm->timers);
	free(cm->outbox);
	free(cm);
}

static const struct {
	enum cm_message_id id;
	void (*receive)(struct cm *cm, time_ns now, const struct cm_message *message);
} receivers[] = {
	{CM_REQ, req_receive},	 {CM_MRA, mra_receive},		  {CM_REJ, rej_receive},
	{CM_REP, rep_receive},	 {CM_RTU, rtu_receive},		  {CM_DREQ, dreq_receive},
	{CM_DREP, drep_receive}, {CM_SIDR_REQ, sidr_req_receive}, {CM_SIDR_REP, sidr_rep_receive},
	{CM_LAP, lap_receive},	 {CM_APR, apr_receive},
};

/* Of another class version only a REQ gets an answer: REJ 31. */
static void refuse_version(struct cm *cm, const struct cm_message *message,
			   const struct mad_header *header)
{
	if (header->attribute_id == CM_REQ)
		req_refuse(cm, message, CM_REJECT_CLASS_VERSION);
}

/* Only Send is handled here. ClassPortInfo comes with Get, and the node's agent answers it. */
void cm_receive(struct cm *cm, time_ns now, const struct cm_message *message)
{
	struct mad_header header;

	if (!mad_header_decode(message->mad.bytes, MAD_BYTES, &header) ||
	    message->port_index >= cm->options.port_count || header.base_version != 1 ||
	    header.management_class != MAD_CLASS_COMMUNICATION || header.method != MAD_SEND)
		return;
	if (header.class_version != CM_CLASS_VERSION) {
		refuse_version(cm, message, &header);
		return;
	}
	for (unsigned index = 0; index < ARRAY_COUNT(receivers); index++) {
		if (receivers[index].id == header.attribute_id) {
			receivers[index].receive(cm, now, message);
			return;
		}
	}
}

unsigned cm_transmit(struct cm *cm, time_ns now, unsigned messages_max,
		     struct cm_message ret_messages[])
{
	listeners_expire(cm, now);
	for (unsigned count = 0; count < TIMERS_PER_TURN; count++) {
		struct timer *timer = timer_queue_pop(&cm->timers, now);

		if (!timer)
			break;
		connection_expire(container_of(timer, struct cm_connection, timer), now);
	}
	return outbox_take(cm, messages_max, ret_messages);
}

time_ns cm_deadline(const struct cm *cm)
{
	if (cm->outbox_count)
		return 0;
	return time_earlier(timer_queue_deadline(&cm->timers), listeners_deadline(cm));
}

void cm_connection_set_context(struct cm_connection *connection, void *context)
{
	connection->context = context;
}

void *cm_connection_context(const struct cm_connection *connection)
{
	return connection->context;
}

time_ns cm_connection_timewait(const struct cm_connection *connection)
{
	return connection->timewait;
}

enum cm_state cm_connection_state(const struct cm_connection *connection)
{
	return connection->state;
}

struct cm_counts cm_count(const struct cm *cm)
{
	return (struct cm_counts){.connections = cm->connection_count,
				  .in_timewait = cm->timewait_count,
				  .orphans = cm->released_count,
				  .held_requests = cm->held_count,
				  .listeners = cm->listener_count};
}
