/* SPDX-License-Identifier: Apache-2.0 */
/* QP0 and QP1 of every port with an endpoint: dispatching MADs to clients, and clients' MADs to the
 * fabric (vol 1, chapter 13). */
#include "daemon/mad/mad_dispatch.h"

#include <errno.h>
#include <string.h>
#include "base/bytes.h"
#include "daemon/core/host_table.h"
#include "fabric/fabric.h"
#include "wire/packet.h"
#include "wire/pkey.h"
#include "wire/vendor_softib.h"
#include "wire/snmp_tunnel.h"

enum {
	MODIFIER_OFFSET = 20,
	METHODS_PER_WORD = 64,
	HOP_LIMIT_LOCAL = 1,
};

static bool class_is_subnet_management(uint8_t management_class)
{
	return management_class == MAD_CLASS_SUBNET_LID ||
	       management_class == MAD_CLASS_SUBNET_DIRECTED;
}

bool mad_is_response(const uint8_t mad[static MAD_BYTES])
{
	/* Baseboard management and SNMP tunnelling mark answers in the attribute modifier. */
	return (mad[MAD_METHOD_OFFSET] & MAD_RESPONSE) ||
	       mad[MAD_METHOD_OFFSET] == MAD_TRAP_REPRESS ||
	       (mad[MAD_CLASS_OFFSET] == MAD_CLASS_BASEBOARD &&
		(get_be32(mad + MODIFIER_OFFSET) & 1)) ||
	       (mad[MAD_CLASS_OFFSET] == MAD_CLASS_SNMP && mad[MAD_METHOD_OFFSET] == MAD_SEND &&
		get_be32(mad + MODIFIER_OFFSET) == SNMP_ANSWER);
}

void mad_registration_add_method(struct mad_registration *registration, enum mad_method method)
{
	assert(method < MAD_RESPONSE);
	registration->methods[method / METHODS_PER_WORD] |= 1ull << method % METHODS_PER_WORD;
}

void mad_dispatch_init(struct mad_dispatch *dispatch, struct fabric *fabric)
{
	*dispatch = (struct mad_dispatch){.fabric = fabric};
	hash_table_init(&dispatch->clients);
}

void mad_dispatch_release(struct mad_dispatch *dispatch)
{
	hash_table_release(&dispatch->clients);
}

static bool registrations_meet(const struct mad_registration *a, const struct mad_registration *b)
{
	if (a->management_class != b->management_class || a->class_version != b->class_version ||
	    (mad_class_has_oui(a->management_class) && a->oui != b->oui))
		return false;
	for (unsigned word = 0; word < MAD_METHOD_WORDS; word++) {
		if (a->methods[word] & b->methods[word])
			return true;
	}
	return false;
}

static bool clients_meet(const struct mad_client *a, const struct mad_client *b)
{
	for (unsigned i = 0; i < a->registration_count; i++) {
		for (unsigned j = 0; j < b->registration_count; j++) {
			if (registrations_meet(&a->registrations[i], &b->registrations[j]))
				return true;
		}
	}
	return false;
}

static uint32_t next_agent_number(struct mad_dispatch *dispatch)
{
	/* A removed client's number is reused as late as possible, so that late answers are
	 * dropped. */
	do {
		dispatch->last_agent_number++;
	} while (!dispatch->last_agent_number ||
		 hash_table_get(&dispatch->clients, dispatch->last_agent_number));
	return dispatch->last_agent_number;
}

int mad_client_add(struct mad_dispatch *dispatch, struct mad_client *client)
{
	struct endpoint *endpoint = client->port->endpoint;

	assert(endpoint);
	assert(client->receive);
	assert(client->registration_count <= MAD_REGISTRATIONS_MAX);
	list_for_each (link, &endpoint->mad_clients) {
		if (clients_meet(client, container_of(link, struct mad_client, port_link)))
			return -EBUSY;
	}
	client->agent_number = next_agent_number(dispatch);
	client->psn = 0;

	int error = hash_table_put(&dispatch->clients, client->agent_number, client);

	if (error)
		return error;
	list_init(&client->port_link);
	if (client->registration_count)
		list_append(&endpoint->mad_clients, &client->port_link);
	return 0;
}

void mad_client_remove(struct mad_dispatch *dispatch, struct mad_client *client)
{
	hash_table_remove(&dispatch->clients, client->agent_number);
	list_remove(&client->port_link);
}

static struct packet smp_packet(const struct port *port, const struct mad_address *address)
{
	uint16_t own_lid = port->info.lid;
	bool is_permissive = address->lid == LID_PERMISSIVE || !own_lid;

	return (struct packet){
		.lrh = {.vl = VL_MANAGEMENT,
			.sl = address->sl,
			.dlid = address->lid,
			.slid = is_permissive ? LID_PERMISSIVE : own_lid},
		.bth = {.pkey = PKEY_DEFAULT_FULL, .destination_qpn = QPN_SMI},
	};
}

static struct packet gmp_packet(const struct port *port, const struct mad_address *address)
{
	struct packet packet = {
		.lrh = {.sl = address->sl,
			.dlid = address->lid,
			.slid = (uint16_t)(port->info.lid |
					   (address->path_bits & ((1u << port->info.lmc) - 1)))},
		.bth = {.pkey = address->pkey, .destination_qpn = address->qpn},
		.deth = {.qkey = address->qkey, .source_qpn = QPN_GSI},
		.has_grh = address->has_grh,
	};
	unsigned gid_index = address->gid_index < port->info.guid_cap ? address->gid_index : 0;

	if (address->has_grh)
		packet.grh = (struct grh){
			.traffic_class = address->traffic_class,
			.flow_label = address->flow_label,
			.hop_limit = address->hop_limit ? address->hop_limit : HOP_LIMIT_LOCAL,
			.sgid = gid_from(port->info.gid_prefix, port->guids[gid_index]),
			.dgid = address->gid,
		};
	return packet;
}

static bool send_from(struct mad_dispatch *dispatch, struct port *port, uint32_t psn,
		      const struct mad_message *message, time_ns now)
{
	struct frame *frame = frame_take(&dispatch->fabric->frames);

	if (!frame)
		return false;

	uint8_t bytes[MAD_BYTES];
	struct packet packet = class_is_subnet_management(message->bytes[MAD_CLASS_OFFSET])
				       ? smp_packet(port, &message->address)
				       : gmp_packet(port, &message->address);

	memcpy(bytes, message->bytes, sizeof(bytes));
	packet.bth.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY;
	packet.bth.psn.value = psn & 0xffffff;
	packet.packet_count = 1;
	packet_set_payload(&packet, bytes, sizeof(bytes));
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	frame->source = NULL;
	if (fabric_inject(dispatch->fabric, port, frame, now))
		return true;
	frame_give_back(&dispatch->fabric->frames, frame);
	return false;
}

bool mad_client_send(struct mad_dispatch *dispatch, struct mad_client *client,
		     const struct mad_message *message, time_ns now)
{
	if (!send_from(dispatch, client->port, client->psn, message, now))
		return false;
	client->psn++;
	return true;
}

static bool covers(const struct mad_registration *registration, const uint8_t *mad)
{
	uint8_t method = mad[MAD_METHOD_OFFSET];

	return registration->management_class == mad[MAD_CLASS_OFFSET] &&
	       registration->class_version == mad[MAD_VERSION_OFFSET] &&
	       (registration->methods[method / METHODS_PER_WORD] >> method % METHODS_PER_WORD &
		1) &&
	       (!mad_class_has_oui(mad[MAD_CLASS_OFFSET]) ||
		registration->oui == get_be24(mad + VENDOR_OUI_OFFSET));
}

static struct mad_client *find_registered(const struct endpoint *endpoint, const uint8_t *mad)
{
	list_for_each (link, &endpoint->mad_clients) {
		struct mad_client *client = container_of(link, struct mad_client, port_link);

		for (unsigned i = 0; i < client->registration_count; i++) {
			if (covers(&client->registrations[i], mad))
				return client;
		}
	}
	return NULL;
}

static struct mad_client *find_client(const struct mad_dispatch *dispatch, const struct port *port,
				      const uint8_t *mad)
{
	if (!mad_is_response(mad))
		return find_registered(port->endpoint, mad);

	struct mad_client *client =
		hash_table_get(&dispatch->clients, get_be32(mad + MAD_TRANSACTION_ID_OFFSET));

	return client && client->port == port ? client : NULL;
}

static void send_answer(struct mad_dispatch *dispatch, struct port *port,
			const struct mad_message *answer, time_ns now)
{
	/* If the answer finds no room, the requester will retry. */
	if (!send_from(dispatch, port, 0, answer, now))
		port->counters.drops[DROP_NO_FRAME]++;
}

/* Whether the port redirects the request, or is busy, instead of giving it to the client. */
static bool turn_away(struct mad_dispatch *dispatch, struct port *port,
		      const struct mad_message *message, time_ns now)
{
	struct mad_message answer;

	if (!gsi_turns_away(&dispatch->fabric->agents, port, now, message, &answer))
		return false;
	send_answer(dispatch, port, &answer, now);
	return true;
}

/* A request that no client takes is answered by the node's own agents, if only by a refusal. */
static bool answer_by_agents(struct mad_dispatch *dispatch, struct port *port,
			     const struct mad_message *message, time_ns now)
{
	struct mad_message answer;

	if (gsa_receive(&dispatch->fabric->agents, port->node, port->number, now, message,
			&answer) != AGENT_ANSWERED)
		return false;
	send_answer(dispatch, port, &answer, now);
	return true;
}

static bool decode(const struct frame *frame, struct mad_message *ret_message,
		   uint32_t *ret_destination_qpn)
{
	uint8_t bytes[PACKET_BYTES_MAX];
	struct packet packet;

	memcpy(bytes, frame->bytes, frame->byte_count);
	if (packet_decode(bytes, frame->byte_count, 1, &packet) != PACKET_OK ||
	    packet.bth.opcode != (TRANSPORT_UD | OPCODE_SEND_ONLY) ||
	    packet.payload.byte_count != MAD_BYTES)
		return false;
	ret_message->address = (struct mad_address){.lid = packet.lrh.slid,
						    .sl = packet.lrh.sl,
						    .qpn = packet.deth.source_qpn,
						    .qkey = packet.deth.qkey,
						    .pkey = packet.bth.pkey,
						    .has_grh = packet.has_grh};
	if (packet.has_grh) {
		ret_message->address.gid = packet.grh.sgid;
		ret_message->address.hop_limit = packet.grh.hop_limit;
		ret_message->address.traffic_class = packet.grh.traffic_class;
		ret_message->address.flow_label = packet.grh.flow_label;
	}
	ret_message->address.path_bits = (uint8_t)(packet.lrh.dlid & 0x7f);
	*ret_destination_qpn = packet.bth.destination_qpn;
	payload_copy(&packet.payload, 0, MAD_BYTES, ret_message->bytes);
	return true;
}

/* An answer uses the P_Key of our own table that matched the request's. */
static uint16_t own_pkey(const struct port *port, uint16_t pkey)
{
	for (unsigned i = 0; i < port->pkey_count; i++) {
		if (pkey_matches(port->pkeys[i], pkey))
			return port->pkeys[i];
	}
	return pkey;
}

uint16_t mad_port_pkey(const struct port *port)
{
	uint16_t found = port->pkey_count ? port->pkeys[0] : 0;

	for (unsigned index = 0; index < port->pkey_count; index++)
		if (pkey_matches(port->pkeys[index], PKEY_DEFAULT_FULL))
			found = port->pkeys[index];
	return found;
}

bool mad_dispatch_send_as_agent(struct mad_dispatch *dispatch, struct port *port,
				const struct mad_message *message, time_ns now)
{
	struct mad_message sent = *message;

	sent.address.pkey = own_pkey(port, message->address.pkey);
	return send_from(dispatch, port, 0, &sent, now);
}

void mad_dispatch_receive(struct mad_dispatch *dispatch, struct port *port,
			  const struct frame *frame, time_ns now)
{
	struct mad_message message = {0};
	uint32_t qpn;

	if (!decode(frame, &message, &qpn)) {
		port->counters.drops[DROP_MALFORMED]++;
		return;
	}
	message.address.path_bits &= (uint8_t)((1u << port->info.lmc) - 1);
	message.address.pkey = own_pkey(port, message.address.pkey);

	bool is_smp = class_is_subnet_management(message.bytes[MAD_CLASS_OFFSET]);

	/* SMPs belong to QP0 only, and QP1 accepts its well-known Q_Key only. */
	if (is_smp != (qpn == QPN_SMI) || (qpn == QPN_GSI && message.address.qkey != QKEY_GSI)) {
		port->counters.drops[DROP_MALFORMED]++;
		port->counters.qp1_dropped += qpn == QPN_GSI;
		return;
	}

	struct mad_client *client = find_client(dispatch, port, message.bytes);

	if (client) {
		if (is_smp || !turn_away(dispatch, port, &message, now))
			client->receive(client, &message, now);
		return;
	}
	if (!is_smp && answer_by_agents(dispatch, port, &message, now))
		return;
	port->counters.drops[DROP_NO_LISTENER]++;
	if (!is_smp)
		port->counters.qp1_dropped++;
}
