/* SPDX-License-Identifier: Apache-2.0 */
/* SNMP tunnelling in softibd (management 6.4). */
#include "daemon/snmp/snmp_service.h"

#include <stdlib.h>
#include <string.h>
#include "daemon/core/daemon_core.h"
#include "daemon/core/log.h"
#include "daemon/mad/mad_dispatch.h"
#include "mgmt/agents/class_port_infos.h"
#include "mgmt/snmp/snmp_envelope.h"
#include "wire/notice.h"
#include "wire/pkey.h"

enum { HOP_LIMIT_MAX_SENT = 255, SEGMENTS_PER_TURN = 256 };

/* softib-snmpd answers within this time, or it is killed. */
#define ANSWER_TIME SECONDS(5)

/* A message that softib-snmpd has and has not answered yet. */
struct pending_request {
	struct list link;
	uint64_t token;
	time_ns due_at;
	struct port *port;
	bool was_bare_pdu;
	struct snmp_message message; /* without bytes */
};

struct outgoing_message {
	struct list link;
	struct port *port;
	struct snmp_message message;
	unsigned next_segment;
};

static struct pending_request *pending_of(struct list *link)
{
	return container_of(link, struct pending_request, link);
}

static struct outgoing_message *outgoing_of(struct list *link)
{
	return container_of(link, struct outgoing_message, link);
}

static void end_pending(struct snmp_service *service, struct pending_request *request)
{
	list_remove(&request->link);
	service->pending_count--;
	free(request);
}

static void end_outgoing(struct snmp_service *service, struct outgoing_message *outgoing)
{
	list_remove(&outgoing->link);
	service->outgoing_count--;
	free(outgoing->message.bytes);
	free(outgoing);
}

static bool may_log_loss(struct snmp_service *service)
{
	return line_limit_admits(&service->loss_limit, service->core->loop.now);
}

static void log_lost(struct snmp_service *service, const struct port *port, const char *what,
		     uint16_t lid, const char *why)
{
	if (may_log_loss(service))
		log_line("SNMP: %s LID %u at %s:%u lost: it %s", what, lid, port->node->description,
			 port->number, why);
}

/* Takes a copy of the bytes. */
static void queue(struct snmp_service *service, struct port *port,
		  const struct snmp_message *message, const uint8_t *bytes, size_t byte_count)
{
	struct outgoing_message *outgoing = NULL;

	if (service->outgoing_count < SNMP_OUTGOING_MAX && byte_count)
		outgoing = calloc(1, sizeof(*outgoing));
	if (outgoing)
		outgoing->message = *message;
	if (outgoing)
		outgoing->message.bytes = malloc(byte_count);
	if (!outgoing || !outgoing->message.bytes) {
		log_lost(service, port, "message to", message->address.lid,
			 byte_count ? "came with too many others" : "is empty");
		free(outgoing);
		return;
	}
	memcpy(outgoing->message.bytes, bytes, byte_count);
	outgoing->message.byte_count = byte_count;
	outgoing->message.source_lid = port->info.lid;
	outgoing->port = port;
	list_append(&service->outgoing, &outgoing->link);
	service->outgoing_count++;
}

/* Answers in kind: a request that was a PDU alone gets a PDU alone. */
static void answer(struct snmp_service *service, const struct pending_request *request,
		   const uint8_t *bytes, size_t byte_count)
{
	struct snmp_message message = request->message;
	struct snmp_envelope envelope;

	message.direction = SNMP_ANSWER;
	message.address.hop_limit = HOP_LIMIT_MAX_SENT;
	if (request->was_bare_pdu) {
		if (!snmp_envelope_read(bytes, byte_count, &envelope) || !envelope.pdu)
			return;
		bytes = envelope.pdu;
		byte_count = envelope.pdu_bytes;
	}
	if (byte_count > SNMP_MESSAGE_BYTES_MAX) {
		log_lost(service, request->port, "answer to", message.address.lid,
			 "is too long for the tunnel");
		return;
	}
	queue(service, request->port, &message, bytes, byte_count);
}

static void take_answer(struct snmp_service *service, uint64_t token, const uint8_t *bytes,
			size_t byte_count)
{
	list_for_each (link, &service->pending) {
		struct pending_request *request = pending_of(link);

		if (request->token != token)
			continue;
		if (byte_count)
			answer(service, request, bytes, byte_count);
		end_pending(service, request);
		return;
	}
}

/* The node's port to send a notification from, after this one, and where to. NULL: no more. */
static struct port *next_trap_port(struct snmp_service *service, struct node *node,
				   unsigned *number, struct mad_address *ret_address)
{
	unsigned last = node_is_switch(node) ? 0 : node->port_count;

	for (; *number <= last; ++*number) {
		struct port *port = &node->ports[*number];

		if (port_is_active(port) && port->info.lid &&
		    class_trap_address(&service->core->fabric.agent_memory, port, MAD_CLASS_SNMP,
				       ret_address)) {
			if (!ret_address->qpn)
				ret_address->qpn = QPN_GSI;
			return port;
		}
	}
	return NULL;
}

static void send_notification(struct snmp_service *service, uint64_t node_guid,
			      const uint8_t *bytes, size_t byte_count)
{
	struct node *node = fabric_find_guid(&service->core->fabric, node_guid);
	struct snmp_message message = {.direction = SNMP_NOTIFICATION};
	unsigned number = 0;
	struct mad_address told = {0};
	struct port *port;

	if (!node || byte_count > SNMP_MESSAGE_BYTES_MAX)
		return;
	while ((port = next_trap_port(service, node, &number, &message.address))) {
		number++;
		/* A manager that set its address at two ports gets the notification once. */
		if (message.address.lid == told.lid && message.address.qpn == told.qpn &&
		    gid_equal(&message.address.gid, &told.gid))
			continue;
		told = message.address;
		message.transaction_id =
			(uint64_t)node->index << 32 | ++service->notification_count;
		queue(service, port, &message, bytes, byte_count);
	}
}

static void log_text(struct snmp_service *service, const uint8_t *text, size_t byte_count)
{
	if (line_limit_admits(&service->text_limit, service->core->loop.now))
		log_line("softib-snmpd: %.*s", (int)byte_count, (const char *)text);
}

static void received(void *context, const struct snmp_link_header *header, const uint8_t *bytes,
		     size_t byte_count)
{
	struct snmp_service *service = context;

	if (header->kind == SNMP_LINK_ANSWER)
		take_answer(service, header->token, bytes, byte_count);
	else if (header->kind == SNMP_LINK_NOTIFICATION)
		send_notification(service, header->node_guid, bytes, byte_count);
	else if (header->kind == SNMP_LINK_LOG)
		log_text(service, bytes, byte_count);
	snmp_service_run(service);
}

static size_t asked(void *context, const struct snmp_state_question *question, uint8_t *ret_answer)
{
	struct snmp_service *service = context;

	return snmp_node_values_answer(service->core, &service->texts, &service->watch,
				       service->helper.began_at, question, ret_answer);
}

/* The managers repeat what gets no answer. */
static void helper_gone(void *context)
{
	struct snmp_service *service = context;

	while (!list_is_empty(&service->pending))
		end_pending(service, pending_of(list_first(&service->pending)));
}

static bool has_trap_address(struct snmp_service *service, struct node *node)
{
	struct mad_address address;
	unsigned number = 0;

	return next_trap_port(service, node, &number, &address) != NULL;
}

static void send_event(struct snmp_service *service, struct node *node,
		       const struct snmp_event *event)
{
	const struct snmp_link_header header = {.kind = SNMP_LINK_EVENT,
						.node_guid = node->info.node_guid};

	if (has_trap_address(service, node) &&
	    !snmp_helper_send(&service->helper, &header, event, sizeof(*event)) &&
	    !service->helper.is_missing && may_log_loss(service))
		log_line("SNMP: an event of %s lost: softib-snmpd does not take it",
			 node->description);
}

static void link_changed(void *context, struct port *port, enum snmp_event_kind kind)
{
	const struct snmp_event event = {.kind = kind, .port_number = port->number};

	send_event(context, port->node, &event);
}

static void notice_raised(void *context, struct port *port, const struct notice *notice)
{
	struct snmp_event event = {
		.kind = SNMP_EVENT_NOTICE,
		.port_number = port->number,
		.notice_type = notice->header.type,
		.trap_number = notice->header.trap_number,
		.issuer_lid = notice->header.issuer_lid,
	};

	memcpy(event.details, notice->details, sizeof(event.details));
	send_event(context, port->node, &event);
}

static void dropped(void *context, time_ns now, const void *receiver,
		    const struct mad_address *sender, enum snmp_drop reason)
{
	(void)now;
	log_lost(context, receiver, "message of", sender->lid, snmp_drop_text(reason));
}

void snmp_service_init(struct snmp_service *service, struct daemon_core *core,
		       struct mad_dispatch *mads, const char *config_path)
{
	const struct snmp_helper_owner owner = {
		.received = received, .asked = asked, .gone = helper_gone, .context = service};

	*service = (struct snmp_service){.core = core, .mads = mads};
	snmp_helper_init(&service->helper, &core->loop, &owner, config_path);
	snmp_reassembly_init(&service->reassembly);
	service->reassembly.dropped = dropped;
	service->reassembly.context = service;
	snmp_texts_init(&service->texts);
	snmp_watch_init(&service->watch, core->loop.now);
	list_init(&service->pending);
	list_init(&service->outgoing);
	core->fabric.agent_memory.notice_raised = notice_raised;
	core->fabric.agent_memory.notice_context = service;
}

void snmp_service_show_capability(struct snmp_service *service)
{
	if (!snmp_helper_is_installed())
		return;
	list_for_each (link, &service->core->fabric.nodes) {
		struct node *node = container_of(link, struct node, link);
		unsigned first = node_is_switch(node) ? 0 : 1;
		unsigned last = node_is_switch(node) ? 0 : node->port_count;

		for (unsigned number = first; number <= last; number++)
			node->ports[number].info.capability_mask |= CAPABILITY_SNMP_TUNNELING;
	}
}

void snmp_service_release(struct snmp_service *service)
{
	service->core->fabric.agent_memory.notice_raised = NULL;
	snmp_helper_release(&service->helper);
	helper_gone(service);
	while (!list_is_empty(&service->outgoing))
		end_outgoing(service, outgoing_of(list_first(&service->outgoing)));
	snmp_reassembly_release(&service->reassembly);
	snmp_texts_release(&service->texts);
	snmp_watch_release(&service->watch);
}

/* One manager that asks faster than it is answered must not keep the others out. */
static bool sender_has_room(const struct snmp_service *service, uint16_t lid)
{
	unsigned count = 0;

	if (service->pending_count >= SNMP_PENDING_MAX)
		return false;
	list_for_each (link, &service->pending)
		count += pending_of(link)->message.address.lid == lid;
	return count < SNMP_PENDING_PER_SENDER;
}

/* A PDU alone gets the community of CommunityInfo. It is of version 2c if version 1 has no such
 * PDU. Returns the length, 0: no SNMP message. */
static size_t complete(const struct snmp_message *message, bool *ret_was_bare, uint8_t *ret_bytes)
{
	uint8_t tag = message->bytes[0];
	const struct snmp_envelope envelope = {
		.version =
			tag >= SNMP_PDU_GET_BULK ? SNMP_VERSION_NUMBER_2C : SNMP_VERSION_NUMBER_1,
		.community = message->community,
		.community_bytes = message->community_bytes,
		.pdu = message->bytes,
		.pdu_bytes = message->byte_count,
	};

	*ret_was_bare = tag != BER_SEQUENCE;
	if (*ret_was_bare)
		return snmp_envelope_write(&envelope, SNMP_LINK_BYTES_MAX, ret_bytes);
	memcpy(ret_bytes, message->bytes, message->byte_count);
	return message->byte_count;
}

static void ask(struct snmp_service *service, struct port *port, const struct snmp_message *message)
{
	static uint8_t bytes[SNMP_LINK_BYTES_MAX];
	struct pending_request *request = NULL;
	bool was_bare_pdu;
	size_t byte_count = complete(message, &was_bare_pdu, bytes);
	const struct snmp_link_header header = {.kind = SNMP_LINK_REQUEST,
						.node_guid = port->node->info.node_guid,
						.token = ++service->last_token};

	if (byte_count && sender_has_room(service, message->address.lid))
		request = calloc(1, sizeof(*request));
	if (!request || !snmp_helper_send(&service->helper, &header, bytes, byte_count)) {
		/* The helper has told if it is not installed. */
		if (!service->helper.is_missing)
			log_lost(service, port, "request of", message->address.lid,
				 !byte_count ? "is malformed"
				 : !request  ? "came with too many others"
					     : "finds no softib-snmpd that takes it");
		free(request);
		return;
	}
	request->token = header.token;
	request->due_at = service->core->loop.now + ANSWER_TIME;
	request->port = port;
	request->was_bare_pdu = was_bare_pdu;
	request->message = *message;
	request->message.bytes = NULL;
	list_append(&service->pending, &request->link);
	service->pending_count++;
}

void snmp_service_receive(struct snmp_service *service, struct port *port,
			  const struct mad_message *mad)
{
	struct snmp_message message;

	if (!snmp_reassembly_receive(&service->reassembly, service->core->loop.now, port, mad,
				     &message))
		return;
	ask(service, port, &message);
	free(message.bytes);
}

/* false: no room now. */
static bool send_segments(struct snmp_service *service, struct outgoing_message *outgoing,
			  unsigned *budget)
{
	unsigned count = snmp_segment_count(&outgoing->message);
	struct mad_message mad;

	while (outgoing->next_segment < count && *budget) {
		snmp_segment_make(&outgoing->message, outgoing->next_segment, &mad);
		/* A manager need not write the Q_Key of its trap address. */
		if (!mad.address.qkey)
			mad.address.qkey = QKEY_GSI;
		if (!mad_dispatch_send_as_agent(service->mads, outgoing->port, &mad,
						service->core->loop.now))
			return false;
		outgoing->next_segment++;
		--*budget;
	}
	return outgoing->next_segment == count;
}

bool snmp_service_run(struct snmp_service *service)
{
	time_ns now = service->core->loop.now;
	unsigned budget = SEGMENTS_PER_TURN;

	snmp_reassembly_expire(&service->reassembly, now);
	if (!list_is_empty(&service->pending) &&
	    pending_of(list_first(&service->pending))->due_at <= now) {
		snmp_helper_kill(&service->helper);
		helper_gone(service);
	}
	if (snmp_helper_is_running(&service->helper) ||
	    service->core->fabric.agent_memory.trap_addresses.count)
		snmp_watch_run(&service->watch, &service->core->fabric, now, link_changed, service);
	list_for_each_safe (link, &service->outgoing)
		if (send_segments(service, outgoing_of(link), &budget))
			end_outgoing(service, outgoing_of(link));
	return budget < SEGMENTS_PER_TURN;
}

time_ns snmp_service_deadline(const struct snmp_service *service)
{
	time_ns deadline = snmp_reassembly_deadline(&service->reassembly);

	if (!list_is_empty(&service->outgoing))
		return service->core->loop.now + MILLISECONDS(1);
	if (!list_is_empty(&service->pending))
		deadline =
			time_earlier(deadline, pending_of(list_first(&service->pending))->due_at);
	if (snmp_helper_is_running(&service->helper) ||
	    service->core->fabric.agent_memory.trap_addresses.count)
		deadline = time_earlier(
			deadline, snmp_watch_deadline(&service->watch, &service->core->fabric));
	return deadline;
}
