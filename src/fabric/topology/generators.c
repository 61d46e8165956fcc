/* SPDX-License-Identifier: Apache-2.0 */
/* Generated topologies: star, ring, fat tree, mesh, torus and routed subnets. GUIDs are the same in
 * every run. */
#include "fabric/topology/topology.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/fabric.h"
#include "wire/mad.h"

enum {
	HOSTS_MAX = 20000, /* LIDs have 16 bits, and 48 thousand of them are unicast */
	STAR_HOSTS_MAX = NODE_PORTS_MAX, /* on one switch */
	LEAF_PORTS = 32,
	LEAF_HOSTS = 24,
	LEAF_UPLINKS = LEAF_PORTS - LEAF_HOSTS, /* and as many spine switches */
	TREE_HOSTS_MAX = LEAF_HOSTS * NODE_PORTS_MAX,
	FAT_TREE_MAX = 42, /* 18522 hosts */
	HOST_ADAPTER_PORTS = 1,
	ROUTED_HOSTS_MAX = 78, /* in a subnet: 254 such subnets stay below HOSTS_MAX */
	TCAS_MAX = 1000,
};

/* Directed routes have at most 63 hops, and two of them are the hosts' cables. */
enum {
	SWITCH_HOPS_MAX = MAD_HOPS_MAX - 2,
	RING_SWITCHES_MAX = 2 * SWITCH_HOPS_MAX + 1,
	MESH_SIDE_MAX = SWITCH_HOPS_MAX + 1,
	TORUS_SIDE_MAX = RING_SWITCHES_MAX,
};

enum { SIZES_MAX = 3 }; /* numbers of one generator: torus:AxBxC */

/* GUIDs of generated nodes: vendor | kind | index from 1 | adapter | port. */
enum guid_kind { GUID_KIND_CA = 1, GUID_KIND_SWITCH = 2, GUID_KIND_ROUTER = 3 };

static uint64_t generated_guid(enum guid_kind kind, uint32_t index)
{
	return (uint64_t)NODE_VENDOR_ID << 40 | (uint64_t)kind << 32 | (uint64_t)index << 16;
}

struct builder {
	struct fabric *fabric;
	uint32_t host_count;
	uint32_t switch_count;
	uint32_t router_count;
	uint32_t tca_count; /* to add after everything else */
	struct leaf *leaves;
	uint32_t leaf_count; /* that there are so far */
	uint32_t leaves_in_all;
	int error;
};

/* A switch that has hosts. */
struct leaf {
	struct node *node;
	unsigned first_free_port;
};

/* NULL if this or an earlier step fails. */
static struct node *add_node(struct builder *builder, enum node_type type, unsigned port_count,
			     uint64_t guid, const char *description)
{
	static const char letters[] = {[NODE_CA] = 'H', [NODE_SWITCH] = 'S', [NODE_ROUTER] = 'R'};
	char name[32];
	struct node *node = NULL;

	snprintf(name, sizeof(name), "%c-%016llx", letters[type], (unsigned long long)guid);
	if (!builder->error)
		builder->error = fabric_add_node(builder->fabric, type, port_count, guid, name,
						 description, &node);
	return node;
}

static struct node *add_switch(struct builder *builder, unsigned port_count)
{
	uint32_t index = ++builder->switch_count;
	char description[32];

	snprintf(description, sizeof(description), "switch-%u", index);
	return add_node(builder, NODE_SWITCH, port_count, generated_guid(GUID_KIND_SWITCH, index),
			description);
}

static uint32_t tcas_of_leaf(const struct builder *builder, uint32_t leaf)
{
	return builder->tca_count / builder->leaves_in_all +
	       (leaf < builder->tca_count % builder->leaves_in_all);
}

/* Says how many switches will have hosts, before the first is added. */
static void plan_leaves(struct builder *builder, uint32_t leaf_count)
{
	builder->leaves_in_all = leaf_count;
	builder->leaves = calloc(leaf_count, sizeof(builder->leaves[0]));
	if (!builder->leaves)
		builder->error = -ENOMEM;
}

/* A switch with so many ports, and behind them one for each of its target channel adapters. */
static struct node *add_leaf(struct builder *builder, unsigned port_count)
{
	unsigned tca_count;
	struct node *node;

	if (builder->error)
		return NULL;
	tca_count = tcas_of_leaf(builder, builder->leaf_count);
	if (port_count + tca_count > NODE_PORTS_MAX) {
		builder->error = -E2BIG;
		return NULL;
	}
	node = add_switch(builder, port_count + tca_count);
	assert(builder->leaf_count < builder->leaves_in_all);
	builder->leaves[builder->leaf_count++] =
		(struct leaf){.node = node, .first_free_port = port_count + 1};
	return node;
}

static struct node *add_router(struct builder *builder, unsigned port_count)
{
	uint32_t index = ++builder->router_count;
	char description[32];

	snprintf(description, sizeof(description), "router-%u", index);
	return add_node(builder, NODE_ROUTER, port_count, generated_guid(GUID_KIND_ROUTER, index),
			description);
}

static void connect(struct builder *builder, struct node *a, unsigned port_a, struct node *b,
		    unsigned port_b)
{
	if (!builder->error)
		builder->error =
			fabric_connect(builder->fabric, &a->ports[port_a], &b->ports[port_b]);
}

static struct node *add_adapter(struct builder *builder, uint32_t guid_index, const char *host,
				struct node *switch_node, unsigned switch_port)
{
	char description[32];

	snprintf(description, sizeof(description), "%.20s softib0", host);

	struct node *node = add_node(builder, NODE_CA, HOST_ADAPTER_PORTS,
				     generated_guid(GUID_KIND_CA, guid_index), description);

	if (!node)
		return NULL;
	snprintf(node->host, sizeof(node->host), "%s", host);
	connect(builder, node, 1, switch_node, switch_port);
	return node;
}

/* Adds the next host, cabled to this port of a switch. */
static void add_host(struct builder *builder, struct node *switch_node, unsigned switch_port)
{
	uint32_t index = ++builder->host_count;
	char host[16];

	snprintf(host, sizeof(host), "h%u", index);
	(void)add_adapter(builder, index, host, switch_node, switch_port);
}

/* The target channel adapters come last, so that hosts have the GUIDs and addresses that they have
 * without them. */
static void add_tcas(struct builder *builder)
{
	for (uint32_t index = 0; index < builder->tca_count && !builder->error; index++) {
		struct leaf *leaf = &builder->leaves[index % builder->leaves_in_all];
		char host[16];

		snprintf(host, sizeof(host), "tca%u", index + 1);

		struct node *node = add_adapter(builder, builder->host_count + index + 1, host,
						leaf->node, leaf->first_free_port++);

		if (node)
			node_make_target(node);
	}
}

/* The uplinks of every leaf switch are spread over the spine switches, so that any of those may
 * fail. */
static void build_tree(struct builder *builder, unsigned host_count)
{
	unsigned leaf_count = (host_count + LEAF_HOSTS - 1) / LEAF_HOSTS;
	struct node *spines[LEAF_UPLINKS];

	plan_leaves(builder, leaf_count);
	for (unsigned spine = 0; spine < LEAF_UPLINKS; spine++)
		spines[spine] = add_switch(builder, leaf_count);
	for (unsigned leaf = 0; leaf < leaf_count && !builder->error; leaf++) {
		struct node *node = add_leaf(builder, LEAF_PORTS);

		for (unsigned port = 1; port <= LEAF_HOSTS && builder->host_count < host_count;
		     port++)
			add_host(builder, node, port);
		for (unsigned uplink = 0; uplink < LEAF_UPLINKS; uplink++)
			connect(builder, node, LEAF_HOSTS + 1 + uplink, spines[uplink], leaf + 1);
	}
}

static int build_star(struct builder *builder, unsigned host_count)
{
	if (host_count + builder->tca_count > STAR_HOSTS_MAX) {
		build_tree(builder, host_count);
		return builder->error;
	}
	plan_leaves(builder, 1);

	struct node *node = add_leaf(builder, host_count);

	for (unsigned port = 1; port <= host_count; port++)
		add_host(builder, node, port);
	return builder->error;
}

enum { RING_NEXT = 1, RING_PREVIOUS = 2, RING_HOST = 3, RING_PORTS = 3 };

static int build_ring(struct builder *builder, unsigned switch_count)
{
	struct node *first = NULL, *previous = NULL;

	plan_leaves(builder, switch_count);
	for (unsigned i = 0; i < switch_count && !builder->error; i++) {
		struct node *node = add_leaf(builder, RING_PORTS);

		add_host(builder, node, RING_HOST);
		if (previous)
			connect(builder, previous, RING_NEXT, node, RING_PREVIOUS);
		else
			first = node;
		previous = node;
	}
	/* Two switches make a ring with both of their cables, one makes none. */
	if (previous != first)
		connect(builder, previous, RING_NEXT, first, RING_PREVIOUS);
	return builder->error;
}

/* K pods of K/2 edge and K/2 aggregation switches, (K/2)^2 cores; core c hangs on aggregation
 * switch c / (K/2). */
static int build_fat_tree(struct builder *builder, unsigned arity)
{
	unsigned half = arity / 2;
	struct node **cores = calloc((size_t)half * half, sizeof(struct node *));
	struct node **aggregations = calloc(half, sizeof(struct node *));

	if (!cores || !aggregations)
		builder->error = -ENOMEM;
	else
		plan_leaves(builder, arity * half);
	for (unsigned core = 0; core < half * half && !builder->error; core++)
		cores[core] = add_switch(builder, arity);
	for (unsigned pod = 0; pod < arity && !builder->error; pod++) {
		for (unsigned up = 0; up < half; up++) {
			aggregations[up] = add_switch(builder, arity);
			for (unsigned core = 0; core < half; core++)
				connect(builder, aggregations[up], half + 1 + core,
					cores[up * half + core], pod + 1);
		}
		for (unsigned edge = 0; edge < half && !builder->error; edge++) {
			struct node *node = add_leaf(builder, arity);

			for (unsigned host = 0; host < half; host++)
				add_host(builder, node, host + 1);
			for (unsigned up = 0; up < half; up++)
				connect(builder, node, half + 1 + up, aggregations[up], edge + 1);
		}
	}
	free(cores);
	free(aggregations);
	return builder->error;
}

enum {
	MESH_EAST = 1,
	MESH_WEST = 2,
	MESH_SOUTH = 3,
	MESH_NORTH = 4,
	MESH_HOST = 5,
	MESH_PORTS = 5
};

static int build_mesh(struct builder *builder, unsigned columns, unsigned rows)
{
	struct node **above = calloc(columns, sizeof(struct node *));

	if (!above)
		return -ENOMEM;
	plan_leaves(builder, columns * rows);
	for (unsigned row = 0; row < rows; row++) {
		for (unsigned column = 0; column < columns && !builder->error; column++) {
			struct node *node = add_leaf(builder, MESH_PORTS);

			add_host(builder, node, MESH_HOST);
			if (column > 0)
				connect(builder, above[column - 1], MESH_EAST, node, MESH_WEST);
			if (row > 0)
				connect(builder, above[column], MESH_SOUTH, node, MESH_NORTH);
			above[column] = node;
		}
	}
	free(above);
	return builder->error;
}

/* Dimension d leaves by port 2d + 1 and arrives at port 2d + 2, at every switch; the host's port
 * comes after them. Two switches in a dimension have two cables, one switch has none. */
static int build_torus(struct builder *builder, unsigned dimension_count, const unsigned *sizes)
{
	unsigned switch_count = 1, stride = 1;
	struct node **nodes;

	for (unsigned d = 0; d < dimension_count; d++)
		switch_count *= sizes[d];
	nodes = calloc(switch_count, sizeof(struct node *));
	if (!nodes)
		return -ENOMEM;
	plan_leaves(builder, switch_count);
	for (unsigned i = 0; i < switch_count && !builder->error; i++) {
		nodes[i] = add_leaf(builder, 2 * dimension_count + 1);
		add_host(builder, nodes[i], 2 * dimension_count + 1);
	}
	for (unsigned d = 0; d < dimension_count; stride *= sizes[d], d++) {
		for (unsigned i = 0; i < switch_count && sizes[d] > 1; i++) {
			unsigned coordinate = i / stride % sizes[d];
			unsigned next =
				coordinate + 1 < sizes[d] ? i + stride : i - coordinate * stride;

			connect(builder, nodes[i], 2 * d + 1, nodes[next], 2 * d + 2);
		}
	}
	free(nodes);
	return builder->error;
}

/* Subnets of a switch and its hosts, each with a cable to the one router. */
static int build_routed(struct builder *builder, unsigned subnet_count, unsigned host_count)
{
	struct node *router = add_router(builder, subnet_count);

	plan_leaves(builder, subnet_count);
	for (unsigned subnet = 1; subnet <= subnet_count && !builder->error; subnet++) {
		struct node *node = add_leaf(builder, host_count + 1);

		for (unsigned host = 1; host <= host_count && !builder->error; host++)
			add_host(builder, node, host);
		connect(builder, node, host_count + 1, router, subnet);
	}
	return builder->error;
}

static bool read_tca_count(const char *text, unsigned *ret_count)
{
	char *end;
	unsigned long number = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : ULONG_MAX;

	if (number > TCAS_MAX || *end)
		return false;
	*ret_count = (unsigned)number;
	return true;
}

/* "12" or "3x4x5", digits only, and "+2" for target channel adapters; nothing after them. Returns
 * how many sizes there are; 0: malformed. */
static unsigned read_numbers(const char *text, unsigned ret_numbers[SIZES_MAX],
			     unsigned *ret_tca_count)
{
	unsigned count = 0;

	while (count < SIZES_MAX) {
		char *end;

		if (*text < '0' || *text > '9')
			return 0;

		unsigned long number = strtoul(text, &end, 10);

		ret_numbers[count++] = number > HOSTS_MAX ? HOSTS_MAX + 1 : (unsigned)number;
		if (*end == '\0' || (*end == '+' && read_tca_count(end + 1, ret_tca_count)))
			return count;
		if (*end != 'x')
			return 0;
		text = end + 1;
	}
	return 0;
}

static int in_range(unsigned value, unsigned least, unsigned most, const char *what,
		    struct topology_error *ret_error)
{
	if (value >= least && value <= most)
		return 0;
	return topology_fail(ret_error, 0, "%s takes %u to %u, not %u", what, least, most, value);
}

static int generate_torus(struct builder *builder, unsigned dimension_count, const unsigned *sizes,
			  struct topology_error *ret_error)
{
	unsigned hops = 0, switch_count = 1;

	for (unsigned d = 0; d < dimension_count; d++) {
		int error = in_range(sizes[d], 1, TORUS_SIDE_MAX, "torus:AxB[xC]", ret_error);

		if (error)
			return error;
		hops += sizes[d] / 2;
		switch_count *= sizes[d];
	}
	if (hops > SWITCH_HOPS_MAX)
		return topology_fail(ret_error, 0,
				     "this torus has switches more than %d hops apart",
				     MAD_HOPS_MAX);
	if (switch_count > HOSTS_MAX)
		return topology_fail(ret_error, 0, "a torus has at most %d switches, not %u",
				     HOSTS_MAX, switch_count);
	return build_torus(builder, dimension_count, sizes);
}

static int generate(struct builder *builder, const char *kind, unsigned number_count,
		    const unsigned *numbers, struct topology_error *ret_error)
{
	int error;

	if (strcmp(kind, "torus") == 0)
		return generate_torus(builder, number_count, numbers, ret_error);

	if (strcmp(kind, "star") == 0) {
		error = in_range(numbers[0], 1, TREE_HOSTS_MAX, "star:N", ret_error);
		return error ? error : build_star(builder, numbers[0]);
	}
	if (strcmp(kind, "ring") == 0) {
		error = in_range(numbers[0], 1, RING_SWITCHES_MAX, "ring:N", ret_error);
		return error ? error : build_ring(builder, numbers[0]);
	}
	if (strcmp(kind, "fat-tree") == 0) {
		error = in_range(numbers[0], 2, FAT_TREE_MAX, "fat-tree:K", ret_error);
		if (!error && numbers[0] % 2)
			error = topology_fail(ret_error, 0, "fat-tree:K takes an even K, not %u",
					      numbers[0]);
		return error ? error : build_fat_tree(builder, numbers[0]);
	}
	if (strcmp(kind, "routed") == 0) {
		error = in_range(numbers[0], 2, NODE_PORTS_MAX, "routed:AxB", ret_error);
		if (!error)
			error = in_range(numbers[1], 1, ROUTED_HOSTS_MAX, "routed:AxB", ret_error);
		return error ? error : build_routed(builder, numbers[0], numbers[1]);
	}
	error = in_range(numbers[0], 1, MESH_SIDE_MAX, "mesh:AxB", ret_error);
	if (!error)
		error = in_range(numbers[1], 1, MESH_SIDE_MAX, "mesh:AxB", ret_error);
	if (!error && numbers[0] + numbers[1] - 2 > SWITCH_HOPS_MAX)
		error = topology_fail(ret_error, 0,
				      "mesh:%ux%u has corners more than %d hops apart", numbers[0],
				      numbers[1], MAD_HOPS_MAX);
	return error ? error : build_mesh(builder, numbers[0], numbers[1]);
}

int topology_generate(struct fabric *fabric, const char *generator,
		      struct topology_error *ret_error)
{
	static const struct {
		const char *kind;
		unsigned number_count_min, number_count_max;
		const char *size;
	} kinds[] = {
		{"star", 1, 1, "a number"},	{"ring", 1, 1, "a number"},
		{"fat-tree", 1, 1, "a number"}, {"mesh", 2, 2, "AxB"},
		{"routed", 2, 2, "AxB"},	{"torus", 2, 3, "AxB or AxBxC"},
	};
	struct builder builder = {.fabric = fabric};
	const char *colon = strchr(generator, ':');
	unsigned numbers[SIZES_MAX] = {0};

	for (unsigned i = 0; colon && i < ARRAY_COUNT(kinds); i++) {
		size_t length = strlen(kinds[i].kind);

		if (length != (size_t)(colon - generator) ||
		    strncmp(generator, kinds[i].kind, length) != 0)
			continue;

		unsigned number_count = read_numbers(colon + 1, numbers, &builder.tca_count);

		if (number_count < kinds[i].number_count_min ||
		    number_count > kinds[i].number_count_max)
			return topology_fail(ret_error, 0,
					     "\"%s\" is not a size that %s takes (%s)", colon + 1,
					     kinds[i].kind, kinds[i].size);

		int error = generate(&builder, kinds[i].kind, number_count, numbers, ret_error);

		if (!error) {
			add_tcas(&builder);
			error = builder.error;
		}
		free(builder.leaves);
		if (error == -E2BIG)
			error = topology_fail(ret_error, 0,
					      "%u target channel adapters need more ports than the "
					      "switches have",
					      builder.tca_count);
		if (error == -ENOMEM)
			(void)!topology_fail(ret_error, 0, "not enough memory");
		return error;
	}
	return topology_fail(ret_error, 0,
			     "unknown topology \"%s\": star:N, ring:N, fat-tree:K, mesh:AxB, "
			     "torus:AxB[xC], routed:AxB or a file",
			     generator);
}
