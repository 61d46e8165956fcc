/* SPDX-License-Identifier: Apache-2.0 */
/* The general service agents of a node: a table of classes, and the checks that all of them share
 * (management 1.4, 6). */
#include "mgmt/agents/gs_agent.h"

#include <string.h>
#include "base/bytes.h"
#include "mgmt/agents/congestion_agent.h"
#include "mgmt/agents/traps.h"
#include "mgmt/agents/node_log.h"
#include "mgmt/mad/redirect.h"
#include "mgmt/mad/smp_request.h"
#include "wire/baseboard.h"
#include "wire/rmpp.h"
#include "wire/smp.h"
#include "wire/snmp_tunnel.h"

static const struct gs_class {
	uint8_t management_class;
	uint8_t class_version;
	bool is_first; /* the agent comes before programs that registered for the class */
	const struct gs_attributes *attributes;
	enum agent_verdict (*send)(const struct gs_request *request,
				   struct mad_message *ret_answer);
	bool (*admits)(const struct gs_request *request); /* NULL: the class has no key */
	uint32_t oui;					  /* vendor classes of range 2 */
} classes[] = {
	{MAD_CLASS_PERFORMANCE, 1, true, &pma_attributes, NULL, NULL},
	{MAD_CLASS_BASEBOARD, 1, true, &baseboard_attributes, baseboard_send, baseboard_key_admits},
	{MAD_CLASS_DEVICE, 1, false, &device_attributes, NULL, NULL},
	{MAD_CLASS_COMMUNICATION, 2, false, &communication_attributes, NULL, NULL},
	{MAD_CLASS_SNMP, SNMP_CLASS_VERSION, true, &snmp_attributes, snmp_send, NULL},
	{MAD_CLASS_CONGESTION_CONTROL, 2, true, &congestion_attributes, NULL,
	 congestion_key_admits},
	{MAD_CLASS_SOFTIB, SOFTIB_CLASS_VERSION, true, &vendor_attributes, NULL, NULL, SOFTIB_OUI},
};

static const struct gs_class *find_class(const uint8_t *mad)
{
	uint32_t oui =
		mad_class_has_oui(mad[MAD_CLASS_OFFSET]) ? get_be24(mad + VENDOR_OUI_OFFSET) : 0;

	for (size_t i = 0; i < ARRAY_COUNT(classes); i++) {
		if (classes[i].management_class == mad[MAD_CLASS_OFFSET] && classes[i].oui == oui)
			return &classes[i];
	}
	return NULL;
}

/* Messages of a class that are for its manager, which is a program: traps, reports, subscriptions,
 * and the answers to the commands that it sent (management 5.3, 6.2). */
static bool is_for_manager(const uint8_t *mad)
{
	uint8_t method = mad[MAD_METHOD_OFFSET];

	return method == MAD_TRAP || method == MAD_REPORT || mad_is_baseboard_answer(mad) ||
	       get_be16(mad + MAD_ATTRIBUTE_ID_OFFSET) == ATTRIBUTE_INFORM_INFO;
}

bool gsa_is_first(const uint8_t request[static MAD_BYTES])
{
	const struct gs_class *class = find_class(request);

	return class && class->is_first && !is_for_manager(request);
}

static gs_handler *find_handler(const struct gs_class *class, const struct mad_header *header)
{
	for (size_t i = 0; i < class->attributes->count; i++) {
		const struct gs_attribute *row = &class->attributes->rows[i];

		if (row->id == header->attribute_id)
			return header->method == MAD_GET ? row->get : row->set;
	}
	return NULL;
}

/* Version, method, then method and attribute, in this order (management 1.4). */
static enum mad_status check(const struct gs_class *class, const struct mad_header *header)
{
	if (header->base_version != MAD_BASE_VERSION)
		return MAD_STATUS_BAD_VERSION;
	if (!class)
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	if (header->class_version != class->class_version)
		return MAD_STATUS_BAD_VERSION;
	if (header->method != MAD_GET && header->method != MAD_SET)
		return MAD_STATUS_BAD_METHOD;
	return find_handler(class, header) ? MAD_STATUS_OK : MAD_STATUS_BAD_METHOD_ATTRIBUTE;
}

/* Methods that have no response. */
static bool is_one_way(uint8_t method)
{
	return method == MAD_SEND || method == MAD_TRAP || method == MAD_TRAP_REPRESS;
}

static void log_set(const struct gs_request *request)
{
	const struct node_log_entry entry = {
		.event = NODE_EVENT_SET,
		.port_number = request->arrival->number,
		.code = request->header.attribute_id,
		.subject = request->header.management_class,
	};

	/* Identify logs what it does itself. */
	if (request->header.management_class != MAD_CLASS_SOFTIB)
		node_log_add(request->environment->memory, request->node, request->now, &entry);
}

static enum agent_verdict serve(const struct gs_class *class, const struct gs_request *request,
				size_t data_offset, struct mad_message *ret_answer)
{
	uint8_t data[GS_DATA_BYTES_MAX] = {0};
	enum mad_status status = check(class, &request->header);

	if (status == MAD_STATUS_OK && class->admits && !class->admits(request))
		return AGENT_CONSUMED;
	if (status == MAD_STATUS_OK)
		status = find_handler(class, &request->header)(request, data);
	if (status == MAD_STATUS_OK && request->header.method == MAD_SET)
		log_set(request);
	smp_answer_make(request->message, (uint16_t)status, ret_answer);
	if (status == MAD_STATUS_OK)
		memcpy(ret_answer->bytes + data_offset, data, MAD_BYTES - data_offset);
	return AGENT_ANSWERED;
}

/* A Send may have another Send as its answer. TrapRepress passes the same key check as a Set
 * (management 2.3). */
static enum agent_verdict take_one_way(const struct gs_class *class,
				       const struct gs_request *request,
				       struct mad_message *ret_answer)
{
	if (request->header.base_version != MAD_BASE_VERSION ||
	    request->header.class_version != class->class_version)
		return AGENT_CONSUMED;
	if (request->header.method == MAD_SEND && class->send)
		return class->send(request, ret_answer);
	if (request->header.method == MAD_TRAP_REPRESS && request->environment->memory &&
	    (!class->admits || class->admits(request)))
		trap_repress(request->environment->memory, request->node, class->management_class,
			     request->header.transaction_id);
	return AGENT_CONSUMED;
}

/* CongestionLog begins at a lower offset than other attributes, because it is longer (management
 * 6.5). */
static size_t data_offset_of(const struct mad_header *header)
{
	if (header->management_class == MAD_CLASS_CONGESTION_CONTROL &&
	    header->attribute_id == ATTRIBUTE_CONGESTION_LOG)
		return CONGESTION_LOG_OFFSET;
	return mad_data_offset(header->management_class);
}

enum agent_verdict gsa_receive(const struct agent_environment *environment, struct node *node,
			       unsigned port_number, time_ns now, const struct mad_message *message,
			       struct mad_message *ret_answer)
{
	struct gs_request request = {
		.environment = environment,
		.node = node,
		.now = now,
		.message = message,
	};

	if (port_number > node->port_count ||
	    !mad_header_decode(message->bytes, MAD_BYTES, &request.header))
		return AGENT_CONSUMED;
	/* A response never gets a response (management 1.4). */
	if (request.header.method & MAD_RESPONSE)
		return AGENT_FOR_SM;
	request.arrival = &node->ports[port_number];
	if (gsi_turns_away(environment, request.arrival, now, message, ret_answer))
		return AGENT_ANSWERED;

	const struct gs_class *class = find_class(message->bytes);
	size_t data_offset = data_offset_of(&request.header);

	request.data = message->bytes + data_offset;
	if (class && rmpp_mad_is_active(message->bytes))
		return AGENT_CONSUMED;
	if (is_one_way(request.header.method))
		return class ? take_one_way(class, &request, ret_answer) : AGENT_CONSUMED;
	/* Of a class that no agent serves, only Get and Set get an error response (management 1.4).
	 */
	if (!class && request.header.method != MAD_GET && request.header.method != MAD_SET)
		return AGENT_CONSUMED;

	return serve(class, &request, data_offset, ret_answer);
}
