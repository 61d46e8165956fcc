/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection of librdmacm that is given an alternate path while it is there (vol 1, 12.8 and
 * 17.2.8), and loses its first:
 *
 *	rdmacm_alternate serve ADDRESS PORT	the passive side; the cable of its first port is
 *pulled rdmacm_alternate call ADDRESS PORT OWN-SECOND PEER-SECOND
 *
 * The caller sets the path between the second ports with rdma_set_option; softibd's connection
 * managers agree on it by LAP and APR, and both queue pairs are armed without a call of the passive
 * program. Prints what the script waits for. Covers: daemon/cm/cm_alternates.c
 *runtime/alternate_paths.c
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/sa.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include "rdmacm_client.h"

enum { RESOLVE_MS = 5000, RNR_HOLD_S = 30, TEXT_BYTES = 64 };

static struct sockaddr_in address_of(const char *text, const char *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET};

	address.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
	CHECK(inet_pton(AF_INET, text, &address.sin_addr) == 1);
	return address;
}

static struct ibv_qp_attr attributes_of(struct ibv_qp *qp)
{
	struct ibv_qp_attr attributes;
	struct ibv_qp_init_attr initial;

	CHECK(ibv_query_qp(qp, &attributes, IBV_QP_PATH_MIG_STATE | IBV_QP_ALT_PATH, &initial) ==
	      0);
	return attributes;
}

/* It is armed by the packets of both sides once both have the path. */
static void await_armed(struct ibv_qp *qp)
{
	time_t end = time(NULL) + RNR_HOLD_S;

	while (attributes_of(qp).path_mig_state != IBV_MIG_ARMED)
		CHECK(time(NULL) < end);
	CHECK(attributes_of(qp).alt_ah_attr.port_num == 2);
}

static void await_migration(struct rdma_cm_id *id)
{
	struct pollfd waiting = {.fd = id->verbs->async_fd, .events = POLLIN};
	struct ibv_async_event event;

	for (;;) {
		CHECK(poll(&waiting, 1, RNR_HOLD_S * 1000) == 1);
		CHECK(ibv_get_async_event(id->verbs, &event) == 0);
		ibv_ack_async_event(&event);
		if (event.event_type == IBV_EVENT_PATH_MIG)
			return;
		CHECK(event.event_type != IBV_EVENT_PATH_MIG_ERR);
	}
}

static struct ibv_qp_init_attr queue_pair(void)
{
	return (struct ibv_qp_init_attr){
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1};
}

static void receive_one(struct rdma_cm_id *id, struct ibv_mr *region, char *text)
{
	struct ibv_wc completion;

	CHECK(rdma_get_recv_comp(id, &completion) == 1 && completion.status == IBV_WC_SUCCESS);
	printf("received %s\n", text);
	CHECK(rdma_post_recv(id, NULL, text, TEXT_BYTES, region) == 0);
}

static void send_one(struct rdma_cm_id *id, struct ibv_mr *region, char *text, const char *what)
{
	struct ibv_wc completion;

	snprintf(text, TEXT_BYTES, "%s", what);
	CHECK(rdma_post_send(id, NULL, text, TEXT_BYTES, region, 0) == 0);
	CHECK(rdma_get_send_comp(id, &completion) == 1);
	if (completion.status != IBV_WC_SUCCESS)
		printf("%s: %s\n", what, ibv_wc_status_str(completion.status));
	CHECK(completion.status == IBV_WC_SUCCESS);
}

static void serve(const char *text, const char *port)
{
	struct sockaddr_in address = address_of(text, port);
	struct rdma_cm_id *listener, *id;
	struct ibv_qp_init_attr attributes = queue_pair();
	struct rdma_conn_param parameters = {.rnr_retry_count = 7};
	static char bytes[TEXT_BYTES];

	CHECK(rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_bind_addr(listener, (struct sockaddr *)&address) == 0);
	CHECK(rdma_listen(listener, 1) == 0);
	printf("listening\n");
	CHECK(rdma_get_request(listener, &id) == 0);
	CHECK(rdma_create_qp(id, NULL, &attributes) == 0);

	struct ibv_mr *region = rdma_reg_msgs(id, bytes, sizeof(bytes));

	CHECK(region && rdma_post_recv(id, NULL, bytes, sizeof(bytes), region) == 0);
	CHECK(rdma_accept(id, &parameters) == 0);
	receive_one(id, region, bytes); /* before there is another path */
	receive_one(id, region, bytes); /* arms it */
	await_armed(id->qp);
	printf("pull\n");
	receive_one(id, region, bytes);
	await_migration(id);
	printf("migrated\n");
	receive_one(id, region, bytes); /* the caller has the answer to the one before */
}

/* The path from our second port to the peer's, as the SA knows it. */
static struct ibv_path_data second_path(const char *own, const char *peer, const char *port)
{
	struct sockaddr_in from = address_of(own, "0"), to = address_of(peer, port);
	struct ibv_path_data data = {.flags =
					     IBV_PATH_FLAG_ALTERNATE | IBV_PATH_FLAG_BIDIRECTIONAL};
	struct rdma_cm_id *id;

	CHECK(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_resolve_addr(id, (struct sockaddr *)&from, (struct sockaddr *)&to, RESOLVE_MS) ==
	      0);
	CHECK(rdma_resolve_route(id, RESOLVE_MS) == 0);
	CHECK(id->port_num == 2);

	const struct ibv_sa_path_rec *found = id->route.path_rec;

	data.path.dgid = found->dgid;
	data.path.sgid = found->sgid;
	data.path.dlid = found->dlid;
	data.path.slid = found->slid;
	data.path.flowlabel_hoplimit =
		htonl(ntohl(found->flow_label) << 8 | (uint32_t)found->hop_limit);
	data.path.tclass = found->traffic_class;
	data.path.reversible_numpath = 0x80 | 1;
	data.path.pkey = found->pkey;
	data.path.qosclass_sl = htons(found->sl);
	data.path.mtu = (uint8_t)(0x80 | found->mtu);
	data.path.rate = (uint8_t)(0x80 | found->rate);
	data.path.packetlifetime = (uint8_t)(0x80 | found->packet_life_time);
	rdma_destroy_id(id);
	return data;
}

static void await_port_down(struct rdma_cm_id *id)
{
	time_t end = time(NULL) + RNR_HOLD_S;
	struct ibv_port_attr port;

	do {
		CHECK(time(NULL) < end);
		CHECK(ibv_query_port(id->verbs, 1, &port) == 0);
	} while (port.state == IBV_PORT_ACTIVE);
}

static void call(char **arguments)
{
	struct sockaddr_in address = address_of(arguments[2], arguments[3]);
	struct ibv_path_data path = second_path(arguments[4], arguments[5], arguments[3]);
	struct ibv_qp_init_attr attributes = queue_pair();
	struct rdma_conn_param parameters = {.retry_count = 7, .rnr_retry_count = 7};
	static char bytes[TEXT_BYTES];
	struct rdma_cm_id *id;
	uint8_t timeout = 14; /* 67 ms, so that a path that is gone is soon left */

	CHECK(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP) == 0);
	CHECK(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1) == 0);
	CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, RESOLVE_MS) == 0);
	CHECK(rdma_resolve_route(id, RESOLVE_MS) == 0);
	CHECK(id->port_num == 1);
	CHECK(rdma_create_qp(id, NULL, &attributes) == 0);

	struct ibv_mr *region = rdma_reg_msgs(id, bytes, sizeof(bytes));

	CHECK(region && rdma_connect(id, &parameters) == 0);
	send_one(id, region, bytes, "first");
	CHECK(attributes_of(id->qp).path_mig_state == IBV_MIG_MIGRATED);
	CHECK(rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, sizeof(path)) == 0);

	time_t end = time(NULL) + RNR_HOLD_S;

	while (attributes_of(id->qp).path_mig_state == IBV_MIG_MIGRATED)
		CHECK(time(NULL) < end);
	send_one(id, region, bytes, "second");
	await_armed(id->qp);
	printf("armed\n");
	await_port_down(id);
	send_one(id, region, bytes, "third");
	await_migration(id);
	printf("migrated\n");
	CHECK(attributes_of(id->qp).path_mig_state == IBV_MIG_MIGRATED);
	/* A path that begins somewhere else is refused at once. */
	path.path.sgid.raw[15] ^= 0x40;
	CHECK(rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, sizeof(path)) != 0);
	CHECK(errno == EADDRNOTAVAIL);
	/* The peer may be gone before it answers this. */
	CHECK(rdma_post_send(id, NULL, bytes, TEXT_BYTES, region, 0) == 0);

	struct ibv_wc completion;

	CHECK(rdma_get_send_comp(id, &completion) == 1);
}

int main(int argument_count, char **arguments)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argument_count == 4 && strcmp(arguments[1], "serve") == 0)
		serve(arguments[2], arguments[3]);
	else if (argument_count == 6 && strcmp(arguments[1], "call") == 0)
		call(arguments);
	else
		return 2;
	return 0;
}
