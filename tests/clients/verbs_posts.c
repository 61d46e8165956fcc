/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every opcode posted to every service type in every state, with random flags, sizes, SGEs, keys
 * and list lengths, and with the CQ polled just before, armed, or left alone. Two processes do the
 * same work, one of them without the fast path (SOFTIB_FAST=0); return codes, bad_wr, completions,
 * received bytes and states are written down and compared. Arguments: [SEED [DRAWS]].
 */
#include "service_types.h"

#include <sys/wait.h>
#include <unistd.h>
#include "random_messages.h"

enum {
	LIST_MAX = 3,
	SGES_TRIED = SGES + 1,
	MARKER = 0x77777777,
	DRAWS = 40, /* of each opcode, type and state */
	LINE_BYTES = 512,
	SILENCE_POLLS = 4,
};

static struct device device;
static struct service service;
static FILE *record;

struct work {
	struct ibv_send_wr wr[LIST_MAX];
	struct softib_rd_send_wr rd[LIST_MAX];
	struct ibv_sge sges[LIST_MAX][SGES_TRIED];
	unsigned count;
};

static uint32_t random_size(void)
{
	static const uint32_t sizes[] = {0,   1,    4,	  8,	60,   61,   64,	   256,
					 257, 1008, 1024, 1025, 4096, 4097, 100000};

	return sizes[random_below(sizeof(sizes) / sizeof(sizes[0]))];
}

static bool one_in(uint32_t count)
{
	return random_below(count) == 0;
}

static void draw_sges(struct work *work, unsigned index)
{
	struct ibv_send_wr *wr = &work->wr[index];
	uint32_t byte_count = random_size();

	wr->num_sge = one_in(3) ? (int)random_below(SGES_TRIED + 1) : 1;
	for (int i = 0; i < wr->num_sge; i++) {
		uint32_t part = i + 1 == wr->num_sge ? byte_count : byte_count / 3;

		work->sges[index][i] = sge_of(&service.sender, random_below(1 << 19) * 2, part);
		byte_count -= part;
		if (one_in(16))
			work->sges[index][i].lkey ^= 0x10;
	}
	wr->sg_list = work->sges[index];
}

static void address(struct ibv_send_wr *wr)
{
	bool is_raw = service_is_raw(service.type);

	if (service.type != IBV_QPT_UD && !is_raw)
		return;
	wr->wr.ud.ah = one_in(16) ? NULL : service.ah;
	wr->wr.ud.remote_qpn = is_raw ? 0x88b5 : service.receiver.qp->qp_num;
	wr->wr.ud.remote_qkey = QKEY;
}

static void draw_request(struct work *work, unsigned index, enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr *wr = &work->wr[index];
	uint64_t remote = (uintptr_t)service.receiver.bytes + 8 * random_below(1 << 16);
	uint32_t rkey = service.receiver.mr->rkey ^ (one_in(12) ? 0x10 : 0);

	*wr = (struct ibv_send_wr){.wr_id = index, .opcode = opcode};
	draw_sges(work, index);
	wr->send_flags = random_below(16);
	if (!one_in(8))
		wr->send_flags &= ~(unsigned)IBV_SEND_FENCE;
	wr->imm_data = 5 + index;
	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.remote_addr = remote;
		wr->wr.atomic.rkey = rkey;
		wr->wr.atomic.compare_add = 3;
		if (!one_in(4)) {
			wr->num_sge = 1;
			work->sges[index][0] = sge_of(&service.sender, 0, 8);
		}
	} else {
		wr->wr.rdma.remote_addr = remote;
		wr->wr.rdma.rkey = rkey;
	}
	if (opcode == IBV_WR_BIND_MW) {
		wr->bind_mw.mw = service.mw;
		wr->bind_mw.rkey = ibv_inc_rkey(service.mw->rkey);
		wr->bind_mw.bind_info = (struct ibv_mw_bind_info){
			service.sender.mr, (uintptr_t)service.sender.bytes, 4096, 0};
	}
	if (opcode == IBV_WR_LOCAL_INV || opcode == IBV_WR_SEND_WITH_INV)
		wr->invalidate_rkey = service.mw->rkey;
	wr->qp_type.xrc.remote_srqn = service.srq_number;
	address(wr);
}

/* The index tells which request it was; -1: none. */
static int post_work(struct work *work, int *ret_bad)
{
	struct ibv_send_wr *bad = NULL;
	struct softib_rd_send_wr *bad_rd = NULL;
	int result;

	for (unsigned i = 0; i < work->count; i++) {
		struct ibv_send_wr *next = i + 1 < work->count ? &work->wr[i + 1] : NULL;

		work->wr[i].next = next;
		if (!service.rdd)
			continue;
		work->rd[i] = (struct softib_rd_send_wr){
			.wr = work->wr[i],
			.next = next ? &work->rd[i + 1] : NULL,
			.eec_num = service.eecs[0]->eec_num,
			.remote_qpn = service.receiver.qp->qp_num,
			.remote_qkey = QKEY,
		};
	}
	result = service.rdd ? softib_post_rd_send(service.sender.qp, work->rd, &bad_rd)
			     : ibv_post_send(service.sender.qp, work->wr, &bad);
	*ret_bad = -1;
	if (result)
		*ret_bad = service.rdd ? (int)(bad_rd - work->rd) : (int)(bad - work->wr);
	return result;
}

/* A request that is always valid, and the last; its completion says that no others come before it.
 */
static int post_marker(void)
{
	static struct work work;
	int bad;

	work.count = 1;
	work.sges[0][0] = sge_of(&service.sender, 0, 64);
	work.wr[0] = (struct ibv_send_wr){
		.wr_id = MARKER,
		.sg_list = work.sges[0],
		.num_sge = 1,
		.opcode = service.receiver.qp ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = MARKER,
		.qp_type.xrc.remote_srqn = service.srq_number,
	};
	if (service.type == IBV_QPT_UD || service_is_raw(service.type)) {
		work.wr[0].wr.ud.ah = service.ah;
		work.wr[0].wr.ud.remote_qkey = QKEY;
		work.wr[0].wr.ud.remote_qpn =
			service.receiver.qp ? service.receiver.qp->qp_num : 0x88b5;
	}
	return post_work(&work, &bad);
}

static enum ibv_qp_state state_of_sender(void)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	CHECK_EQUAL(ibv_query_qp(service.sender.qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

static void write_sent(const struct ibv_wc *wc)
{
	fprintf(record, " [%llx %s", (unsigned long long)wc->wr_id, ibv_wc_status_str(wc->status));
	if (!wc->status)
		fprintf(record, " %d", wc->opcode);
	fprintf(record, "]");
}

static void write_received(const struct ibv_wc *wc)
{
	const uint8_t *bytes = service.receiver.bytes + receive_offset(wc->wr_id);
	bool is_placed = wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM;
	uint32_t digest = 0;

	service.receives--;
	fprintf(record, " <%s", ibv_wc_status_str(wc->status));
	if (!wc->status) {
		for (uint32_t i = service.type == IBV_QPT_UD ? GRH_BYTES : 0;
		     i < wc->byte_len && !is_placed; i++)
			digest = digest * 31 + bytes[i];
		fprintf(record, " %d %u %x %x", wc->opcode, wc->byte_len, wc->wc_flags, digest);
	}
	if (!wc->status && wc->wc_flags & IBV_WC_WITH_IMM)
		fprintf(record, " %x", wc->imm_data);
	fprintf(record, ">");
}

/* Everything that the requests before the marker caused at the sender. Returns whether the receiver
 * sees the marker. */
static bool write_until_marker(void)
{
	bool is_acknowledged = service.type != IBV_QPT_UC && service.type != IBV_QPT_UD;
	struct ibv_wc wc;

	do {
		wc = wait_completion(service.sender.cq);
		write_sent(&wc);
	} while (wc.wr_id != MARKER);
	fprintf(record, " state %d", state_of_sender());
	if (!wc.status || is_acknowledged || state_of_sender() != IBV_QPS_SQE)
		return !wc.status;
	/* Messages sent before the send queue stopped may still be under way. */
	CHECK_EQUAL(service_continue(&service), 0);
	CHECK_EQUAL(post_marker(), 0);
	CHECK_EQUAL(wait_completion(service.sender.cq).status, IBV_WC_SUCCESS);
	return true;
}

/* An acknowledged message has its completion; the others have one before that of the marker. */
static void write_receives(bool has_marker)
{
	struct ibv_wc wc = {0};

	if (!service.receiver.qp)
		return;
	while (has_marker && !(wc.wc_flags & IBV_WC_WITH_IMM && wc.imm_data == MARKER)) {
		wc = wait_completion(service.receiver.cq);
		write_received(&wc);
	}
	while (ibv_poll_cq(service.receiver.cq, 1, &wc) == 1)
		write_received(&wc);
}

/* false: no transition leads there. */
static bool bring_to(enum ibv_qp_state state)
{
	static const enum ibv_qp_state way[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS};
	bool has_sqe = service.type == IBV_QPT_UC || service.type == IBV_QPT_UD ||
		       service.type == SOFTIB_QPT_RD;
	struct work work = {.count = 1};
	struct ibv_wc wc;
	int bad;

	service_begin(&service);
	for (unsigned i = 0; i < 3 && (state > way[i] || state == way[i]); i++)
		CHECK_EQUAL(service_move(&service, service.sender.qp, way[i]), 0);
	if (state == IBV_QPS_SQD || state == IBV_QPS_ERR)
		return service_move(&service, service.sender.qp, state) == 0;
	if (state != IBV_QPS_SQE)
		return true;
	if (!has_sqe)
		return false;
	work.sges[0][0] = sge_of(&service.sender, 0, 8);
	work.sges[0][0].lkey ^= 0x10;
	work.wr[0] = (struct ibv_send_wr){
		.sg_list = work.sges[0], .num_sge = 1, .opcode = IBV_WR_SEND, .wr_id = 1};
	do
		address(&work.wr[0]);
	while (service.type == IBV_QPT_UD && !work.wr[0].wr.ud.ah);
	CHECK_EQUAL(post_work(&work, &bad), 0);
	wc = wait_completion(service.sender.cq);
	CHECK_EQUAL(wc.status, IBV_WC_LOC_PROT_ERR);
	return true;
}

static void prepare_queue(unsigned way)
{
	struct ibv_wc wc;

	for (unsigned i = 0; i < SILENCE_POLLS && way == 0; i++)
		CHECK_EQUAL(ibv_poll_cq(service.sender.cq, 1, &wc), 0);
	if (way == 1)
		CHECK_EQUAL(ibv_req_notify_cq(service.sender.cq, 0), 0);
}

static void write_completions(enum ibv_qp_state state)
{
	struct ibv_wc wc;

	if (post_marker()) {
		fprintf(record, " marker refused");
		while (ibv_poll_cq(service.sender.cq, 1, &wc) == 1)
			write_sent(&wc);
		fprintf(record, " state %d", state_of_sender());
		return;
	}
	if (state == IBV_QPS_SQD) {
		for (unsigned i = 0; i < SILENCE_POLLS; i++)
			fprintf(record, " %d", ibv_poll_cq(service.sender.cq, 1, &wc));
		CHECK_EQUAL(service_move(&service, service.sender.qp, IBV_QPS_ERR), 0);
	}
	write_receives(write_until_marker());
}

/* Without the one that nobody answers. */
static enum ibv_wr_opcode random_opcode(void)
{
	uint32_t opcode = random_below(IBV_WR_DRIVER1 + 1);

	return opcode == IBV_WR_SEND_WITH_INV ? IBV_WR_SEND : (enum ibv_wr_opcode)opcode;
}

static void try(enum ibv_wr_opcode opcode, enum ibv_qp_state state)
{
	struct work work = {.count = one_in(3) ? 1 + random_below(LIST_MAX) : 1};
	unsigned way = random_below(3);
	int result, bad;

	service.retry_count = opcode == IBV_WR_SEND_WITH_INV ? 0 : 7;
	if (!bring_to(state))
		return;
	fprintf(record, "type %d state %d opcode %d way %u:", service.type, state, opcode, way);
	for (unsigned i = 0; i < work.count; i++) {
		uint32_t byte_count = 0;

		draw_request(&work, i, i ? random_opcode() : opcode);
		for (int j = 0; j < work.wr[i].num_sge; j++)
			byte_count += work.sges[i][j].length;
		fprintf(record, " (%d flags %x, %d SGEs, %u bytes)", work.wr[i].opcode,
			work.wr[i].send_flags, work.wr[i].num_sge, byte_count);
	}
	prepare_queue(way);
	result = post_work(&work, &bad);
	fprintf(record, " -> %d bad %d", result, bad);
	write_completions(state);
	fprintf(record, "\n");
	fflush(record);
}

/* The receiver does not know the window to be invalidated, and answers nothing then: once is
 * enough. */
static bool is_tried(unsigned draw, enum ibv_qp_state state, unsigned opcode)
{
	return draw == 0 || state != IBV_QPS_RTS || opcode != IBV_WR_SEND_WITH_INV;
}

static void try_all(unsigned draws)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC,	  IBV_QPT_UC,	 IBV_QPT_UD,
		IBV_QPT_XRC_SEND, SOFTIB_QPT_RD, SOFTIB_QPT_RAW_ETHERTYPE,
	};
	device = device_open();
	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		service_open(&service, &device, types[i]);
		for (unsigned draw = 0; draw < draws; draw++)
			for (enum ibv_qp_state state = IBV_QPS_RESET; state <= IBV_QPS_ERR; state++)
				for (unsigned opcode = 0; opcode <= IBV_WR_ATOMIC_WRITE; opcode++)
					if (is_tried(draw, state, opcode))
						try((enum ibv_wr_opcode)opcode, state);
		service_close(&service);
	}
	device_close(&device);
}

/* One after the other: a port has one raw queue pair. */
static FILE *work_of(const char *fast, uint64_t seed, unsigned draws)
{
	FILE *file = tmpfile();
	pid_t child;
	int status;

	CHECK(file);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		if (fast)
			CHECK_EQUAL(setenv("SOFTIB_FAST", fast, 1), 0);
		random_state = seed;
		record = file;
		try_all(draws);
		fflush(file);
		_exit(0);
	}
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	if (status)
		fprintf(stderr, "SOFTIB_FAST=%s, seed %llu: wait status %#x\n", fast ? fast : "",
			(unsigned long long)seed, (unsigned)status);
	CHECK_EQUAL(status, 0);
	rewind(file);
	return file;
}

static unsigned compare(FILE *engine, FILE *fast, uint64_t seed)
{
	char lines[2][4 * LINE_BYTES];
	unsigned count = 0;

	for (;; count++) {
		bool is_there = fgets(lines[0], sizeof(lines[0]), engine);

		CHECK_EQUAL(!!fgets(lines[1], sizeof(lines[1]), fast), is_there);
		if (!is_there)
			return count;
		if (strcmp(lines[0], lines[1]) == 0)
			continue;
		fprintf(stderr, "engine: %sfast:   %sline %u, seed %llu\n", lines[0], lines[1],
			count + 1, (unsigned long long)seed);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	unsigned draws = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : DRAWS;
	FILE *engine = work_of("0", seed, draws);
	FILE *fast = work_of(NULL, seed, draws);

	printf("ok, %u posts\n", compare(engine, fast, seed));
	return 0;
}
