/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of a program's control calls: microseconds of a registration and of taking an RC queue
 * pair from RESET to RTS (medians), and "idle": a program that opens the device and waits. */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "samples.h"

enum { REGISTRATIONS = 200, QUEUE_PAIRS = 1000 };

static double microseconds(void)
{
	return seconds() * 1e6;
}

static void require(int is_right, const char *what)
{
	if (is_right)
		return;
	perror(what);
	exit(1);
}

static double registration(struct ibv_pd *pd, size_t byte_count)
{
	void *memory = mmap(NULL, byte_count, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	double samples[REGISTRATIONS];

	require(memory != MAP_FAILED, "mmap");
	for (size_t index = 0; index < REGISTRATIONS; index++) {
		double start = microseconds();
		struct ibv_mr *mr = ibv_reg_mr(pd, memory, byte_count,
					       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

		samples[index] = microseconds() - start;
		require(mr != NULL, "ibv_reg_mr");
		ibv_dereg_mr(mr);
	}
	munmap(memory, byte_count);
	return median(samples, REGISTRATIONS);
}

/* The queue pair is connected to itself: only the calls count. */
static void connect_queue_pair(struct ibv_qp *qp, uint16_t lid)
{
	struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_INIT,
					 .port_num = 1,
					 .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

	require(!ibv_modify_qp(qp, &attributes,
			       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				       IBV_QP_ACCESS_FLAGS),
		"INIT");
	attributes = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
					  .path_mtu = IBV_MTU_4096,
					  .dest_qp_num = qp->qp_num,
					  .max_dest_rd_atomic = 1,
					  .min_rnr_timer = 12};
	attributes.ah_attr = (struct ibv_ah_attr){.dlid = lid, .port_num = 1};
	require(!ibv_modify_qp(qp, &attributes,
			       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				       IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				       IBV_QP_MIN_RNR_TIMER),
		"RTR");
	attributes = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
					  .timeout = 14,
					  .retry_cnt = 7,
					  .rnr_retry = 7,
					  .max_rd_atomic = 1};
	require(!ibv_modify_qp(qp, &attributes,
			       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				       IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
		"RTS");
}

static double connection(struct ibv_context *context, struct ibv_pd *pd)
{
	static double samples[QUEUE_PAIRS];
	static struct ibv_qp *queue_pairs[QUEUE_PAIRS];
	struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	struct ibv_port_attr port;

	require(cq && !ibv_query_port(context, 1, &port), "ibv_create_cq");
	for (size_t index = 0; index < QUEUE_PAIRS; index++) {
		struct ibv_qp_init_attr init = {.send_cq = cq,
						.recv_cq = cq,
						.cap = {8, 8, 1, 1, 0},
						.qp_type = IBV_QPT_RC};

		queue_pairs[index] = ibv_create_qp(pd, &init);
		require(queue_pairs[index] != NULL, "ibv_create_qp");

		double start = microseconds();

		connect_queue_pair(queue_pairs[index], port.lid);
		samples[index] = microseconds() - start;
	}
	for (size_t index = 0; index < QUEUE_PAIRS; index++)
		ibv_destroy_qp(queue_pairs[index]);
	ibv_destroy_cq(cq);
	return median(samples, QUEUE_PAIRS);
}

static void sit_there(void)
{
	char byte;

	puts("attached");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}

int main(int argc, char **argv)
{
	static const char REGISTER[] = "register-";
	struct ibv_device **devices = ibv_get_device_list(NULL);
	struct ibv_context *context = devices && devices[0] ? ibv_open_device(devices[0]) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;

	if (argc != 2) {
		fprintf(stderr, "usage: bench-verbs register-BYTES|connect|idle\n");
		return 2;
	}
	require(pd != NULL, "ibv_open_device");
	if (!strncmp(argv[1], REGISTER, sizeof(REGISTER) - 1))
		printf("%.3f\n",
		       registration(pd, strtoul(argv[1] + sizeof(REGISTER) - 1, NULL, 0)));
	else if (!strcmp(argv[1], "connect"))
		printf("%.3f\n", connection(context, pd));
	else if (!strcmp(argv[1], "idle"))
		sit_there();
	else
		return 2;
	return 0;
}
