/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of subnet administration alone, without fabric or processes: PathRecord queries a second
 * of one core, tables, and the time until the SA has taken over a changed subnet. "bench-sa HOSTS".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/random.h"
#include "mgmt/sa/sa.h"
#include "mgmt/subnet/subnet.h"
#include "wire/pkey.h"
#include "wire/rate.h"
#include "wire/sa_components.h"
#include "wire/sa_mad.h"
#include "wire/sa_records.h"
#include "wire/smp.h"

enum { HOSTS_PER_LEAF = 108, LEAF_PORTS = HOSTS_PER_LEAF + 1, HOSTS_DEFAULT = 11664 };

/* CPU time of this process: others may share the machine. */
static double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static struct subnet_node *meet(struct subnet *subnet, enum node_type type, uint64_t guid,
				unsigned port_count, unsigned local_port, struct subnet_port *via)
{
	const struct node_info info = {.node_type = (uint8_t)type,
				       .node_guid = guid,
				       .port_guid = type == NODE_SWITCH ? guid : guid + local_port,
				       .port_count = (uint8_t)port_count,
				       .local_port_number = (uint8_t)local_port};
	const struct directed_route route = {0};
	struct subnet_node *node = NULL;

	if (subnet_add_node(subnet, &info, &route, via, &node) != SUBNET_NEW)
		exit(1);
	for (unsigned i = 0; i <= port_count; i++) {
		struct port_info *port = &node->ports[i].info;

		node->ports[i].is_known = true;
		port->port_state = PORT_ACTIVE;
		port->mtu_cap = 5;
		port->neighbor_mtu = 5;
		port->link_width_active = LINK_WIDTH_4X;
		port->link_speed_ext_active = 2;
	}
	return node;
}

static void fill_table(const struct subnet *subnet, struct subnet_node *node, unsigned uplink)
{
	for (unsigned lid = 1; lid <= subnet->lid_max; lid++) {
		const struct subnet_port *port = subnet->by_lid[lid];
		const struct subnet_port *leaf_port =
			port && !subnet_node_is_switch(port->node) ? port->peer : NULL;

		if (!leaf_port)
			continue;
		if (leaf_port->node == node)
			node->table[lid] = leaf_port->number;
		else
			node->table[lid] = uplink ? (uint8_t)uplink
						  : leaf_port->node->ports[LEAF_PORTS].peer->number;
	}
}

/* Leaves full of hosts below one spine. */
static struct subnet *make_subnet(unsigned host_count)
{
	unsigned leaf_count = (host_count + HOSTS_PER_LEAF - 1) / HOSTS_PER_LEAF;
	struct subnet *subnet = malloc(sizeof(*subnet));
	struct subnet_node *spine;

	subnet_init(subnet);
	subnet_begin_sweep(subnet);
	spine = meet(subnet, NODE_SWITCH, 1, leaf_count, 0, NULL);
	for (unsigned i = 1; i <= leaf_count; i++)
		meet(subnet, NODE_SWITCH, 0x1000 + i, LEAF_PORTS, LEAF_PORTS, &spine->ports[i]);
	for (unsigned i = 0; i < host_count; i++) {
		struct subnet_node *leaf = spine->ports[1 + i / HOSTS_PER_LEAF].peer->node;

		meet(subnet, NODE_CA, 0x100000 + 16 * (uint64_t)i, 1, 1,
		     &leaf->ports[1 + i % HOSTS_PER_LEAF]);
	}
	if (subnet_assign_lids(subnet))
		exit(1);
	fill_table(subnet, spine, 0);
	for (unsigned i = 1; i <= leaf_count; i++)
		fill_table(subnet, spine->ports[i].peer->node, LEAF_PORTS);
	return subnet;
}

static struct mad_message question(enum mad_method method, uint16_t attribute_id, uint64_t mask,
				   uint64_t transaction_id)
{
	const struct mad_header header = {.base_version = MAD_BASE_VERSION,
					  .management_class = MAD_CLASS_SUBNET_ADMINISTRATION,
					  .class_version = SA_CLASS_VERSION,
					  .method = (uint8_t)method,
					  .transaction_id = transaction_id,
					  .attribute_id = attribute_id};
	const struct sa_header sa_header = {.component_mask = mask};
	struct mad_message message = {
		.address = {.lid = 1, .qpn = QPN_GSI, .qkey = QKEY_GSI, .pkey = PKEY_DEFAULT_FULL}};

	mad_header_encode(&header, message.bytes);
	sa_header_encode(&sa_header, message.bytes + SA_HEADER_OFFSET);
	return message;
}

static uint64_t host_guid(struct random *random, unsigned host_count)
{
	return 0x100000 + 16 * random_below(random, host_count) + 1;
}

static void bench_paths(struct sa *sa, const struct subnet *subnet, unsigned host_count)
{
	const unsigned count = 200000;
	struct random random = random_seeded(1);
	uint64_t mask = SA_COMPONENT(PR_SGID) | SA_COMPONENT(PR_DGID) |
			SA_COMPONENT(PR_PATH_COUNT) | SA_COMPONENT(PR_REVERSIBLE);
	struct mad_message message = question(MAD_GET, SA_PATH_RECORD, mask, 1), answer;
	unsigned refused_count = 0;
	double begin = seconds();

	for (unsigned i = 0; i < count; i++) {
		uint64_t from = host_guid(&random, host_count);
		const struct path_record wanted = {.sgid_prefix = GID_PREFIX_LINK_LOCAL,
						   .sgid_guid = from,
						   .dgid_prefix = GID_PREFIX_LINK_LOCAL,
						   .dgid_guid = host_guid(&random, host_count),
						   .path_count = 1,
						   .reversible = 1};

		message.address.lid = subnet_port_by_guid(subnet, from)->lid;
		path_record_encode(&wanted, message.bytes + SA_DATA_OFFSET);
		sa_receive(sa, 1, &message);
		if (sa_transmit(sa, 1, 1, &answer) != 1 || answer.bytes[4] || answer.bytes[5])
			refused_count++;
	}
	printf("%u hosts: %.0f PathRecord queries/s of one core, engine alone (%u of %u refused)\n",
	       host_count, count / (seconds() - begin), refused_count, count);
}

static void bench_change(struct sa *sa, const struct subnet *subnet, unsigned host_count)
{
	const unsigned count = 10;
	double begin = seconds();

	for (unsigned i = 0; i < count; i++)
		sa_subnet_changed(sa, 1, subnet);
	printf("%u hosts: %.1f ms to take over a changed subnet\n", host_count,
	       (seconds() - begin) / count * 1000);
}

/* The records are made when the query arrives; one segment is enough to measure that. */
static void bench_table(struct sa *sa, unsigned host_count)
{
	struct mad_message message = question(MAD_GET_TABLE, SA_NODE_RECORD, 0, 7), answer;
	double begin = seconds();

	sa_receive(sa, 1, &message);
	if (sa_transmit(sa, 1, 1, &answer) == 1)
		printf("%u hosts: %.1f ms to make a table of all NodeRecords\n", host_count,
		       (seconds() - begin) * 1000);
}

int main(int argument_count, char **arguments)
{
	unsigned host_count =
		argument_count > 1 ? (unsigned)strtoul(arguments[1], NULL, 10) : HOSTS_DEFAULT;
	struct subnet *subnet = make_subnet(host_count);
	const struct sa_options options = {.port_guid = 0x100001,
					   .groups = &subnet->multicast_groups};
	struct sa *sa;

	if (sa_create(&options, &sa))
		return 1;
	sa_subnet_changed(sa, 1, subnet);
	bench_paths(sa, subnet, host_count);
	bench_change(sa, subnet, host_count);
	bench_table(sa, host_count);
	sa_destroy(sa);
	subnet_release(subnet);
	free(subnet);
	return 0;
}
