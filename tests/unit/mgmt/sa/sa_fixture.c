/* SPDX-License-Identifier: Apache-2.0 */
/* A small subnet and its SA. */
#include "sa_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "wire/pkey.h"
#include "wire/rate.h"
#include "wire/rmpp.h"
#include "wire/smp.h"

enum {
	PORT_COUNT_SWITCH = 8,
	HOST_GUID = 0x100,
	SWITCH_GUID = 0x200,
	ROUTER_GUID = 0x300,
	AGENT_NUMBER = 7,
	CLIENT_AGENT = 99,
};

static struct subnet_node *meet(struct sa_fixture *fixture, enum node_type type, uint64_t guid,
				unsigned port_count, unsigned local_port, struct subnet_port *via)
{
	const struct node_info info = {
		.base_version = 1,
		.class_version = 1,
		.node_type = (uint8_t)type,
		.port_count = (uint8_t)port_count,
		.system_image_guid = guid,
		.node_guid = guid,
		.port_guid = type == NODE_SWITCH ? guid : guid + local_port,
		.partition_cap = 32,
		.device_id = 1,
		.local_port_number = (uint8_t)local_port,
		.vendor_id = 0x025f1b,
	};
	const struct directed_route route = {0};
	struct subnet_node *node = NULL;
	enum subnet_add_result result = subnet_add_node(fixture->subnet, &info, &route, via, &node);

	assert_true(result == SUBNET_NEW || result == SUBNET_KNOWN);
	snprintf(node->description, sizeof(node->description), "node %llx",
		 (unsigned long long)guid);
	return node;
}

static void set_up_port(struct subnet_port *port)
{
	port->is_known = true;
	port->info.gid_prefix = GID_PREFIX_LINK_LOCAL;
	port->info.local_port_number = port->number;
	port->info.port_state = port->peer || port->number == 0 ? PORT_ACTIVE : PORT_DOWN;
	port->info.physical_state = port->peer ? PHYSICAL_LINK_UP : PHYSICAL_POLLING;
	port->info.mkey = 0x4242;
	port->info.mtu_cap = 5;
	port->info.neighbor_mtu = port->peer ? 5 : 1;
	port->info.link_width_active = LINK_WIDTH_4X;
	port->info.link_speed_active = LINK_SPEED_QDR;
	port->info.link_speed_ext_active = 2; /* EDR */
	port->info.guid_cap = 8;
	port->info.capability_mask = CAPABILITY_TRAP;
}

static void set_up_node(struct subnet_node *node)
{
	for (unsigned i = 0; i <= node->port_count; i++)
		set_up_port(&node->ports[i]);
}

static void meet_all(struct sa_fixture *fixture, unsigned missing_host)
{
	struct subnet_port *from;

	subnet_begin_sweep(fixture->subnet);
	fixture->switches[1] = meet(fixture, NODE_SWITCH, SWITCH_GUID, PORT_COUNT_SWITCH, 0, NULL);
	from = &fixture->switches[1]->ports[FIXTURE_UPLINK];
	fixture->switches[2] = meet(fixture, NODE_SWITCH, SWITCH_GUID + 0x10, PORT_COUNT_SWITCH,
				    FIXTURE_UPLINK, from);
	for (unsigned host = 1; host <= FIXTURE_HOSTS; host++) {
		if (host == missing_host)
			continue;
		from = &fixture->switches[(host + 1) / 2]->ports[host];
		fixture->hosts[host] = meet(fixture, NODE_CA, HOST_GUID + 0x10 * host, 1, 1, from);
	}
	fixture->router =
		meet(fixture, NODE_ROUTER, ROUTER_GUID, 2, 1, &fixture->switches[2]->ports[7]);
}

static void fill_table(const struct subnet *subnet, struct subnet_node *node)
{
	for (unsigned lid = 1; lid <= subnet->lid_max; lid++) {
		const struct subnet_port *port = subnet->by_lid[lid];

		if (!port)
			continue;
		if (port->node == node)
			node->table[lid] = 0;
		else if (port->peer && port->peer->node == node)
			node->table[lid] = port->peer->number;
		else
			node->table[lid] = FIXTURE_UPLINK;
	}
}

static void remember_lids(struct sa_fixture *fixture, uint8_t lmc)
{
	char text[1024];
	unsigned width = 1u << lmc;
	size_t length = 0;

	for (unsigned host = 1; host <= FIXTURE_HOSTS; host++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "0x%016x 0x%04x 0x%04x\n", HOST_GUID + 0x10 * host + 1,
					   host * width, host * width + width - 1);
	for (unsigned i = 0; i < FIXTURE_SWITCHES; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "0x%016x 0x%04x 0x%04x\n", SWITCH_GUID + 0x10 * i,
					   5 * width + i, 5 * width + i);
	length += (size_t)snprintf(text + length, sizeof(text) - length, "0x%016x 0x%04x 0x%04x\n",
				   ROUTER_GUID + 1, 7 * width, 7 * width + width - 1);
	assert_int_equal(subnet_lids_remember(fixture->subnet, text, length), 0);
}

static void prepare(struct sa_fixture *fixture, unsigned missing_host)
{
	meet_all(fixture, missing_host);
	for (unsigned i = 1; i <= FIXTURE_SWITCHES; i++) {
		set_up_node(fixture->switches[i]);
		fixture->switches[i]->switch_index = i - 1;
		fixture->switches[i]->switch_info.multicast_fdb_cap = 0x100;
	}
	for (unsigned host = 1; host <= FIXTURE_HOSTS; host++)
		if (host != missing_host)
			set_up_node(fixture->hosts[host]);
	set_up_port(&fixture->router->ports[1]);
	subnet_drop_unseen(fixture->subnet);
	assert_int_equal(subnet_assign_lids(fixture->subnet), 0);
	for (unsigned i = 1; i <= FIXTURE_SWITCHES; i++)
		fill_table(fixture->subnet, fixture->switches[i]);
}

static void set_pkeys(struct subnet_port *port, const uint16_t pkeys[], unsigned pkey_count)
{
	free(port->pkeys);
	port->pkeys = calloc(pkey_count ? pkey_count : 1, sizeof(*port->pkeys));
	memcpy(port->pkeys, pkeys, pkey_count * sizeof(*pkeys));
	port->pkey_count = (uint16_t)pkey_count;
}

static void multicast_changed(void *context, uint16_t mlid)
{
	struct sa_fixture *fixture = context;

	assert_true(fixture->changed_count < FIXTURE_CHANGES);
	fixture->changed_mlids[fixture->changed_count++] = mlid;
}

static void sm_info(void *context, struct sm_info *ret_info)
{
	const struct sa_fixture *fixture = context;

	*ret_info = (struct sm_info){.guid = fixture_port(fixture, 1)->guid,
				     .sm_key = FIXTURE_SM_KEY,
				     .act_count = 5,
				     .priority = 3,
				     .sm_state = SM_MASTER};
}

static void ask_reregistration(void *context, uint64_t port_guid)
{
	struct sa_fixture *fixture = context;

	assert_true(fixture->asked_count < FIXTURE_CHANGES);
	fixture->asked_guids[fixture->asked_count++] = port_guid;
}

static void start(struct sa_fixture *fixture, uint8_t lmc, time_ns prune_interval)
{
	static const uint16_t default_key[] = {PKEY_DEFAULT_FULL};

	memset(fixture, 0, sizeof(*fixture));
	fixture->now = SECONDS(100);
	fixture->subnet = malloc(sizeof(*fixture->subnet));
	subnet_init(fixture->subnet);
	fixture->subnet->lmc = lmc;
	remember_lids(fixture, lmc);
	prepare(fixture, 0);
	for (unsigned i = 1; i <= FIXTURE_SWITCHES; i++)
		set_pkeys(&fixture->switches[i]->ports[0], default_key, 1);
	for (unsigned host = 0; host <= FIXTURE_HOSTS; host++)
		set_pkeys(fixture_port(fixture, host), default_key, 1);

	const struct sa_options options = {
		.port_guid = fixture_port(fixture, 1)->guid,
		.agent_number = AGENT_NUMBER,
		.sm_key = FIXTURE_SM_KEY,
		.owner = {.multicast_changed = multicast_changed,
			  .ask_reregistration = ask_reregistration,
			  .sm_info = sm_info,
			  .context = fixture},
		.groups = &fixture->subnet->multicast_groups,
		.prune_interval = prune_interval,
	};

	assert_int_equal(sa_create(&options, &fixture->sa), 0);
	sa_subnet_changed(fixture->sa, fixture->now, fixture->subnet);
}

void sa_fixture_start(struct sa_fixture *fixture)
{
	start(fixture, 0, 0);
}

void sa_fixture_start_lmc(struct sa_fixture *fixture, uint8_t lmc)
{
	start(fixture, lmc, 0);
}

void sa_fixture_start_pruning(struct sa_fixture *fixture, time_ns prune_interval)
{
	start(fixture, 0, prune_interval);
}

void sa_fixture_stop(struct sa_fixture *fixture)
{
	sa_destroy(fixture->sa);
	subnet_release(fixture->subnet);
	free(fixture->subnet);
}

int sa_fixture_set_up(void **state)
{
	sa_fixture_start(*state);
	return 0;
}

int sa_fixture_tear_down(void **state)
{
	sa_fixture_stop(*state);
	return 0;
}

struct subnet_port *fixture_port(const struct sa_fixture *fixture, unsigned host)
{
	return host ? &fixture->hosts[host]->ports[1] : &fixture->router->ports[1];
}

uint16_t fixture_lid(const struct sa_fixture *fixture, unsigned host)
{
	return fixture_port(fixture, host)->lid;
}

struct gid fixture_gid(const struct sa_fixture *fixture, unsigned host)
{
	return gid_from(fixture->subnet->gid_prefix, fixture_port(fixture, host)->guid);
}

void fixture_set_pkeys(struct sa_fixture *fixture, unsigned host, const uint16_t pkeys[],
		       unsigned pkey_count)
{
	set_pkeys(fixture_port(fixture, host), pkeys, pkey_count);
	fixture_sweep(fixture);
}

void fixture_sweep(struct sa_fixture *fixture)
{
	sa_subnet_changed(fixture->sa, fixture->now, fixture->subnet);
}

void fixture_sweep_without(struct sa_fixture *fixture, unsigned host)
{
	prepare(fixture, host);
	fixture_sweep(fixture);
}

struct mad_message fixture_message(struct sa_fixture *fixture, const struct sa_question *question)
{
	const struct mad_header header = {
		.base_version = MAD_BASE_VERSION,
		.management_class = MAD_CLASS_SUBNET_ADMINISTRATION,
		.class_version = SA_CLASS_VERSION,
		.method = (uint8_t)question->method,
		.transaction_id = (uint64_t)CLIENT_AGENT << 32 | ++fixture->next_transaction,
		.attribute_id = question->attribute_id,
		.attribute_modifier = question->attribute_modifier,
	};
	const struct sa_header sa_header = {.sm_key = question->sm_key,
					    .component_mask = question->components};
	struct mad_message message = {
		.address = {.lid = question->host ? fixture_lid(fixture, question->host) : 0x999,
			    .qpn = QPN_GSI,
			    .qkey = QKEY_GSI,
			    .pkey = PKEY_DEFAULT_FULL},
	};

	assert_true(question->byte_count <= SA_DATA_BYTES);
	mad_header_encode(&header, message.bytes);
	sa_header_encode(&sa_header, message.bytes + SA_HEADER_OFFSET);
	if (question->byte_count)
		memcpy(message.bytes + SA_DATA_OFFSET, question->data, question->byte_count);
	return message;
}

bool fixture_next_message(struct sa_fixture *fixture, struct mad_message *ret_message)
{
	return sa_transmit(fixture->sa, fixture->now, 1, ret_message) == 1;
}

static void acknowledge(struct sa_fixture *fixture, const struct mad_message *segment,
			const struct rmpp_header *data)
{
	struct rmpp_header ack = {.version = RMPP_VERSION,
				  .type = RMPP_TYPE_ACK,
				  .resp_time = RMPP_RESP_TIME_NONE,
				  .flags = RMPP_FLAG_ACTIVE,
				  .segment_number = data->segment_number,
				  .length_or_last = data->segment_number + 8};
	struct mad_message message = *segment;

	message.bytes[3] ^= MAD_RESPONSE;
	rmpp_header_encode(&ack, message.bytes);
	sa_receive(fixture->sa, fixture->now, &message);
}

/* Takes one segment; true: it was the last. */
static bool take_segment(struct sa_fixture *fixture, const struct mad_message *message,
			 struct sa_reply *reply, size_t *byte_count)
{
	struct rmpp_header header;
	size_t part = SA_DATA_BYTES;
	bool is_last;

	rmpp_header_decode(message->bytes, &header);
	assert_int_equal(header.type, RMPP_TYPE_DATA);
	is_last = header.flags & RMPP_FLAG_LAST;
	if (is_last)
		part = header.length_or_last - SA_HEADER_BYTES;
	assert_true(*byte_count + part <= sizeof(reply->bytes));
	memcpy(reply->bytes + *byte_count, message->bytes + SA_DATA_OFFSET, part);
	*byte_count += part;
	acknowledge(fixture, message, &header);
	return is_last;
}

static void take_head(const struct mad_message *message, struct sa_reply *reply)
{
	struct sa_header sa_header;
	struct mad_header header;

	assert_true(mad_header_decode(message->bytes, sizeof(message->bytes), &header));
	assert_true(
		sa_header_decode(message->bytes + SA_HEADER_OFFSET, SA_HEADER_BYTES, &sa_header));
	reply->came = true;
	reply->method = header.method;
	reply->status = header.status;
	reply->attribute_id = header.attribute_id;
	reply->sm_key = sa_header.sm_key;
	reply->stride = sa_header.attribute_offset * (size_t)SA_RECORD_UNIT;
}

void fixture_ask(struct sa_fixture *fixture, const struct sa_question *question,
		 struct sa_reply *ret_reply)
{
	struct mad_message message = fixture_message(fixture, question);
	size_t byte_count = 0;

	memset(ret_reply, 0, sizeof(*ret_reply));
	sa_receive(fixture->sa, fixture->now, &message);
	while (fixture_next_message(fixture, &message)) {
		take_head(&message, ret_reply);
		if (!rmpp_mad_is_active(message.bytes)) {
			memcpy(ret_reply->bytes, message.bytes + SA_DATA_OFFSET, SA_DATA_BYTES);
			ret_reply->count = ret_reply->status == 0;
			return;
		}
		if (take_segment(fixture, &message, ret_reply, &byte_count))
			break;
	}
	if (ret_reply->stride) {
		assert_int_equal(byte_count % ret_reply->stride, 0);
		ret_reply->count = byte_count / ret_reply->stride;
	} else {
		assert_int_equal(byte_count, 0);
	}
}

void fixture_ask_path(struct sa_fixture *fixture, unsigned host, enum mad_method method,
		      const struct path_record *wanted, uint64_t components,
		      struct sa_reply *ret_reply)
{
	uint8_t data[PATH_RECORD_BYTES];
	const struct sa_question question = {.host = host,
					     .method = method,
					     .attribute_id = SA_PATH_RECORD,
					     .components = components,
					     .data = data,
					     .byte_count = sizeof(data)};

	path_record_encode(wanted, data);
	fixture_ask(fixture, &question, ret_reply);
}

struct path_record reply_path(const struct sa_reply *reply, size_t index)
{
	struct path_record record;

	assert_true(index < reply->count);
	path_record_decode(reply->bytes + index * PATH_RECORD_BYTES, &record);
	return record;
}

void fixture_ask_member(struct sa_fixture *fixture, unsigned host, enum mad_method method,
			const struct mc_member_record *wanted, uint64_t components,
			struct sa_reply *ret_reply)
{
	uint8_t data[MC_MEMBER_RECORD_BYTES];
	const struct sa_question question = {.host = host,
					     .method = method,
					     .attribute_id = SA_MC_MEMBER_RECORD,
					     .components = components,
					     .data = data,
					     .byte_count = sizeof(data)};

	mc_member_record_encode(wanted, data);
	fixture_ask(fixture, &question, ret_reply);
}

struct mc_member_record reply_member(const struct sa_reply *reply, size_t index)
{
	struct mc_member_record record;

	assert_true(index < reply->count);
	mc_member_record_decode(reply->bytes + index * (reply->stride ? reply->stride : 0),
				&record);
	return record;
}
