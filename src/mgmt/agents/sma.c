/* SPDX-License-Identifier: Apache-2.0 */
/* The subnet management agent: the checks in their order, then the handler of the attribute
 * (management 2.4). */
#include "mgmt/agents/sma.h"

#include <string.h>
#include "mgmt/agents/mkey.h"
#include "mgmt/agents/node_log.h"
#include "mgmt/agents/traps.h"
#include "mgmt/mad/smp_request.h"
#include "net/link/fec.h"
#include "wire/smp.h"

void sma_port_changed(const struct sma_request *request, struct port *port)
{
	const struct agent_environment *environment = request->environment;

	port->state_changes++;
	if (environment->port_changed)
		environment->port_changed(environment->context, port);
}

void sma_paths_changed(const struct sma_request *request)
{
	const struct agent_environment *environment = request->environment;

	if (environment->paths_changed)
		environment->paths_changed(environment->context);
}

static enum mad_status node_description_get(const struct sma_request *request, uint8_t *ret_data)
{
	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	memcpy(ret_data, request->node->description, NODE_DESCRIPTION_BYTES);
	return MAD_STATUS_OK;
}

static enum mad_status node_description_set(const struct sma_request *request, uint8_t *ret_data)
{
	if (!(sma_guard(request)->info.capability_mask2 & CAPABILITY2_SET_NODE_DESCRIPTION))
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	memcpy(request->node->description, request->data, NODE_DESCRIPTION_BYTES);
	sma_port_changed(request, request->arrival);
	return node_description_get(request, ret_data);
}

static enum mad_status node_info_get(const struct sma_request *request, uint8_t *ret_data)
{
	struct node_info info = request->node->info;

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	info.port_guid = sma_guard(request)->guid;
	info.local_port_number = request->arrival->number;
	node_info_encode(&info, ret_data);
	return MAD_STATUS_OK;
}

/* Diagnostics are vendor specific and softib has none: the first page is empty, and there is no
 * next one. */
static enum mad_status vendor_diag_get(const struct sma_request *request, uint8_t *ret_data)
{
	(void)ret_data;
	return request->header.attribute_modifier ? MAD_STATUS_BAD_FIELD : MAD_STATUS_OK;
}

/* A manager that does not rely on traps can read and remove notices one by one (management 5.3). */
static enum mad_status notice_get(const struct sma_request *request, uint8_t *ret_data)
{
	struct notice notice = {.header = {.type = NOTICE_EMPTY}};

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	if (request->environment->memory)
		trap_peek(request->environment->memory, sma_guard(request), &notice);
	notice_encode(&notice, ret_data);
	return MAD_STATUS_OK;
}

static enum mad_status notice_set(const struct sma_request *request, uint8_t *ret_data)
{
	struct notice read;

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	notice_decode(request->data, &read);
	if (request->environment->memory)
		trap_remove(request->environment->memory, sma_guard(request), MAD_CLASS_SUBNET_LID,
			    &read.header);
	return notice_get(request, ret_data);
}

/* The port whose LED the attribute modifier names. 0: the port of arrival, as with PortInfo. */
static struct port *led_port(const struct sma_request *request)
{
	uint32_t number = request->header.attribute_modifier;

	if (number == 0)
		return sma_guard(request);
	return number <= request->node->port_count ? &request->node->ports[number] : NULL;
}

static enum mad_status led_info_get(const struct sma_request *request, uint8_t *ret_data)
{
	enum { LED_ON = 0x80 };
	const struct port *port = led_port(request);

	if (!port)
		return MAD_STATUS_BAD_FIELD;
	ret_data[0] = port->led_is_on ? LED_ON : 0;
	return MAD_STATUS_OK;
}

static enum mad_status led_info_set(const struct sma_request *request, uint8_t *ret_data)
{
	struct port *port = led_port(request);

	if (!port)
		return MAD_STATUS_BAD_FIELD;
	port->led_is_on = request->data[0] >> 7;
	return led_info_get(request, ret_data);
}

/* Optional: CapabilityMask2 tells whether a node has it (management 2.5). */
static enum mad_status port_info_extended_get(const struct sma_request *request, uint8_t *ret_data)
{
	struct port *port = sma_port_info_port(request);

	if (!(sma_guard(request)->info.capability_mask2 & CAPABILITY2_PORT_INFO_EXTENDED))
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	if (!port)
		return MAD_STATUS_BAD_FIELD;
	port_fec_refresh(port);
	port_info_extended_encode(&port->extended, ret_data);
	return MAD_STATUS_OK;
}

static enum mad_status port_info_extended_set(const struct sma_request *request, uint8_t *ret_data)
{
	struct port_info_extended written;
	enum mad_status status = port_info_extended_get(request, ret_data);

	if (status != MAD_STATUS_OK)
		return status;
	port_info_extended_decode(request->data, &written);
	if (!port_fec_enable(sma_port_info_port(request), &written))
		return MAD_STATUS_BAD_FIELD;
	return port_info_extended_get(request, ret_data);
}

enum served_by { ALL_NODES, SWITCHES };

static const struct sma_attribute {
	uint16_t id;
	enum served_by served_by;
	sma_handler *get;
	sma_handler *set;
} sma_attributes[] = {
	{ATTRIBUTE_NOTICE, ALL_NODES, notice_get, notice_set},
	{ATTRIBUTE_NODE_DESCRIPTION, ALL_NODES, node_description_get, node_description_set},
	{ATTRIBUTE_NODE_INFO, ALL_NODES, node_info_get, NULL},
	{ATTRIBUTE_SWITCH_INFO, SWITCHES, sma_switch_info_get, sma_switch_info_set},
	{ATTRIBUTE_GUID_INFO, ALL_NODES, sma_guid_info_get, sma_guid_info_set},
	{ATTRIBUTE_PORT_INFO, ALL_NODES, sma_port_info_get, sma_port_info_set},
	{ATTRIBUTE_PKEY_TABLE, ALL_NODES, sma_pkey_table_get, sma_pkey_table_set},
	{ATTRIBUTE_SL_TO_VL, ALL_NODES, sma_sl_to_vl_get, sma_sl_to_vl_set},
	{ATTRIBUTE_VL_ARBITRATION, ALL_NODES, sma_vl_arbitration_get, sma_vl_arbitration_set},
	{ATTRIBUTE_LINEAR_FORWARDING, SWITCHES, sma_linear_forwarding_get,
	 sma_linear_forwarding_set},
	{ATTRIBUTE_MULTICAST_FORWARDING, SWITCHES, sma_multicast_forwarding_get,
	 sma_multicast_forwarding_set},
	{ATTRIBUTE_VENDOR_DIAG, ALL_NODES, vendor_diag_get, NULL},
	{ATTRIBUTE_PORT_INFO_EXTENDED, ALL_NODES, port_info_extended_get, port_info_extended_set},
	{ATTRIBUTE_LED_INFO, ALL_NODES, led_info_get, led_info_set},
};

static sma_handler *find_handler(const struct sma_request *request)
{
	for (size_t i = 0; i < ARRAY_COUNT(sma_attributes); i++) {
		const struct sma_attribute *attribute = &sma_attributes[i];

		if (attribute->id != request->header.attribute_id)
			continue;
		if (attribute->served_by == SWITCHES && !node_is_switch(request->node))
			return NULL;
		return request->header.method == MAD_GET ? attribute->get : attribute->set;
	}
	return NULL;
}

static enum agent_verdict answer(const struct sma_request *request, enum mad_status status,
				 const uint8_t *data, struct mad_message *ret_answer)
{
	smp_answer_make(request->message, (uint16_t)status, ret_answer);
	if (status == MAD_STATUS_OK)
		memcpy(smp_data(ret_answer->bytes), data, SMP_DATA_BYTES);
	return AGENT_ANSWERED;
}

/* What the log of the node tells of a Set: a PortState, or that values changed. Tables are written
 * by the hundred, so the log leaves them out. */
static void log_change(const struct sma_request *request, const struct port *port,
		       const struct port_info *before)
{
	const struct node_log_entry entry = {
		.event = NODE_EVENT_SET,
		.port_number = port->number,
		.code = ATTRIBUTE_PORT_INFO,
		.subject = MAD_CLASS_SUBNET_LID,
	};

	if (before->port_state != port->info.port_state)
		node_log_port_state(request->environment->memory, port, request->now);
	else if (memcmp(before, &port->info, sizeof(*before)) != 0)
		node_log_add(request->environment->memory, request->node, request->now, &entry);
}

static enum mad_status handle(const struct sma_request *request, sma_handler *handler,
			      uint8_t *ret_data)
{
	const struct port *port =
		request->header.method == MAD_SET &&
				request->header.attribute_id == ATTRIBUTE_PORT_INFO
			? sma_port_info_port(request)
			: NULL;
	struct port_info before;

	if (port)
		before = port->info;

	enum mad_status status = handler(request, ret_data);

	if (port && status == MAD_STATUS_OK)
		log_change(request, port, &before);
	return status;
}

/* Serves a request that passed the M_Key check. */
static enum agent_verdict serve(const struct sma_request *request, struct mad_message *ret_answer)
{
	uint8_t data[SMP_DATA_BYTES] = {0};
	sma_handler *handler = find_handler(request);

	if (request->header.method == MAD_TRAP_REPRESS) {
		if (request->environment->memory)
			trap_repress(request->environment->memory, request->node,
				     MAD_CLASS_SUBNET_LID, request->header.transaction_id);
		return AGENT_CONSUMED;
	}
	if (request->header.attribute_id == ATTRIBUTE_SM_INFO &&
	    (sma_guard(request)->info.capability_mask & CAPABILITY_IS_SM))
		return AGENT_FOR_SM;
	/* A disabled manager does not answer (management 2.4). */
	if (request->header.attribute_id == ATTRIBUTE_SM_INFO &&
	    (sma_guard(request)->info.capability_mask & CAPABILITY_SM_DISABLED))
		return AGENT_CONSUMED;
	if (!handler)
		return answer(request, MAD_STATUS_BAD_METHOD_ATTRIBUTE, data, ret_answer);

	return answer(request, handle(request, handler, data), data, ret_answer);
}

/* An adapter has an M_Key per port. A request for the PortInfo of another port must match that
 * port's key too (management 2.3). SMInfo passes the same check: with a wrong key a Set gets no
 * response, and a Get none at protection levels 2 and 3 (C14-67, in part). */
static bool check_keys(const struct sma_request *request)
{
	if (!mkey_check(request, sma_guard(request)))
		return false;
	if (node_is_switch(request->node) ||
	    (request->header.attribute_id != ATTRIBUTE_PORT_INFO &&
	     request->header.attribute_id != ATTRIBUTE_PORT_INFO_EXTENDED))
		return true;

	struct port *other = sma_port_info_port(request);

	return !other || other == request->arrival || mkey_check(request, other);
}

enum agent_verdict sma_receive(const struct agent_environment *environment, struct node *node,
			       unsigned port_number, time_ns now, const struct mad_message *message,
			       struct mad_message *ret_answer)
{
	struct sma_request request = {
		.environment = environment,
		.node = node,
		.now = now,
		.mkey = smp_mkey(message->bytes),
		.message = message,
		.data = message->bytes + SMP_DATA_OFFSET,
	};

	if (!node_is_switch(node) && port_number == 0)
		port_number = 1;
	if (port_number > node->port_count ||
	    !mad_header_decode(message->bytes, MAD_BYTES, &request.header))
		return AGENT_CONSUMED;
	request.arrival = &node->ports[port_number];

	/* A response never gets a response. Traps go to the local manager (management 2.4). */
	if ((request.header.method & MAD_RESPONSE) || request.header.is_returning ||
	    request.header.method == MAD_TRAP)
		return AGENT_FOR_SM;
	if (request.header.base_version != MAD_BASE_VERSION ||
	    request.header.class_version != SMP_CLASS_VERSION)
		return answer(&request, MAD_STATUS_BAD_VERSION, NULL, ret_answer);
	if (request.header.method != MAD_GET && request.header.method != MAD_SET &&
	    request.header.method != MAD_TRAP_REPRESS)
		return answer(&request, MAD_STATUS_BAD_METHOD, NULL, ret_answer);
	if (!check_keys(&request))
		return AGENT_CONSUMED;
	return serve(&request, ret_answer);
}
