/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softib-old-xrc-pingpong: two hosts send messages back and forth by XRC, with the calls that
 * OFED's libraries had before rdma-core (infiniband/ofa_verbs.h). It uses ibv_xsrq_pingpong's
 * greeting, so its peer may be that program, which uses today's calls.
 */
#include <fcntl.h>
#include <getopt.h>
#include <infiniband/ofa_verbs.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* "LID:receive QPN:send QPN:PSN:SRQ number:GID" in hexadecimal, with the final NUL. */
enum { GREETING_BYTES = 66, FAREWELL_BYTES = 4, PORT_NUMBER = 1, MESSAGES_MAX = 1 << 20 };

struct peer {
	unsigned lid, receiver, sender, psn, srq_number;
};

struct node {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *send_cq, *receive_cq;
	struct ibv_xrc_domain *domain;
	struct ibv_srq *srq;
	struct ibv_qp *sender;
	uint32_t receiver; /* a QP number: there is no handle */
	uint32_t psn;
	char *bytes;
	size_t byte_count;
	const char *file;
	int socket;
	bool is_client;
	unsigned message_count;
	unsigned sent;
};

static void require(bool is_right, const char *what)
{
	if (is_right)
		return;
	perror(what);
	exit(1);
}

static void open_node(struct node *node)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	int file = node->file ? open(node->file, O_RDONLY | O_CREAT, 0600) : -1;

	node->context = devices && devices[0] ? ibv_open_device(devices[0]) : NULL;
	require(node->context, "ibv_open_device");
	ibv_free_device_list(devices);
	node->pd = ibv_alloc_pd(node->context);
	node->bytes = calloc(1, node->byte_count);
	require(node->pd && node->bytes, "ibv_alloc_pd");
	node->mr = ibv_reg_mr(node->pd, node->bytes, node->byte_count, IBV_ACCESS_LOCAL_WRITE);
	node->send_cq = ibv_create_cq(node->context, 16, NULL, NULL, 0);
	node->receive_cq = ibv_create_cq(node->context, 16, NULL, NULL, 0);
	require(node->mr && node->send_cq && node->receive_cq, "ibv_create_cq");

	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 16, .max_sge = 1}};

	node->domain = ibv_open_xrc_domain(node->context, file, O_CREAT);
	require(node->domain, "ibv_open_xrc_domain");
	node->srq = ibv_create_xrc_srq(node->pd, node->domain, node->receive_cq, &srq);
	require(node->srq, "ibv_create_xrc_srq");
	if (file >= 0)
		close(file);
}

static void make_queue_pairs(struct node *node)
{
	struct ibv_qp_init_attr_legacy init = {.xrc_domain = node->domain};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = PORT_NUMBER};
	const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

	require(!ibv_create_xrc_rcv_qp(&init.attr, &node->receiver), "ibv_create_xrc_rcv_qp");
	require(!ibv_modify_xrc_rcv_qp(node->domain, node->receiver, &attr, mask), "INIT");
	init.attr = (struct ibv_qp_init_attr){
		.send_cq = node->send_cq,
		.cap = {.max_send_wr = 16, .max_send_sge = 1},
		.qp_type = IBV_QPT_XRC,
		.sq_sig_all = 1,
	};
	node->sender = ibv_create_qp(node->pd, &init.attr);
	require(node->sender && !ibv_modify_qp(node->sender, &attr, mask), "ibv_create_qp");
	node->psn = (uint32_t)getpid() & 0xffffff;
}

static void connect_queue_pairs(struct node *node, const struct peer *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.rq_psn = peer->psn,
		.dest_qp_num = peer->sender,
		.ah_attr = {.dlid = (uint16_t)peer->lid, .port_num = PORT_NUMBER},
		.min_rnr_timer = 12,
	};
	int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;

	require(!ibv_modify_xrc_rcv_qp(node->domain, node->receiver, &attr,
				       mask | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
		"RTR of the receiver");
	attr.dest_qp_num = peer->receiver;
	require(!ibv_modify_qp(node->sender, &attr, mask), "RTR of the sender");
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				    .sq_psn = node->psn,
				    .timeout = 14,
				    .retry_cnt = 7,
				    .rnr_retry = 7};
	mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
	       IBV_QP_MAX_QP_RD_ATOMIC;
	require(!ibv_modify_qp(node->sender, &attr, mask), "RTS of the sender");
}

static int meet(const char *server, const char *port)
{
	struct addrinfo hints = {.ai_flags = server ? 0 : AI_PASSIVE,
				 .ai_socktype = SOCK_STREAM,
				 .ai_family = server ? AF_UNSPEC : AF_INET6};
	struct addrinfo *list;
	int one = 1;

	require(!getaddrinfo(server, port, &hints, &list), "getaddrinfo");

	int found = socket(list->ai_family, list->ai_socktype, list->ai_protocol);

	require(found >= 0, "socket");
	if (server) {
		require(!connect(found, list->ai_addr, list->ai_addrlen), "connect");
	} else {
		int listener = found;

		setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		require(!bind(listener, list->ai_addr, list->ai_addrlen) && !listen(listener, 1),
			"listen");
		found = accept(listener, NULL, NULL);
		require(found >= 0, "accept");
		close(listener);
	}
	freeaddrinfo(list);
	return found;
}

static void read_whole(int socket, char *bytes, size_t byte_count)
{
	while (byte_count) {
		ssize_t taken = read(socket, bytes, byte_count);

		require(taken > 0, "read");
		bytes += taken;
		byte_count -= (size_t)taken;
	}
}

static void greet(const struct node *node)
{
	const struct ibv_srq_legacy *srq = (const struct ibv_srq_legacy *)node->srq;
	struct ibv_port_attr port;
	char text[GREETING_BYTES];

	require(!ibv_query_port(node->context, PORT_NUMBER, &port), "ibv_query_port");
	snprintf(text, sizeof(text), "%04x:%06x:%06x:%06x:%06x:%032d", port.lid, node->receiver,
		 node->sender->qp_num, node->psn, srq->xrc_srq_num, 0);
	require(write(node->socket, text, sizeof(text)) == sizeof(text), "write");
}

static struct peer hear(const struct node *node)
{
	char text[GREETING_BYTES + 1] = "";
	struct peer peer;

	read_whole(node->socket, text, GREETING_BYTES);
	if (sscanf(text, "%x:%x:%x:%x:%x", &peer.lid, &peer.receiver, &peer.sender, &peer.psn,
		   &peer.srq_number) != 5) {
		fprintf(stderr, "the peer's greeting can't be read\n");
		exit(1);
	}
	return peer;
}

static void post_receive(struct node *node)
{
	struct ibv_sge sge = {(uintptr_t)node->bytes, (uint32_t)node->byte_count, node->mr->lkey};
	struct ibv_recv_wr request = {.sg_list = &sge, .num_sge = 1}, *bad;

	require(!ibv_post_srq_recv(node->srq, &request, &bad), "ibv_post_srq_recv");
}

static void wait_for(struct ibv_cq *cq)
{
	struct ibv_wc completion;
	int count;

	do
		count = ibv_poll_cq(cq, 1, &completion);
	while (count == 0);
	if (count < 0 || completion.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "completion: %s\n",
			count < 0 ? "none" : ibv_wc_status_str(completion.status));
		exit(1);
	}
}

/* One message at a time. */
static void post_send(struct node *node, const struct peer *peer)
{
	struct ibv_sge sge = {(uintptr_t)node->bytes, (uint32_t)node->byte_count, node->mr->lkey};
	struct ibv_send_wr request = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

	if (node->sent)
		wait_for(node->send_cq);
	request.qp_type.xrc.remote_srqn = peer->srq_number;
	require(!ibv_post_send(node->sender, &request, &bad), "ibv_post_send");
	node->sent++;
}

/* The server sends first. */
static void play(struct node *node, const struct peer *peer)
{
	char farewell[FAREWELL_BYTES] = "END";

	if (!node->is_client)
		post_send(node, peer);
	for (unsigned received = 0; received < node->message_count; received++) {
		wait_for(node->receive_cq);
		post_receive(node);
		if (node->sent < node->message_count)
			post_send(node, peer);
	}
	wait_for(node->send_cq);
	if (node->is_client)
		require(write(node->socket, farewell, sizeof(farewell)) == sizeof(farewell),
			"write");
	read_whole(node->socket, farewell, sizeof(farewell));
	if (!node->is_client)
		require(write(node->socket, farewell, sizeof(farewell)) == sizeof(farewell),
			"write");
}

static void close_node(struct node *node)
{
	require(!ibv_destroy_qp(node->sender), "ibv_destroy_qp");
	require(!ibv_unreg_xrc_rcv_qp(node->domain, node->receiver), "ibv_unreg_xrc_rcv_qp");
	require(!ibv_destroy_srq(node->srq), "ibv_destroy_srq");
	require(!ibv_close_xrc_domain(node->domain), "ibv_close_xrc_domain");
	require(!ibv_destroy_cq(node->send_cq) && !ibv_destroy_cq(node->receive_cq),
		"ibv_destroy_cq");
	require(!ibv_dereg_mr(node->mr) && !ibv_dealloc_pd(node->pd), "ibv_dealloc_pd");
	require(!ibv_close_device(node->context), "ibv_close_device");
	free(node->bytes);
	close(node->socket);
}

static void usage(const char *program)
{
	printf("Usage:\n"
	       "  %s            start a server and wait for connection\n"
	       "  %s <host>     connect to server at <host>\n"
	       "\n"
	       "Options:\n"
	       "  -p, --port=<port>      listen on/connect to port <port> (default 18515)\n"
	       "  -s, --size=<size>      size of message to exchange (default 4096)\n"
	       "  -n, --num_tests=<n>    number of messages each way (default 5)\n"
	       "  -f, --file=<path>      a file that names the XRC domain (default: none)\n"
	       "  -h, --help             this text\n",
	       program, program);
}

int main(int argc, char **argv)
{
	static const struct option OPTIONS[] = {{"port", 1, NULL, 'p'},	     {"size", 1, NULL, 's'},
						{"num_tests", 1, NULL, 'n'}, {"file", 1, NULL, 'f'},
						{"help", 0, NULL, 'h'},	     {0}};
	struct node node = {.byte_count = 4096, .message_count = 5};
	const char *port = "18515";
	int letter;

	while ((letter = getopt_long(argc, argv, "p:s:n:f:h", OPTIONS, NULL)) != -1) {
		if (letter == 'p')
			port = optarg;
		else if (letter == 's')
			node.byte_count = strtoul(optarg, NULL, 0);
		else if (letter == 'n')
			node.message_count = (unsigned)strtoul(optarg, NULL, 0);
		else if (letter == 'f')
			node.file = optarg;
		else
			return usage(argv[0]), letter != 'h';
	}
	if (optind < argc - 1 || !node.byte_count || node.byte_count > 1 << 30 ||
	    !node.message_count || node.message_count > MESSAGES_MAX)
		return usage(argv[0]), 1;
	node.is_client = optind < argc;
	open_node(&node);
	make_queue_pairs(&node);
	post_receive(&node);
	node.socket = meet(node.is_client ? argv[optind] : NULL, port);

	struct peer peer;

	if (node.is_client)
		greet(&node);
	peer = hear(&node);
	if (!node.is_client)
		greet(&node);
	connect_queue_pairs(&node, &peer);
	play(&node, &peer);
	printf("%u messages each way\n", node.sent);
	close_node(&node);
	return 0;
}
