/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of a poll that finds nothing, for a program with many idle queue pairs or many idle
 * peers: nanoseconds, the median of many.
 *
 *   bench-idle queue-pairs|peers COUNT
 *
 * Queue pairs are connected to themselves. Peers are processes, each with a connection that has
 * brought one message.
 */
#include "tests/clients/two_sides.h"

#include <sys/wait.h>
#include "samples.h"

enum { POLLS = 1000, SAMPLES = 1001, MESSAGE_BYTES = 8 };

struct address {
	uint32_t lid, qpn;
};

static double poll_cost(struct ibv_cq *cq)
{
	static double samples[SAMPLES];
	struct ibv_wc wc;

	for (unsigned sample = 0; sample < SAMPLES; sample++) {
		double start = seconds();

		for (unsigned i = 0; i < POLLS; i++)
			CHECK_EQUAL(ibv_poll_cq(cq, 1, &wc), 0);
		samples[sample] = (seconds() - start) / POLLS * 1e9;
	}
	return median(samples, SAMPLES);
}

/* All queue pairs of a program complete to one CQ. */
static struct ibv_qp *open_queue_pair(const struct endpoint *endpoint)
{
	struct ibv_qp_init_attr options = qp_options(endpoint, IBV_QPT_RC);
	struct ibv_qp *qp = ibv_create_qp(endpoint->device->pd, &options);

	CHECK(qp);
	qp_modify_to(qp, IBV_QPS_INIT, connection_to(0, 0));
	return qp;
}

static struct endpoint open_program(struct device *device)
{
	struct endpoint endpoint = {.device = device};

	*device = device_open();
	endpoint_register(&endpoint);
	endpoint.cq = ibv_create_cq(device->context, 4 * QUEUE_DEPTH, NULL, NULL, 0);
	CHECK(endpoint.cq);
	return endpoint;
}

static void connect_by(int socket, const struct endpoint *endpoint)
{
	const struct address own = {endpoint->device->port.lid, endpoint->qp->qp_num};
	struct address peer;

	give(socket, &own, sizeof(own));
	take(socket, &peer, sizeof(peer));
	qp_connect(endpoint->qp, connection_to((uint16_t)peer.lid, peer.qpn));
}

/* Sends one message, and is then silent until the other end closes the socket. */
static void be_peer(int socket)
{
	struct device device;
	struct endpoint endpoint = open_program(&device);
	struct ibv_sge sge = sge_of(&endpoint, 0, MESSAGE_BYTES);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &endpoint, 0);
	char end;

	endpoint.qp = open_queue_pair(&endpoint);
	connect_by(socket, &endpoint);
	rendezvous(socket);
	post(&endpoint, &wr);
	expect_status(endpoint.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(read(socket, &end, 1), 0);
	exit(0);
}

static double among_peers(unsigned count)
{
	struct device device;
	struct endpoint endpoint;
	int *sockets = calloc(count, sizeof(*sockets));

	CHECK(sockets);
	for (unsigned i = 0; i < count; i++) {
		int pair[2];

		CHECK_EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);

		pid_t child = fork();

		CHECK(child >= 0);
		if (child == 0) {
			for (unsigned k = 0; k < i; k++)
				close(sockets[k]);
			close(pair[0]);
			be_peer(pair[1]);
		}
		close(pair[1]);
		sockets[i] = pair[0];
	}
	endpoint = open_program(&device);
	for (unsigned i = 0; i < count; i++) {
		endpoint.qp = open_queue_pair(&endpoint);
		post_receive(&endpoint, i, 0, MESSAGE_BYTES);
		connect_by(sockets[i], &endpoint);
		rendezvous(sockets[i]);
		expect_status(endpoint.cq, IBV_WC_SUCCESS);
	}

	double cost = poll_cost(endpoint.cq);

	for (unsigned i = 0; i < count; i++)
		close(sockets[i]);
	while (wait(NULL) > 0)
		;
	free(sockets);
	return cost;
}

static double with_queue_pairs(unsigned count)
{
	struct device device;
	struct endpoint endpoint = open_program(&device);

	for (unsigned i = 0; i < count; i++) {
		endpoint.qp = open_queue_pair(&endpoint);
		qp_connect(endpoint.qp, connection_to(device.port.lid, endpoint.qp->qp_num));
	}
	return poll_cost(endpoint.cq);
}

int main(int argc, char **argv)
{
	unsigned count = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;

	if (count && !strcmp(argv[1], "peers"))
		printf("%.1f\n", among_peers(count));
	else if (count && !strcmp(argv[1], "queue-pairs"))
		printf("%.1f\n", with_queue_pairs(count));
	else {
		fprintf(stderr, "usage: bench-idle queue-pairs|peers COUNT\n");
		return 2;
	}
	return 0;
}
