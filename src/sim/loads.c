/* SPDX-License-Identifier: Apache-2.0 */
/* Load and multicast flows: packets without queue pairs, whose payload says when they were sent. */
#include "sim/loads.h"

#include <errno.h>
#include <string.h>
#include "base/bytes.h"
#include "mgmt/subnet/multicast_groups.h"
#include "sim/paths.h"
#include "sim/traffic.h"
#include "wire/opcode.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum {
	LOAD_QPN = 0xfffff0,	/* no queue pair of the simulator has this number */
	LOAD_QKEY = 0x10ad10ad, /* marks a packet of a load flow */
	STAMP_BYTES = 16,	/* flow, flags, time */
};

static bool is_multicast(const struct flow *flow)
{
	return flow->options->service == FLOW_MULTICAST;
}

/* One group per flow. Every receiver joins it, and the manager makes its multicast tree. */
static int join_all(struct flow *flow, struct scenario_error *ret_error)
{
	struct sim *sim = flow->traffic->sim;
	struct sm *sm = sim_manager_of(sim, flow->load.port);
	const struct multicast_characteristics characteristics = {
		.pkey = PKEY_DEFAULT_FULL,
		.qkey = LOAD_QKEY,
		.mtu = MTU_4096,
		.sl = flow->options->sl,
		.scope = 2,
	};
	struct multicast_member *member;
	struct multicast_group *group;

	if (!sm)
		return traffic_refuse(flow, "its sender is in no subnet", ret_error);

	struct multicast_groups *groups = sm_multicast_groups(sm);
	struct gid mgid = multicast_groups_choose_mgid(groups, 2, 0);
	int error = multicast_groups_create(groups, &mgid, &characteristics, &group);

	if (!error)
		error = multicast_group_join(group, flow->load.port->guid, JOIN_SEND_ONLY, &member);
	for (unsigned i = 0; !error && i < flow->options->member_count; i++) {
		struct sim_host *host = sim_find_host(sim, flow->options->members[i]);

		if (!host)
			return traffic_refuse(flow, "no such host among its members", ret_error);
		/* The group's scope is link-local, so hosts of other subnets cannot join. */
		if (sim_manager_of(sim, &host->node->ports[1]) != sm)
			return traffic_refuse(flow, "a member is in another subnet", ret_error);
		error = multicast_group_join(group, host->node->ports[1].guid, JOIN_FULL, &member);
	}
	if (error)
		return traffic_refuse(flow, "the group could not be made", ret_error);
	flow->load.dlid = group->mlid;
	flow->load.is_global = true;
	flow->load.hop_limit = 1;
	flow->load.dgid = mgid;
	sm_multicast_changed(sm, group->mlid);
	return 0;
}

int load_init(struct flow *flow, struct scenario_error *ret_error)
{
	uint32_t host_index = (uint32_t)(flow->from - flow->traffic->sim->hosts);

	flow->load.port = &flow->from->node->ports[1];
	list_append(&flow->traffic->loads[host_index], &flow->load.link);
	if (is_multicast(flow))
		return join_all(flow, ret_error);

	struct sim_path path;

	if (sim_path_find(flow->traffic->sim, flow->load.port, &flow->to->node->ports[1], &path))
		return traffic_refuse(flow, "no router leads to its receiver", ret_error);
	flow->load.dlid = path.dlid;
	flow->load.is_global = path.is_global;
	flow->load.hop_limit = path.hop_limit;
	flow->load.dgid = path.dgid;
	return 0;
}

static uint32_t payload_bytes_max(const struct flow *flow)
{
	return mtu_bytes(flow->load.port->info.neighbor_mtu);
}

static uint32_t packets_of(const struct flow *flow)
{
	uint32_t max = payload_bytes_max(flow);
	uint32_t count = (flow->options->message_bytes + max - 1) / max;

	return count ? count : 1;
}

/* Payload size of the next packet. */
static uint32_t payload_bytes(const struct flow *flow)
{
	uint32_t max = payload_bytes_max(flow);
	uint32_t done = (packets_of(flow) - flow->load.packets_left) * max;
	uint32_t left = flow->options->message_bytes - done;
	uint32_t bytes = left < max ? left : max;

	return bytes < STAMP_BYTES ? STAMP_BYTES : (bytes + 3) & ~3u;
}

static uint32_t header_bytes(const struct flow *flow)
{
	return LRH_BYTES + (flow->load.is_global ? GRH_BYTES : 0) + BTH_BYTES + DETH_BYTES;
}

/* The frame stores only the stamp of the payload; the bytes after it are undefined. */
static void write_packet(const struct flow *flow, struct frame *frame, uint32_t bytes, time_ns now)
{
	uint8_t *next = frame->bytes;

	frame->byte_count = header_bytes(flow) + bytes;

	const struct lrh lrh = {
		.sl = flow->options->sl,
		.lnh = flow->load.is_global ? LNH_GLOBAL : LNH_LOCAL,
		.dlid = flow->load.dlid,
		.slid = flow->load.port->info.lid,
		.words = (uint16_t)((frame->byte_count + ICRC_BYTES) / 4),
	};
	const struct bth bth = {
		.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
		.pkey = PKEY_DEFAULT_FULL,
		.destination_qpn = is_multicast(flow) ? QPN_MULTICAST : LOAD_QPN,
	};
	const struct deth deth = {.qkey = LOAD_QKEY, .source_qpn = LOAD_QPN};

	lrh_encode(&lrh, next);
	next += LRH_BYTES;
	if (flow->load.is_global) {
		const struct grh grh = {
			.version = 6,
			.next_header = GRH_NEXT_HEADER_IBA,
			.hop_limit = flow->load.hop_limit,
			.sgid = gid_from(flow->load.port->info.gid_prefix, flow->load.port->guid),
			.dgid = flow->load.dgid,
			.payload_bytes = (uint16_t)(BTH_BYTES + DETH_BYTES + bytes + ICRC_BYTES)};

		grh_encode(&grh, next);
		next += GRH_BYTES;
	}
	bth_encode(&bth, next);
	deth_encode(&deth, next + BTH_BYTES);
	next += BTH_BYTES + DETH_BYTES;
	put_be32(next, flow->index);
	put_be32(next + 4, flow->load.packets_left == 1);
	put_be64(next + 8, now);
	frame->static_rate = flow->options->static_rate;
	frame->source_qpn = LOAD_QPN;
	frame->source = (void *)flow;
}

/* Sends one packet. False: nothing to send, or no room. */
static bool send_packet(struct flow *flow)
{
	struct sim *sim = flow->traffic->sim;
	bool is_endless = flow->options->bits_per_second == 0 && flow->is_running;

	if (flow->load.packets_left == 0) {
		if (flow->due == 0 && !is_endless)
			return false;
		if (flow->options->message_count && flow->sent == flow->options->message_count)
			return false;
		flow->load.packets_left = packets_of(flow);
	}

	uint32_t bytes = payload_bytes(flow);
	/* Nothing reads the payload after the stamp. */
	struct frame *frame = frame_take_for(&sim->fabric.frames, header_bytes(flow) + STAMP_BYTES);

	if (!frame)
		return false;
	write_packet(flow, frame, bytes, sim->now);
	if (!sim_inject(flow->from, flow->load.port, frame)) {
		frame->source = NULL;
		frame_give_back(&sim->fabric.frames, frame);
		return false;
	}
	flow->traffic->packet_count++;
	if (--flow->load.packets_left == 0) {
		flow->sent++;
		if (flow->due)
			flow->due--;
	}
	return true;
}

void loads_send(struct traffic *traffic, const struct sim_host *host)
{
	struct list *loads = &traffic->loads[host - traffic->sim->hosts];
	struct list *idle_since = NULL;

	/* Round robin, continued from one call to the next, so that no flow fills the port
	 * alone. */
	while (!list_is_empty(loads) && loads->next != idle_since) {
		struct list *link = list_pop(loads);

		list_append(loads, link);
		if (send_packet(container_of(link, struct flow, load.link)))
			idle_since = NULL;
		else if (!idle_since)
			idle_since = link;
	}
}

bool loads_receive(struct traffic *traffic, const struct port *port, const struct frame *frame)
{
	unsigned offset = LRH_BYTES + ((frame->bytes[1] & 3) == LNH_GLOBAL ? GRH_BYTES : 0);
	const uint8_t *stamp = frame->bytes + offset + BTH_BYTES + DETH_BYTES;

	if (frame->byte_count < offset + BTH_BYTES + DETH_BYTES + STAMP_BYTES ||
	    get_be32(frame->bytes + offset + BTH_BYTES) != LOAD_QKEY ||
	    get_be32(stamp) >= traffic->flow_count)
		return false;

	struct flow *flow = &traffic->flows[get_be32(stamp)];

	/* An adapter receives its own multicasts, but the sender of a flow is not one of its
	 * receivers. */
	if (is_multicast(flow) && port->endpoint == flow->from)
		return true;
	traffic_message_arrived(flow, frame->byte_count - (offset + BTH_BYTES + DETH_BYTES),
				get_be64(stamp + 8), get_be32(stamp + 4) != 0);
	return true;
}
