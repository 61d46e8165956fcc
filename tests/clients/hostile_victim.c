/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that hostile_grants attacks.
 *
 *   hostile_victim FILE PEER-LID BLUE-PKEY
 *
 * Its queue pairs: datagrams of the default partition, datagrams of the blue partition, and a
 * reliable connection to a queue pair at PEER-LID that never speaks. FILE gets their numbers
 * ("LID OPEN BLUE RC"). Each text that arrives is printed as a line. At SIGTERM it says whether the
 * memory that it registered without remote rights is as it was.
 */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include "hostile_victim.h"
#include "verbs_client.h"

enum { SLOT_BYTES = 256, SLOTS = QUEUE_DEPTH, PRIVATE_BYTES = 1 << 16 };

static volatile sig_atomic_t is_ending;
static struct device device;
static struct ibv_cq *cq;
static uint8_t *buffer, *private_bytes;
static struct ibv_mr *region;

static void on_term(int signal)
{
	(void)signal;
	is_ending = 1;
}

static void post_text(struct ibv_qp *qp, unsigned slot)
{
	struct ibv_sge sge = {(uintptr_t)buffer + slot * SLOT_BYTES, SLOT_BYTES, region->lkey};
	struct ibv_recv_wr request = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;

	CHECK(ibv_post_recv(qp, &request, &bad) == 0);
}

static struct ibv_qp *make(enum ibv_qp_type type, uint16_t pkey_index, uint16_t peer_lid)
{
	const bool is_connection = type == IBV_QPT_RC;
	struct ibv_qp_init_attr options = {.send_cq = cq,
					   .recv_cq = cq,
					   .qp_type = type,
					   .cap = {.max_send_wr = 1,
						   .max_recv_wr = SLOTS,
						   .max_send_sge = 1,
						   .max_recv_sge = 1}};
	struct ibv_qp *qp = ibv_create_qp(device.pd, &options);
	struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_INIT,
					 .pkey_index = pkey_index,
					 .port_num = 1,
					 .qkey = VICTIM_QKEY};

	CHECK(qp);
	CHECK(ibv_modify_qp(qp, &attributes,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				    (is_connection ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY)) == 0);
	attributes = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
					  .path_mtu = IBV_MTU_1024,
					  .dest_qp_num = VICTIM_PEER_QPN,
					  .rq_psn = VICTIM_PSN,
					  .min_rnr_timer = 12,
					  .ah_attr = {.dlid = peer_lid, .port_num = 1}};
	CHECK(ibv_modify_qp(qp, &attributes,
			    is_connection ? IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
						    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
						    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER
					  : IBV_QP_STATE) == 0);
	attributes = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7};
	CHECK(ibv_modify_qp(qp, &attributes,
			    is_connection ? IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
						    IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
						    IBV_QP_MAX_QP_RD_ATOMIC
					  : IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
	for (unsigned slot = 0; slot < SLOTS / 3; slot++)
		post_text(qp, (unsigned)(qp->qp_num % 3) * (SLOTS / 3) + slot);
	return qp;
}

static uint16_t index_of(uint16_t pkey)
{
	for (uint16_t index = 0;; index++) {
		__be16 found;

		CHECK(ibv_query_pkey(device.context, 1, index, &found) == 0);
		if (((be16toh(found) ^ pkey) & 0x7fff) == 0)
			return index;
	}
}

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	CHECK(list && list[0]);
	device.context = ibv_open_device(list[0]);
	CHECK(device.context);
	CHECK(ibv_query_port(device.context, 1, &device.port) == 0);
	device.pd = ibv_alloc_pd(device.context);
	cq = ibv_create_cq(device.context, 4 * SLOTS, NULL, NULL, 0);
	buffer = mmap(NULL, SLOTS * SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	private_bytes = mmap(NULL, PRIVATE_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(device.pd && cq && buffer != MAP_FAILED && private_bytes != MAP_FAILED);
	memset(buffer, 0, SLOTS * SLOT_BYTES);
	memset(private_bytes, VICTIM_PATTERN, PRIVATE_BYTES);
	region = ibv_reg_mr(device.pd, buffer, SLOTS * SLOT_BYTES, IBV_ACCESS_LOCAL_WRITE);
	CHECK(region && ibv_reg_mr(device.pd, private_bytes, PRIVATE_BYTES, 0));
}

static void print_arrivals(struct ibv_qp *const qps[3], uint16_t peer_lid)
{
	struct ibv_wc completion;

	while (ibv_poll_cq(cq, 1, &completion) == 1) {
		CHECK_EQUAL(completion.status, IBV_WC_SUCCESS);

		struct ibv_qp *qp = NULL;
		const uint8_t *text = buffer + completion.wr_id * SLOT_BYTES;

		for (unsigned i = 0; i < 3; i++)
			if (qps[i]->qp_num == completion.qp_num)
				qp = qps[i];
		CHECK(qp);

		const bool is_datagram = qp->qp_type == IBV_QPT_UD;

		/* The peer sends nothing. */
		if (is_datagram && completion.slid == peer_lid)
			printf("forged\n");
		else
			printf("%.*s\n", VICTIM_TEXT_BYTES,
			       (const char *)text + (is_datagram ? GRH_BYTES : 0));
		fflush(stdout);
		post_text(qp, (unsigned)completion.wr_id);
	}
}

static bool is_untouched(void)
{
	for (unsigned i = 0; i < PRIVATE_BYTES; i++)
		if (private_bytes[i] != VICTIM_PATTERN)
			return false;
	return true;
}

int main(int argument_count, char **arguments)
{
	CHECK(argument_count == 4);
	signal(SIGTERM, on_term);
	open_device();

	const uint16_t peer_lid = (uint16_t)strtoul(arguments[2], NULL, 0);
	const uint16_t blue = index_of((uint16_t)strtoul(arguments[3], NULL, 0));
	struct ibv_qp *const qps[] = {make(IBV_QPT_UD, index_of(0xffff), 0),
				      make(IBV_QPT_UD, blue, 0),
				      make(IBV_QPT_RC, index_of(0xffff), peer_lid)};
	FILE *file = fopen(arguments[1], "w");

	CHECK(file);
	fprintf(file, "%u %u %u %u\n", device.port.lid, qps[0]->qp_num, qps[1]->qp_num,
		qps[2]->qp_num);
	CHECK(fclose(file) == 0);
	while (!is_ending)
		print_arrivals(qps, peer_lid);
	printf("private memory %s\n", is_untouched() ? "untouched" : "overwritten");
	return 0;
}
