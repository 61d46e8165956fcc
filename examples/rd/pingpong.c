/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softib-rd-pingpong: two nodes send a message back and forth by Reliable Datagram, like
 * ibv_rc_pingpong; or, with -N, many nodes, each with one QP, all send to all.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "call.h"
#include "exchange.h"
#include "node.h"
#include "play.h"
#include "rendezvous.h"

static void usage(const char *program)
{
	printf("Usage:\n"
	       "  %s            start a server and wait for connection\n"
	       "  %s <host>     connect to server at <host>\n"
	       "\n"
	       "Options:\n"
	       "  -p, --port=<port>      listen on/connect to port <port> (default 18515)\n"
	       "  -d, --ib-dev=<dev>     use IB device <dev> (default first device found)\n"
	       "  -i, --ib-port=<port>   use port <port> of IB device (default 1)\n"
	       "  -s, --size=<size>      size of message to exchange (default 4096)\n"
	       "  -m, --mtu=<size>       path MTU (default 1024)\n"
	       "  -r, --rx-depth=<dep>   number of receives to post at a time (default 500)\n"
	       "  -n, --iters=<iters>    number of exchanges (default 1000)\n"
	       "  -l, --sl=<sl>          service level value\n"
	       "  -e, --events           sleep on CQ events (default poll)\n"
	       "  -g, --gid-idx=<gid index> local port gid index\n"
	       "  -c, --chk              validate received buffer\n"
	       "  -C, --cm               connect by communication management: <host> is a host of the\n"
	       "                         fabric or a GID, <port> part of the service id\n"
	       "  -N, --nodes=<count>    <count> nodes send all to all in <iters> rounds\n"
	       "  -R, --rank=<rank>      rank of this node; 0 is the server\n",
	       program, program);
}

static enum ibv_mtu mtu_from(const char *text)
{
	switch (strtol(text, NULL, 0)) {
	case 256:
		return IBV_MTU_256;
	case 512:
		return IBV_MTU_512;
	case 1024:
		return IBV_MTU_1024;
	case 2048:
		return IBV_MTU_2048;
	case 4096:
		return IBV_MTU_4096;
	default:
		return (enum ibv_mtu)0;
	}
}

static const struct option long_options[] = {
	{"port", 1, NULL, 'p'},	   {"ib-dev", 1, NULL, 'd'},
	{"ib-port", 1, NULL, 'i'}, {"size", 1, NULL, 's'},
	{"mtu", 1, NULL, 'm'},	   {"rx-depth", 1, NULL, 'r'},
	{"iters", 1, NULL, 'n'},   {"sl", 1, NULL, 'l'},
	{"events", 0, NULL, 'e'},  {"gid-idx", 1, NULL, 'g'},
	{"chk", 0, NULL, 'c'},	   {"nodes", 1, NULL, 'N'},
	{"rank", 1, NULL, 'R'},	   {"cm", 0, NULL, 'C'},
	{"help", 0, NULL, 'h'},	   {0},
};

/* Nonzero: an unknown option or an invalid value. */
static int take_option(struct options *options, int letter, const char *value)
{
	long number = value ? strtol(value, NULL, 0) : 0;

	switch (letter) {
	case 'p':
		options->tcp_port = (int)number;
		return number < 0 || number > 65535;
	case 'd':
		options->device_name = value;
		return 0;
	case 'i':
		options->ib_port = (int)number;
		return number < 1 || number > 255;
	case 's':
		options->message_bytes = (uint32_t)number;
		return number < 1 || number > 1 << 30;
	case 'm':
		options->mtu = mtu_from(value);
		return !options->mtu;
	case 'r':
		options->receive_depth = (unsigned)number;
		return number < 1 || number > 4096;
	case 'n':
		options->iterations = (unsigned)number;
		return number < 1;
	case 'l':
		options->sl = (int)number;
		return number < 0 || number > 15;
	case 'e':
		options->uses_events = true;
		return 0;
	case 'g':
		options->gid_index = (int)number;
		return number < 0;
	case 'c':
		options->validates = true;
		return 0;
	case 'C':
		options->calls = true;
		return 0;
	case 'N':
		options->node_count = (unsigned)number;
		return number < 2 || number > NODES_MAX;
	case 'R':
		options->rank = (unsigned)number;
		return number < 0 || number >= NODES_MAX;
	default:
		return 1;
	}
}

static int read_options(int argc, char **argv, struct options *ret_options)
{
	int letter;

	*ret_options = (struct options){
		.tcp_port = 18515,
		.ib_port = 1,
		.message_bytes = 4096,
		.mtu = IBV_MTU_1024,
		.receive_depth = 500,
		.iterations = 1000,
		.gid_index = -1,
	};
	while ((letter = getopt_long(argc, argv, "p:d:i:s:m:r:n:l:eg:cCN:R:h", long_options,
				     NULL)) != -1)
		if (take_option(ret_options, letter, optarg))
			return 1;
	if (optind == argc - 1)
		ret_options->server_name = argv[optind];
	else if (optind < argc)
		return 1;
	if (!ret_options->node_count)
		ret_options->rank = ret_options->server_name ? 1 : 0;
	else if (ret_options->rank >= ret_options->node_count ||
		 (ret_options->rank != 0) != (ret_options->server_name != NULL))
		return 1;
	return 0;
}

static int send_next(struct node *node, const struct node_address *remote, unsigned peer,
		     unsigned round)
{
	if (node->options.validates)
		play_fill(node_send_slot(node, 0), node->options.message_bytes, node->options.rank,
			  round);
	return node_post_send(node, 0, peer, remote->qpn);
}

/* The client begins; each side answers what it gets. */
static int play(struct node *node, const struct node_address *remote)
{
	unsigned peer = !node->options.rank;
	unsigned sent = 0, received = 0, completed = 0;

	if (node->options.rank && send_next(node, remote, peer, sent++))
		return 1;
	while (received < node->options.iterations || completed < node->options.iterations) {
		struct softib_wc wc;

		if (node_wait(node, &wc))
			return 1;
		if (wc.wc.wr_id >= node->slot_count) {
			completed++;
		} else {
			unsigned slot = (unsigned)wc.wc.wr_id;

			if (wc.wc.src_qp != remote->qpn ||
			    wc.eec_num != node->eecs[peer]->eec_num) {
				fprintf(stderr, "a message from an unknown sender\n");
				return 1;
			}
			if (node->options.validates && play_check(node_receive_slot(node, slot),
								  wc.wc.byte_len, peer, received))
				return 1;
			received++;
			if (node_post_receive(node, slot))
				return 1;
		}
		/* The send slot is free once its message is acknowledged. */
		if (sent == completed && sent < node->options.iterations &&
		    sent < received + node->options.rank && send_next(node, remote, peer, sent++))
			return 1;
	}
	return 0;
}

static int play_timed(struct node *node, const struct node_address *remote)
{
	double start = play_seconds();

	if (play(node, remote))
		return 1;
	play_print_result(node, play_seconds() - start,
			  2. * node->options.message_bytes * node->options.iterations);
	return 0;
}

/* Without a socket: REQ and REP carry all that the two nodes must know. */
static int ping_pong_by_call(struct node *node)
{
	struct node_address remote;
	struct call call = {0};
	unsigned rank = node->options.rank;

	if (call_meet(&call, node, !rank, &remote))
		return 1;
	node_print_address("local", &node->address, node->address.eecns[!rank]);
	node_print_address("remote", &remote, remote.eecns[rank]);
	fflush(stdout);
	return play_timed(node, &remote) || call_part(&call) || node_close(node);
}

static int ping_pong(struct node *node)
{
	struct node_address addresses[NODES_MAX];
	struct rendezvous rendezvous;
	unsigned rank = node->options.rank;

	if (node_open(node, 2, rank, node->options.receive_depth))
		return 1;
	for (unsigned slot = 0; slot < node->slot_count; slot++)
		if (node_post_receive(node, slot))
			return 1;
	if (node->options.calls)
		return ping_pong_by_call(node);
	node_print_address("local", &node->address, node->address.eecns[!rank]);
	fflush(stdout);
	if (rendezvous_meet(&rendezvous, node, 2, rank, addresses))
		return 1;
	node_print_address("remote", &addresses[!rank], addresses[!rank].eecns[rank]);
	if (node_connect(node, !rank, rank, &addresses[!rank]) || rendezvous_barrier(&rendezvous))
		return 1;
	if (play_timed(node, &addresses[!rank]))
		return 1;
	/* Neither node leaves while the other waits for an ACK. */
	if (rendezvous_barrier(&rendezvous))
		return 1;
	rendezvous_close(&rendezvous);
	return node_close(node);
}

int main(int argc, char **argv)
{
	static struct node node;

	if (read_options(argc, argv, &node.options)) {
		usage(argv[0]);
		return 1;
	}
	return node.options.node_count ? exchange_all(&node) : ping_pong(&node);
}
