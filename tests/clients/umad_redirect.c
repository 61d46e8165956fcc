/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A class that is served on a queue pair of a program (management 1.6):
 *
 *	umad_redirect place QKEY PKEY_INDEX         serves every MAD that comes to its UD QP;
 *	                                            prints "qp N" and stays until its input ends
 *	umad_redirect agent CLASS QKEY PKEY_INDEX   also registers for the class at QP1 and
 *redirects what comes there to its own QP umad_redirect ask LID CLASS                 asks, follows
 *a redirection once, and prints "redirected" and "answered by QP N"
 */
#include <endian.h>
#include <infiniband/umad.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAD_BYTES = 256,
	GRH_BYTES = 40,
	SLOTS = 64,
	CLASS_PERFORMANCE = 4,
	QKEY_GSI = 0x80010000,
	STATUS_REDIRECT = 2,
	METHOD_RESPONSE = 0x80,
	REDIRECT_LID = 28, /* in ClassPortInfo */
	REDIRECT_PKEY = 30,
	REDIRECT_QPN = 32,
	REDIRECT_QKEY = 36,
	SYMBOL_ERRORS = 4, /* in PortCounters */
	TIMEOUT_MS = 10000,
};

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);           \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

struct place {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_comp_channel *channel;
	struct ibv_qp *served;	/* with the Q_Key that clients are told */
	struct ibv_qp *sending; /* with the Q_Key of QP1, where the clients are */
	struct ibv_mr *mr;
	struct ibv_port_attr port;
	uint16_t pkey;
	uint8_t slots[SLOTS][GRH_BYTES + MAD_BYTES];
	uint8_t answer[MAD_BYTES];
};

static struct place place;

static void put_be16(uint8_t *bytes, uint16_t value)
{
	value = htobe16(value);
	memcpy(bytes, &value, sizeof(value));
}

static void put_be32(uint8_t *bytes, uint32_t value)
{
	value = htobe32(value);
	memcpy(bytes, &value, sizeof(value));
}

static uint32_t get_be32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return be32toh(value);
}

/* Where the data of a class begin (management 1.2). */
static unsigned data_offset(unsigned class)
{
	if (class >= 0x30 && class <= 0x4f)
		return 40;
	return class >= 0x09 && class <= 0x0f ? 24 : 64;
}

static struct ibv_qp *make_qp(uint32_t qkey, uint16_t pkey_index)
{
	struct ibv_qp_init_attr options = {
		.send_cq = place.cq,
		.recv_cq = place.cq,
		.qp_type = IBV_QPT_UD,
		.cap = {.max_send_wr = SLOTS,
			.max_recv_wr = SLOTS,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.sq_sig_all = 1,
	};
	struct ibv_qp_attr attributes = {
		.qp_state = IBV_QPS_INIT, .pkey_index = pkey_index, .port_num = 1, .qkey = qkey};
	struct ibv_qp *qp = ibv_create_qp(place.pd, &options);

	CHECK(qp);
	CHECK(ibv_modify_qp(qp, &attributes,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0);
	attributes.qp_state = IBV_QPS_RTR;
	CHECK(ibv_modify_qp(qp, &attributes, IBV_QP_STATE) == 0);
	attributes.qp_state = IBV_QPS_RTS;
	CHECK(ibv_modify_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
	return qp;
}

static void post(unsigned slot)
{
	struct ibv_sge sge = {.addr = (uintptr_t)place.slots[slot],
			      .length = GRH_BYTES + MAD_BYTES,
			      .lkey = place.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;

	CHECK(ibv_post_recv(place.served, &wr, &bad) == 0);
}

static void open_place(uint32_t qkey, uint16_t pkey_index)
{
	struct ibv_device **devices = ibv_get_device_list(NULL);
	__be16 pkey;

	CHECK(devices && devices[0]);
	place.context = ibv_open_device(devices[0]);
	CHECK(place.context);
	CHECK(ibv_query_port(place.context, 1, &place.port) == 0);
	CHECK(ibv_query_pkey(place.context, 1, pkey_index, &pkey) == 0);
	place.pkey = be16toh(pkey);
	place.pd = ibv_alloc_pd(place.context);
	place.channel = ibv_create_comp_channel(place.context);
	place.cq = ibv_create_cq(place.context, 4 * SLOTS, NULL, place.channel, 0);
	place.mr = ibv_reg_mr(place.pd, place.slots, sizeof(place.slots) + sizeof(place.answer),
			      IBV_ACCESS_LOCAL_WRITE);
	CHECK(place.pd && place.channel && place.cq && place.mr);
	place.served = make_qp(qkey, pkey_index);
	place.sending = qkey == QKEY_GSI ? place.served : make_qp(QKEY_GSI, pkey_index);
	for (unsigned slot = 0; slot < SLOTS; slot++)
		post(slot);
	CHECK(ibv_req_notify_cq(place.cq, 0) == 0);
	printf("qp %u\n", place.served->qp_num);
	fflush(stdout);
}

/* Back to the QP that asked: the number of our QP, and of class Performance 1234 symbol errors. */
static void answer(const struct ibv_wc *wc)
{
	const uint8_t *mad = place.slots[wc->wr_id] + GRH_BYTES;
	struct ibv_ah_attr to = {.dlid = wc->slid, .sl = wc->sl, .port_num = 1};
	struct ibv_ah *ah = ibv_create_ah(place.pd, &to);
	struct ibv_sge sge = {
		.addr = (uintptr_t)place.answer, .length = MAD_BYTES, .lkey = place.mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = SLOTS,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.wr.ud = {.ah = ah, .remote_qpn = wc->src_qp, .remote_qkey = QKEY_GSI},
	};
	struct ibv_send_wr *bad;
	unsigned offset = data_offset(mad[1]);

	CHECK(ah);
	memcpy(place.answer, mad, MAD_BYTES);
	place.answer[3] |= METHOD_RESPONSE;
	if (mad[3] == 2)
		place.answer[3] = 0x81;
	if (mad[1] == CLASS_PERFORMANCE)
		put_be16(place.answer + offset + SYMBOL_ERRORS, 1234);
	else
		put_be32(place.answer + offset, place.served->qp_num);
	CHECK(ibv_post_send(place.sending, &wr, &bad) == 0);
	ibv_destroy_ah(ah);
}

static void serve_place(void)
{
	struct ibv_cq *cq;
	void *context;
	struct ibv_wc wc;

	CHECK(ibv_get_cq_event(place.channel, &cq, &context) == 0);
	ibv_ack_cq_events(cq, 1);
	CHECK(ibv_req_notify_cq(place.cq, 0) == 0);
	while (ibv_poll_cq(place.cq, 1, &wc) == 1) {
		if (wc.wr_id == SLOTS)
			continue;
		if (wc.status == IBV_WC_SUCCESS && wc.byte_len == GRH_BYTES + MAD_BYTES)
			answer(&wc);
		post((unsigned)wc.wr_id);
	}
}

/* Requests at QP1 get the place of our own queue pair. */
static void redirect(int port, int agent, uint8_t *umad, uint32_t qkey)
{
	uint8_t *mad = umad_get_mad(umad);
	int length = MAD_BYTES;
	uint8_t *info;

	if (umad_recv(port, umad, &length, 0) != agent || umad_status(umad))
		return;
	info = mad + data_offset(mad[1]);
	mad[3] |= METHOD_RESPONSE;
	mad[5] = STATUS_REDIRECT;
	memset(info, 0, 72);
	info[0] = info[1] = 1;
	put_be16(info + REDIRECT_LID, place.port.lid);
	put_be16(info + REDIRECT_PKEY, place.pkey);
	put_be32(info + REDIRECT_QPN, place.served->qp_num);
	put_be32(info + REDIRECT_QKEY, qkey);
	umad_send(port, agent, umad, MAD_BYTES, 0, 0);
}

static int serve(int class, uint32_t qkey, uint16_t pkey_index)
{
	long methods[16 / sizeof(long)] = {1 << 1 | 1 << 2};
	uint8_t *umad = umad_alloc(1, umad_size() + MAD_BYTES);
	int port = -1, agent = -1;

	if (class) {
		CHECK(umad_init() >= 0);
		port = umad_open_port(NULL, 0);
		CHECK(port >= 0);
		agent = umad_register(port, class, 1, 0, methods);
		CHECK(agent >= 0);
	}
	open_place(qkey, pkey_index);

	struct pollfd files[] = {{.fd = place.channel->fd, .events = POLLIN},
				 {.fd = 0, .events = POLLIN},
				 {.fd = class ? umad_get_fd(port) : -1, .events = POLLIN}};

	while (poll(files, 3, -1) >= 0 && !files[1].revents) {
		if (files[0].revents)
			serve_place();
		if (files[2].revents)
			redirect(port, agent, umad, qkey);
	}
	return 0;
}

/* The index of this P_Key at our port; -1: the port is not in that partition. */
static int find_pkey(uint16_t pkey)
{
	umad_port_t own;

	CHECK(umad_get_port(NULL, 0, &own) == 0);
	for (unsigned i = 0; i < own.pkeys_size; i++) {
		if ((own.pkeys[i] & 0x7fff) == (pkey & 0x7fff) && pkey & 0x7fff)
			return (int)i;
	}
	return -1;
}

static bool ask_once(int port, int agent, uint8_t *umad)
{
	int length = MAD_BYTES;

	CHECK(umad_send(port, agent, umad, MAD_BYTES, TIMEOUT_MS / 10, 2) == 0);
	return umad_recv(port, umad, &length, TIMEOUT_MS) == agent && umad_status(umad) == 0;
}

static int ask(unsigned lid, int class)
{
	uint8_t *umad = umad_alloc(1, umad_size() + MAD_BYTES);
	uint8_t *mad = umad_get_mad(umad);
	uint8_t *info = mad + data_offset((unsigned)class);
	uint8_t request[MAD_BYTES] = {1, (uint8_t) class, 1, 1, [17] = 0x20, [37] = 0, 0x14, 0x05};
	int port, agent, pkey_index;
	unsigned to_lid;
	uint32_t qpn, qkey;

	CHECK(umad_init() >= 0);
	port = umad_open_port(NULL, 0);
	agent = umad_register(port, class, 1, 0, NULL);
	CHECK(port >= 0 && agent >= 0);
	memcpy(mad, request, MAD_BYTES);
	umad_set_addr(umad, (int)lid, 1, 0, QKEY_GSI);
	if (!ask_once(port, agent, umad)) {
		printf("timeout\n");
		return 1;
	}
	if (mad[5] & STATUS_REDIRECT) {
		to_lid = (unsigned)(info[REDIRECT_LID] << 8 | info[REDIRECT_LID + 1]);
		qpn = get_be32(info + REDIRECT_QPN);
		qkey = get_be32(info + REDIRECT_QKEY);
		pkey_index =
			find_pkey((uint16_t)(info[REDIRECT_PKEY] << 8 | info[REDIRECT_PKEY + 1]));
		printf("redirected\n");
		if (pkey_index < 0) {
			printf("not in that partition\n");
			return 1;
		}
		memcpy(mad, request, MAD_BYTES);
		umad_set_addr(umad, (int)to_lid, (int)qpn, 0, (int)qkey);
		umad_set_pkey(umad, pkey_index);
		if (!ask_once(port, agent, umad)) {
			printf("timeout\n");
			return 1;
		}
	}
	printf("answered by QP %u\n", get_be32(info));
	return 0;
}

int main(int argument_count, char **arguments)
{
	unsigned long numbers[3] = {0};

	for (int i = 2; i < argument_count && i < 5; i++)
		numbers[i - 2] = strtoul(arguments[i], NULL, 0);
	if (argument_count == 4 && strcmp(arguments[1], "place") == 0)
		return serve(0, (uint32_t)numbers[0], (uint16_t)numbers[1]);
	if (argument_count == 5 && strcmp(arguments[1], "agent") == 0)
		return serve((int)numbers[0], (uint32_t)numbers[1], (uint16_t)numbers[2]);
	if (argument_count == 4 && strcmp(arguments[1], "ask") == 0)
		return ask((unsigned)numbers[0], (int)numbers[1]);
	return 2;
}
