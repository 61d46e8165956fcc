/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: MADs of any content into the agents of an adapter, a switch and a router. An answer
 * always belongs to its request, and the stored state stays within what a port can have.
 *
 * The input is a sequence of requests: a byte that chooses node, port and class, then method,
 * attribute and modifier, then a length and as many bytes of data.
 */
#include "fuzz/fuzz.h"

#include <string.h>
#include "base/bytes.h"
#include "mgmt/agents/redirects.h"
#include "mgmt/agents/io_unit.h"
#include "net/link/congestion_state.h"
#include "net/node/node.h"
#include "wire/pkey.h"
#include "wire/smp.h"
#include "wire/vendor_softib.h"

enum { NODES = 3, HEAD_BYTES = 10, PORTS = 3 };

static struct node nodes[NODES];
static struct agent_memory memory;
static time_ns now;

static void set_link(void *context, struct port *port, enum physical_state physical)
{
	(void)context;
	MUST_HOLD(physical >= PHYSICAL_SLEEP && physical <= PHYSICAL_DISABLED);
	port->info.port_state = PORT_DOWN;
	port->info.physical_state = (uint8_t)physical;
}

static const struct agent_environment environment = {.set_link = set_link, .memory = &memory};

/* One with services and one whose self-test fails. */
static void plug_controllers(void)
{
	struct io_service_entry services[] = {{"one", 1}, {"two", 2}, {"three", 3}};
	struct io_controller controller = {.profile = {.service_entries = 3}, .services = services};
	unsigned slot;

	(void)!io_unit_plug(&environment, &nodes[0], now, &controller, 1, &slot);
	controller = (struct io_controller){.id_string = "fails"};
	(void)!io_unit_plug(&environment, &nodes[0], now, &controller, 3, &slot);

	struct io_controller *failing = io_unit_controller(io_unit_find(&memory, &nodes[0]), 3);

	if (failing)
		failing->test.next_outcome = 7;
}

/* Port 1 of the adapter redirects one class, and another one when it is busy. */
static void redirect_some(void)
{
	struct redirect redirect = {
		.port = &nodes[0].ports[1],
		.management_class = MAD_CLASS_SNMP,
		.place = {.redirect_lid = 5, .redirect_qpn = 1},
	};

	(void)!redirect_set(&memory, &redirect);
	redirect.management_class = MAD_CLASS_DEVICE;
	redirect.condition = REDIRECT_WHEN_BUSY;
	(void)!redirect_set(&memory, &redirect);
	(void)!gsi_rate_set(&memory, redirect.port, 10);
}

static bool start(void)
{
	static const enum node_type types[NODES] = {NODE_CA, NODE_SWITCH, NODE_ROUTER};

	now = 0;
	agent_memory_init(&memory);
	for (unsigned i = 0; i < NODES; i++) {
		if (node_init(&nodes[i], types[i], PORTS, 0x1000 + i, "fuzz") != 0) {
			while (i--)
				node_release(&nodes[i]);
			return false;
		}
		nodes[i].index = i;
		for (unsigned port = 0; port <= PORTS; port++)
			nodes[i].ports[port].info.port_state = PORT_INIT;
	}
	redirect_some();
	plug_controllers();
	return true;
}

static void check_port(const struct port *port)
{
	const struct port_info *info = &port->info;

	MUST_HOLD(info->port_state >= PORT_DOWN && info->port_state <= PORT_ACTIVE);
	MUST_HOLD(info->lid == 0 || lid_is_unicast(info->lid));
	MUST_HOLD(info->master_sm_lid == 0 || lid_is_unicast(info->master_sm_lid));
	MUST_HOLD((info->lid & ((1u << info->lmc) - 1)) == 0);
	MUST_HOLD(info->neighbor_mtu >= 1 && info->neighbor_mtu <= info->mtu_cap);
	MUST_HOLD(info->operational_vls <= info->vl_cap);
	MUST_HOLD(!(info->link_width_enabled & ~info->link_width_supported));
	MUST_HOLD(!(info->link_speed_enabled & ~info->link_speed_supported));
	MUST_HOLD(!(info->link_speed_ext_enabled & ~info->link_speed_ext_supported));
	MUST_HOLD(!(info->link_speed_ext2_enabled & ~info->link_speed_ext2_supported));
	MUST_HOLD(!(port->extended.fdr_fec_enabled & ~port->extended.fdr_fec_supported));
	MUST_HOLD(!(port->extended.edr_fec_enabled & ~port->extended.edr_fec_supported));
	MUST_HOLD(!port->congestion ||
		  (port->congestion->reaction.ccti_limit < CONGESTION_TABLE_ENTRIES &&
		   port->congestion->marking.threshold <= CONGESTION_THRESHOLD_MAX));
	MUST_HOLD(port->pkey_count == PKEYS_DEFAULT);
	MUST_HOLD(info->guid_cap == (port->guids ? GUIDS_DEFAULT : 0));
	MUST_HOLD(!port->guids || port->guids[0] == port->guid);
}

static void check_nodes(void)
{
	for (unsigned i = 0; i < NODES; i++) {
		for (unsigned port = 0; port <= PORTS; port++)
			check_port(&nodes[i].ports[port]);
		MUST_HOLD(nodes[i].port_count == PORTS);
		MUST_HOLD(nodes[i].switch_info.linear_fdb_top < LFT_ENTRIES);
	}
}

/* Classes that the agents serve come more often than others. */
static uint8_t class_of(uint8_t choice)
{
	static const uint8_t classes[] = {
		MAD_CLASS_SUBNET_LID,  MAD_CLASS_SUBNET_DIRECTED,    MAD_CLASS_SUBNET_LID,
		MAD_CLASS_PERFORMANCE, MAD_CLASS_BASEBOARD,	     MAD_CLASS_DEVICE,
		MAD_CLASS_SNMP,	       MAD_CLASS_CONGESTION_CONTROL, MAD_CLASS_SOFTIB,
	};

	return classes[choice % sizeof(classes)];
}

/* Returns how many bytes of the input were used. */
static size_t make(const uint8_t *bytes, size_t byte_count, struct mad_message *ret_message)
{
	size_t data_bytes = bytes[9];
	uint8_t class = bytes[1] == 0xff ? bytes[2] : class_of(bytes[1]);
	const struct mad_header header = {
		.base_version = bytes[2] == 0xfe ? 2 : 1,
		.management_class = class,
		.class_version = class == MAD_CLASS_CONGESTION_CONTROL ? 2 : 1,
		.method = bytes[3] & 0xf0 ? 1 + (bytes[3] & 1) : bytes[3],
		.transaction_id = 0x1122334455667788,
		.attribute_id = (uint16_t)(bytes[4] & 0x3f),
		.attribute_modifier =
			get_be32(bytes + 5) & (bytes[2] & 1 ? 0xffffffff : 0x8003001f),
	};

	if (data_bytes > byte_count - HEAD_BYTES)
		data_bytes = byte_count - HEAD_BYTES;
	if (data_bytes > MAD_BYTES - MAD_HEADER_BYTES)
		data_bytes = MAD_BYTES - MAD_HEADER_BYTES;
	memset(ret_message, 0, sizeof(*ret_message));
	/* Half of the requests get data where SMPs and counters have theirs. */
	memcpy(ret_message->bytes + (bytes[2] & 2 || data_bytes > 192 ? 24 : 64),
	       bytes + HEAD_BYTES, data_bytes);
	mad_header_encode(&header, ret_message->bytes);
	if (class == MAD_CLASS_SOFTIB && !(bytes[2] & 4))
		put_be24(ret_message->bytes + VENDOR_OUI_OFFSET, SOFTIB_OUI);
	return HEAD_BYTES + data_bytes;
}

static void ask(uint8_t choice, const struct mad_message *request)
{
	struct node *node = &nodes[choice % NODES];
	unsigned port = choice / NODES % (PORTS + 2);
	struct mad_message answer;
	uint8_t class = request->bytes[1];
	bool is_smp = class == MAD_CLASS_SUBNET_LID || class == MAD_CLASS_SUBNET_DIRECTED;
	enum agent_verdict verdict =
		is_smp ? sma_receive(&environment, node, port, now, request, &answer)
		       : gsa_receive(&environment, node, port, now, request, &answer);

	if (verdict != AGENT_ANSWERED)
		return;
	MUST_HOLD(!(request->bytes[3] & MAD_RESPONSE));
	MUST_HOLD((answer.bytes[3] & MAD_RESPONSE) || class == MAD_CLASS_BASEBOARD);
	MUST_HOLD(memcmp(answer.bytes, request->bytes, 3) == 0);
	MUST_HOLD(memcmp(answer.bytes + 8, request->bytes + 8, 10) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	struct agent_trap traps[4];
	struct mad_message request;

	if (!start())
		return 0;
	while (byte_count >= HEAD_BYTES) {
		size_t used = make(bytes, byte_count, &request);

		ask(bytes[0], &request);
		now += MILLISECONDS(bytes[0]) * bytes[1];
		agent_run(&environment, now);
		(void)agent_take_traps(&memory, now, 4, traps);
		bytes += used;
		byte_count -= used;
	}
	check_nodes();
	agent_memory_release(&memory);
	for (unsigned i = 0; i < NODES; i++)
		node_release(&nodes[i]);
	return 0;
}
