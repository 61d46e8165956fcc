/* SPDX-License-Identifier: Apache-2.0 */
/* A fabric with subnet administration and its clients. */
#include "sa_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/subnet/subnet.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum { SA_AGENT = 1, CLIENT_AGENT_FIRST = 100, BATCH = 16 };

bool sa_rig_send(struct sa_rig *rig, struct port *port, const struct mad_message *message)
{
	struct sim *sim = &rig->sim;
	struct frame *frame = frame_take(&sim->fabric.frames);
	struct packet packet = {
		.lrh = {.dlid = message->address.lid, .slid = port->info.lid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = QPN_GSI,
			.psn = {rig->psn++ & 0xffffff}},
		.deth = {.qkey = QKEY_GSI, .source_qpn = QPN_GSI},
		.packet_count = 1,
	};
	uint8_t bytes[MAD_BYTES];

	/* A frame that finds no room is lost, and repeated like one that a link loses. */
	if (!frame)
		return false;
	memcpy(bytes, message->bytes, sizeof(bytes));
	packet_set_payload(&packet, bytes, sizeof(bytes));
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	frame->source = NULL;
	if (fabric_inject(&sim->fabric, port, frame, sim->now))
		return true;
	frame_give_back(&sim->fabric.frames, frame);
	return false;
}

struct port *sa_rig_port(const struct sa_rig *rig, unsigned host)
{
	return &rig->hosts[host].host->node->ports[1];
}

static unsigned host_at(const struct sa_rig *rig, const struct port *port)
{
	unsigned host = 0;

	while (host < rig->host_count && sa_rig_port(rig, host) != port)
		host++;
	assert_true(host < rig->host_count);
	return host;
}

static void deliver(struct sa_rig *rig, struct port *port, struct mad_message *message)
{
	uint8_t method = message->bytes[3];
	unsigned host = host_at(rig, port);

	if (rig->programs->received && rig->programs->received(host, message))
		return;
	if (message->bytes[1] != MAD_CLASS_SUBNET_ADMINISTRATION)
		return;
	if (method == MAD_REPORT && rig->programs->reported) {
		rig->programs->reported(host, message);
		message->bytes[3] = MAD_REPORT_RESPONSE;
		sa_rig_send(rig, port, message);
	} else if (method == MAD_REPORT_RESPONSE || !(method & MAD_RESPONSE)) {
		if (port == rig->sim.managers[0].port)
			sa_receive(rig->sa, rig->sim.now, message);
	} else {
		sa_client_receive(&rig->hosts[host].client, rig->sim.now, message);
	}
}

bool sa_rig_decode(const struct frame *frame, struct mad_message *ret_message)
{
	uint8_t bytes[PACKET_BYTES_MAX];
	struct packet packet;

	memcpy(bytes, frame->bytes, frame->byte_count);
	if (packet_decode(bytes, frame->byte_count, 1, &packet) != PACKET_OK ||
	    packet.bth.destination_qpn != QPN_GSI || packet.payload.byte_count != MAD_BYTES)
		return false;
	*ret_message = (struct mad_message){.address = {.lid = packet.lrh.slid,
							.qpn = QPN_GSI,
							.qkey = QKEY_GSI,
							.pkey = packet.bth.pkey}};
	payload_copy(&packet.payload, 0, MAD_BYTES, ret_message->bytes);
	return true;
}

static bool receive(void *context, struct port *port, const struct frame *frame)
{
	struct mad_message message;

	if (!sa_rig_decode(frame, &message))
		return false;
	deliver(context, port, &message);
	return true;
}

static void run_host(struct sa_rig *rig, unsigned host, time_ns now)
{
	struct sa_client *client = &rig->hosts[host].client;
	struct mad_message messages[BATCH];
	struct sa_client_result result;
	unsigned count;

	if (rig->programs->run)
		rig->programs->run(host);
	count = sa_client_transmit(client, now, BATCH, messages);
	for (unsigned i = 0; i < count; i++)
		sa_rig_send(rig, sa_rig_port(rig, host), &messages[i]);
	while (sa_client_take_result(client, &result)) {
		assert_int_equal(result.outcome, SA_CLIENT_ANSWERED);
		if (rig->programs->answered)
			rig->programs->answered(host);
	}
}

static void run(void *context, time_ns now)
{
	struct sa_rig *rig = context;
	struct mad_message messages[BATCH];
	unsigned count;

	while ((count = sa_transmit(rig->sa, now, BATCH, messages)))
		for (unsigned i = 0; i < count; i++)
			sa_rig_send(rig, rig->sim.managers[0].port, &messages[i]);
	for (unsigned host = 0; host < rig->host_count; host++)
		run_host(rig, host, now);
}

static time_ns deadline(const void *context)
{
	const struct sa_rig *rig = context;
	time_ns earliest = sa_deadline(rig->sa);

	for (unsigned host = 0; host < rig->host_count; host++)
		earliest = time_earlier(earliest, sa_client_deadline(&rig->hosts[host].client));
	if (rig->programs->deadline)
		earliest = time_earlier(earliest, rig->programs->deadline());
	return earliest;
}

static void sweep_finished(void *context, time_ns now)
{
	struct sa_rig *rig = context;

	if (rig->sa)
		sa_subnet_changed(rig->sa, now, sm_subnet(rig->sim.managers[0].sm));
}

static void trap(void *context, time_ns now, const struct notice *notice, uint16_t source_lid)
{
	struct sa_rig *rig = context;

	(void)source_lid;
	if (rig->sa)
		sa_notice(rig->sa, now, notice);
}

static void reregistration_asked(void *context, time_ns now, const struct subnet_port *port)
{
	struct sa_rig *rig = context;

	if (rig->sa)
		sa_reregistration_asked(rig->sa, now, port->guid);
}

static void ask_reregistration(void *context, uint64_t port_guid)
{
	struct sa_rig *rig = context;

	sm_ask_reregistration(rig->sim.managers[0].sm, port_guid);
}

static void multicast_changed(void *context, uint16_t mlid)
{
	struct sa_rig *rig = context;

	sm_multicast_changed(rig->sim.managers[0].sm, mlid);
}

static void start_sa(struct sa_rig *rig, time_ns prune_interval)
{
	const struct sa_options options = {
		.port_guid = rig->sim.managers[0].port->guid,
		.agent_number = SA_AGENT,
		.groups = sm_multicast_groups(rig->sim.managers[0].sm),
		.owner = {.multicast_changed = multicast_changed,
			  .ask_reregistration = ask_reregistration,
			  .context = rig},
		.prune_interval = prune_interval,
	};

	assert_int_equal(sa_create(&options, &rig->sa), 0);
	sa_subnet_changed(rig->sa, rig->sim.now, sm_subnet(rig->sim.managers[0].sm));
}

void sa_rig_begin(struct sa_rig *rig, uint64_t seed, time_ns prune_interval,
		  const struct sa_rig_programs *programs)
{
	const struct sm_options options = {
		.sweep_interval = SECONDS(1),
		.owner = {.sweep_finished = sweep_finished,
			  .trap = trap,
			  .reregistration_asked = reregistration_asked,
			  .context = rig},
	};
	struct topology_error error;

	memset(rig, 0, sizeof(*rig));
	rig->programs = programs;
	assert_int_equal(sim_init(&rig->sim, "fat-tree:4", seed, &error), 0);
	assert_int_equal(sim_start_sm_with(&rig->sim, &rig->sim.hosts[0], &options), 0);
	assert_true(sim_bring_up(&rig->sim, SECONDS(60)));
	rig->host_count =
		rig->sim.host_count < SA_RIG_HOSTS_MAX ? rig->sim.host_count : SA_RIG_HOSTS_MAX;
	for (unsigned i = 0; i < rig->host_count; i++) {
		const struct sa_client_options client = {.agent_number = CLIENT_AGENT_FIRST + i,
							 .timeout = MILLISECONDS(100),
							 .tries = 50};

		rig->hosts[i].host = &rig->sim.hosts[i];
		assert_int_equal(sa_client_init(&rig->hosts[i].client, &client), 0);
	}
	start_sa(rig, prune_interval);
	rig->sim.programs = (struct sim_programs){
		.receive = receive, .run = run, .deadline = deadline, .context = rig};
}

void sa_rig_end(struct sa_rig *rig)
{
	rig->sim.programs = (struct sim_programs){0};
	for (unsigned i = 0; i < rig->host_count; i++)
		sa_client_release(&rig->hosts[i].client);
	sa_destroy(rig->sa);
	rig->sa = NULL;
	sim_release(&rig->sim);
}

struct sa_client *sa_rig_client(struct sa_rig *rig, unsigned host)
{
	struct sa_client *client = &rig->hosts[host].client;

	sa_client_set_sa(client, sa_rig_port(rig, host)->info.master_sm_lid, 0, PKEY_DEFAULT_FULL);
	return client;
}

void sa_rig_run_for(struct sa_rig *rig, time_ns duration)
{
	sim_run_until(&rig->sim, rig->sim.now + duration);
}
