/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of the step function: stars and trees under full load, unpaced and paced, in packet-hops a
 * second of one core, and the memory of an idle host.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/random.h"
#include "fabric/fabric.h"
#include "fabric/topology/topology.h"
#include "launch/large_pages.h"
#include "net/link/port_queues.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum {
	PAYLOAD_BYTES_DEFAULT = 256,
	FRAMES_PER_HOST = 16, /* under way at any time */
	STEP_FRAMES = 4096,
};

struct load {
	struct fabric fabric;
	struct port **hosts;
	unsigned host_count;
	struct random random;
	time_ns now;
	uint32_t payload_bytes;
};

/* CPU time of this process: others may share the machine. */
static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void fill(struct load *load, struct frame *frame, const struct port *from)
{
	static uint8_t payload[MTU_BYTES_MAX];
	const struct port *to = load->hosts[random_below(&load->random, load->host_count)];
	struct packet packet = {
		.lrh = {.dlid = to->info.lid, .slid = from->info.lid},
		.bth = {.opcode = TRANSPORT_UC | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = 17},
		.packet_count = 1,
	};

	packet_set_payload(&packet, payload, load->payload_bytes);
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
}

/* A host sends a packet for each that it receives. */
static bool deliver(void *context, struct port *port, struct frame *frame)
{
	struct load *load = context;

	fill(load, frame, port);
	if (!fabric_inject(&load->fabric, port, frame, load->now))
		frame_give_back(&load->fabric.frames, frame);
	return true;
}

/* Ports of each switch on shortest paths to one leaf; the hosts of the leaf are spread over them.
 */
static void route_to_leaf(struct load *load, struct node *leaf, uint32_t *distance, uint32_t *queue)
{
	struct fabric *fabric = &load->fabric;
	uint32_t head = 0, tail = 0;

	memset(distance, 0xff, fabric->node_count * sizeof(*distance));
	distance[leaf->index] = 0;
	queue[tail++] = leaf->index;
	while (head < tail) {
		struct node *node = fabric->by_index[queue[head++]];
		unsigned ways[NODE_PORTS_MAX], way_count = 0;

		for (unsigned number = 1; number <= node->port_count; number++) {
			const struct port *peer = node->ports[number].peer;

			if (!peer || !node_is_switch(peer->node))
				continue;
			if (distance[peer->node->index] == UINT32_MAX) {
				distance[peer->node->index] = distance[node->index] + 1;
				queue[tail++] = peer->node->index;
			}
			if (distance[peer->node->index] < distance[node->index])
				ways[way_count++] = number;
		}
		for (unsigned number = 1; number <= leaf->port_count; number++) {
			const struct port *peer = leaf->ports[number].peer;

			if (!peer || node_is_switch(peer->node))
				continue;
			node->lft[peer->info.lid] =
				(uint8_t)(node == leaf ? number : ways[peer->info.lid % way_count]);
		}
	}
}

static void configure(struct load *load)
{
	struct fabric *fabric = &load->fabric;
	uint32_t *distance = calloc(fabric->node_count, sizeof(*distance));
	uint32_t *queue = calloc(fabric->node_count, sizeof(*queue));
	uint16_t lid = 1;

	load->hosts = calloc(fabric->node_count, sizeof(struct port *));
	for (uint32_t index = 0; index < fabric->node_count; index++) {
		struct node *node = fabric->by_index[index];

		for (unsigned number = 1; number <= node->port_count; number++)
			if (node->ports[number].peer)
				node->ports[number].info.port_state = PORT_ACTIVE;
		if (!node_is_switch(node)) {
			node->ports[1].info.lid = lid++;
			load->hosts[load->host_count++] = &node->ports[1];
		} else {
			node->switch_info.linear_fdb_top = LFT_ENTRIES - 1;
			node->switch_info.life_time_value = LIFETIME_CODE_MAX + 1;
		}
	}
	for (uint32_t index = 0; index < fabric->node_count; index++) {
		struct node *node = fabric->by_index[index];
		bool is_leaf = false;

		for (unsigned number = 1; node_is_switch(node) && number <= node->port_count;
		     number++)
			is_leaf |= node->ports[number].peer &&
				   !node_is_switch(node->ports[number].peer->node);
		if (is_leaf)
			route_to_leaf(load, node, distance, queue);
	}
	free(distance);
	free(queue);
}

static uint64_t packet_hops(const struct fabric *fabric)
{
	uint64_t count = 0;

	for (uint32_t index = 0; index < fabric->node_count; index++)
		for (unsigned number = 1; number <= fabric->by_index[index]->port_count; number++)
			count += fabric->by_index[index]->ports[number].counters.transmit_packets;
	return count;
}

static void run_for(struct load *load, double duration)
{
	double end = seconds() + duration;

	do {
		for (unsigned i = 0; i < 64; i++) {
			bool is_busy = fabric_step(&load->fabric, load->now, STEP_FRAMES);
			time_ns deadline = fabric_deadline(&load->fabric);

			if (!is_busy && load->fabric.is_paced && deadline != TIME_NEVER)
				load->now = deadline;
		}
	} while (seconds() < end);
}

static void measure(const char *generator, bool is_paced, double duration, uint32_t payload_bytes)
{
	struct load load = {.random = random_seeded(1), .payload_bytes = payload_bytes};
	const struct fabric_owner owner = {.deliver = deliver, .context = &load};
	struct topology_error error;

	if (fabric_init(&load.fabric, &owner) != 0 ||
	    topology_generate(&load.fabric, generator, &error) != 0) {
		fprintf(stderr, "%s can't be made\n", generator);
		exit(EXIT_FAILURE);
	}
	load.fabric.is_paced = is_paced;
	configure(&load);
	for (unsigned i = 0; i < FRAMES_PER_HOST * load.host_count; i++) {
		struct frame *frame = frame_take_for(&load.fabric.frames, 64 + payload_bytes);
		struct port *from = load.hosts[i % load.host_count];

		if (!frame)
			break;
		fill(&load, frame, from);
		if (!fabric_inject(&load.fabric, from, frame, 0))
			frame_give_back(&load.fabric.frames, frame);
	}
	run_for(&load, duration / 4);

	uint64_t before = packet_hops(&load.fabric);
	time_ns virtual_start = load.now;
	double start = seconds();

	run_for(&load, duration);

	double spent = seconds() - start;
	double hops = (double)(packet_hops(&load.fabric) - before);

	printf("%-8s %-12s %6u hosts %6u B  %7.2f M packet-hops/s  %6.0f ns each",
	       is_paced ? "paced" : "unpaced", generator, load.host_count, payload_bytes,
	       hops / spent * 1e-6, spent / hops * 1e9);
	if (is_paced)
		printf("  %.0f us of virtual time", (double)(load.now - virtual_start) * 1e-3);
	printf("\n");
	fabric_release(&load.fabric);
	free(load.hosts);
}

/* The memory of a host beyond its P_Key, GUID and SL tables: node, port, queues. */
static void measure_memory(void)
{
	enum { NODES = 2000 };
	struct fabric fabric;
	const struct fabric_owner owner = {.deliver = deliver};

	if (fabric_init(&fabric, &owner) != 0)
		exit(EXIT_FAILURE);

	size_t before = mallinfo2().uordblks;

	for (unsigned i = 0; i < NODES; i++) {
		struct node *node;

		if (fabric_add_node(&fabric, NODE_CA, 1, 1 + i, "h", "h", &node) != 0)
			exit(EXIT_FAILURE);
	}
	printf("an idle host takes %zu bytes in the fabric\n",
	       (mallinfo2().uordblks - before) / NODES);
	fabric_release(&fabric);
}

int main(int argument_count, char **arguments)
{
	/* One switch, one switch, two levels; three levels and 1,024 hosts, where the aim is 2 M/s.
	 */
	static const char *const generators[] = {"star:8", "star:64", "star:512", "fat-tree:16",
						 "star:4096"};
	double duration = argument_count > 1 ? strtod(arguments[1], NULL) : 1;
	uint32_t payload_bytes = argument_count > 2 ? (uint32_t)strtoul(arguments[2], NULL, 10)
						    : PAYLOAD_BYTES_DEFAULT;

	const char *only = argument_count > 3 ? arguments[3] : NULL;
	const char *mode = argument_count > 4 ? arguments[4] : NULL;

	if (duration <= 0 || payload_bytes > MTU_BYTES_MAX || payload_bytes % 4) {
		fprintf(stderr, "Usage: bench-fabric [SECONDS [PAYLOAD-BYTES [TOPOLOGY "
				"[paced|unpaced]]]]\n");
		return 2;
	}
	measure_memory();
	/* As softib sim does. */
	large_pages_for_heap();
	for (unsigned paced = 0; paced < 2; paced++)
		for (unsigned i = 0; i < ARRAY_COUNT(generators); i++)
			if ((!only || strcmp(only, generators[i]) == 0) &&
			    (!mode || paced == (strcmp(mode, "paced") == 0)))
				measure(generators[i], paced, duration, payload_bytes);
	return EXIT_SUCCESS;
}
