/* SPDX-License-Identifier: Apache-2.0 */
/* The old XRC calls: what they refuse, which processes a receiving queue pair outlives, that a
 * process may modify one with which it is not registered, and how events name one. Covers:
 * api/libibverbs/compat/old_xrc.c */
#include "verbs_client.h"

#include <fcntl.h>
#include <infiniband/ofa_verbs.h>
#include <sys/wait.h>
#include <unistd.h>

static const int TO_INIT = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

static enum ibv_qp_state state_of(struct ibv_xrc_domain *domain, uint32_t qpn)
{
	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr init;

	CHECK_EQUAL(ibv_query_xrc_rcv_qp(domain, qpn, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

static uint32_t make_receiver(struct ibv_xrc_domain *domain)
{
	struct ibv_qp_init_attr_legacy init = {.xrc_domain = domain};
	uint32_t qpn = 0;

	CHECK_EQUAL(ibv_create_xrc_rcv_qp(&init.attr, &qpn), 0);
	CHECK(qpn);
	return qpn;
}

static void refuses_what_is_not_there(struct device *device, struct ibv_xrc_domain *domain)
{
	struct ibv_qp_init_attr_legacy init = {.xrc_domain = NULL};
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	uint32_t qpn;

	CHECK_EQUAL(ibv_create_xrc_rcv_qp(&init.attr, &qpn), EINVAL);
	CHECK_EQUAL(ibv_create_xrc_rcv_qp(NULL, &qpn), EINVAL);
	init.xrc_domain = domain;
	CHECK_EQUAL(ibv_create_xrc_rcv_qp(&init.attr, NULL), EINVAL);
	CHECK_EQUAL(ibv_reg_xrc_rcv_qp(domain, 0xabcdef), EINVAL);
	CHECK_EQUAL(ibv_unreg_xrc_rcv_qp(domain, 0xabcdef), EINVAL);
	CHECK_EQUAL(ibv_modify_xrc_rcv_qp(domain, 0xabcdef, &attr, TO_INIT), EINVAL);
	CHECK_EQUAL(ibv_query_xrc_rcv_qp(domain, 0xabcdef, &attr, IBV_QP_STATE, &init.attr),
		    EINVAL);
	CHECK_EQUAL(ibv_close_xrc_domain(NULL), EINVAL);
	errno = 0;
	CHECK(!ibv_open_xrc_domain(device->context, -1, 0) && errno == EINVAL);
	errno = 0;
	CHECK(!ibv_create_xrc_srq(device->pd, NULL, NULL, &srq) && errno == EINVAL);
}

static void a_queue_shows_its_number(struct device *device, struct ibv_xrc_domain *domain)
{
	struct ibv_cq *cq = ibv_create_cq(device->context, 4, NULL, NULL, 0);
	struct ibv_srq_init_attr init = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_xrc_srq(device->pd, domain, cq, &init);
	uint32_t number;

	CHECK(srq);
	CHECK_EQUAL(ibv_get_srq_num(srq, &number), 0);

	const struct ibv_srq_legacy *shown = (const struct ibv_srq_legacy *)srq;

	CHECK_EQUAL(shown->xrc_srq_num, number);
	CHECK(shown->xrc_domain == domain && shown->xrc_cq == cq);
	CHECK(init.attr.max_wr >= 4);
	CHECK_EQUAL(ibv_destroy_srq(srq), 0);
	CHECK_EQUAL(ibv_destroy_cq(cq), 0);
}

static void a_domain_in_use_stays(struct ibv_xrc_domain *domain)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	uint32_t qpn = make_receiver(domain);

	CHECK_EQUAL(ibv_close_xrc_domain(domain), EBUSY);
	CHECK_EQUAL(state_of(domain, qpn), IBV_QPS_RESET);
	CHECK_EQUAL(ibv_modify_xrc_rcv_qp(domain, qpn, &attr, IBV_QP_STATE), EINVAL);
	CHECK_EQUAL(ibv_modify_xrc_rcv_qp(domain, qpn, &attr, TO_INIT), 0);
	CHECK_EQUAL(state_of(domain, qpn), IBV_QPS_INIT);
	/* A process is registered or not: once more changes nothing. */
	CHECK_EQUAL(ibv_reg_xrc_rcv_qp(domain, qpn), 0);
	CHECK_EQUAL(ibv_unreg_xrc_rcv_qp(domain, qpn), 0);
	CHECK_EQUAL(ibv_unreg_xrc_rcv_qp(domain, qpn), EINVAL);
	CHECK_EQUAL(ibv_reg_xrc_rcv_qp(domain, qpn), EINVAL);
}

/* The child modifies a queue pair with which it has not registered, then registers; the parent
 * unregisters; the queue pair lives until the child unregisters too. */
static void child_of(int file, int from_parent, int to_parent)
{
	struct device device = device_open();
	struct ibv_xrc_domain *domain = ibv_open_xrc_domain(device.context, file, 0);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	uint32_t qpn;
	char byte = 0;

	CHECK(domain);
	CHECK_EQUAL(read(from_parent, &qpn, sizeof(qpn)), sizeof(qpn));
	CHECK_EQUAL(ibv_modify_xrc_rcv_qp(domain, qpn, &attr, TO_INIT), 0);
	CHECK_EQUAL(ibv_unreg_xrc_rcv_qp(domain, qpn), EINVAL);
	CHECK_EQUAL(ibv_reg_xrc_rcv_qp(domain, qpn), 0);
	CHECK_EQUAL(write(to_parent, &byte, 1), 1);
	CHECK_EQUAL(read(from_parent, &byte, 1), 1);
	CHECK_EQUAL(state_of(domain, qpn), IBV_QPS_INIT);
	CHECK_EQUAL(ibv_unreg_xrc_rcv_qp(domain, qpn), 0);
	CHECK_EQUAL(ibv_close_xrc_domain(domain), 0);
	device_close(&device);
	exit(0);
}

static void a_receiver_outlives_its_maker(void)
{
	char path[] = "/tmp/softib-old-xrc-XXXXXX";
	int file = mkstemp(path), to_child[2], to_parent[2], status;
	char byte = 0;

	CHECK(file >= 0 && !unlink(path) && !pipe(to_child) && !pipe(to_parent));

	pid_t child = fork();

	if (child == 0) {
		CHECK_EQUAL(read(to_child[0], &byte, 1), 1);
		child_of(file, to_child[0], to_parent[1]);
	}

	struct device device = device_open();
	struct ibv_xrc_domain *domain = ibv_open_xrc_domain(device.context, file, O_CREAT | O_EXCL);

	CHECK(domain);

	uint32_t qpn = make_receiver(domain);

	CHECK_EQUAL(write(to_child[1], &byte, 1), 1);
	CHECK_EQUAL(write(to_child[1], &qpn, sizeof(qpn)), sizeof(qpn));
	CHECK_EQUAL(read(to_parent[0], &byte, 1), 1);
	CHECK_EQUAL(state_of(domain, qpn), IBV_QPS_INIT);
	CHECK_EQUAL(ibv_unreg_xrc_rcv_qp(domain, qpn), 0);
	CHECK_EQUAL(write(to_child[1], &byte, 1), 1);
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK_EQUAL(ibv_reg_xrc_rcv_qp(domain, qpn), EINVAL);
	CHECK_EQUAL(ibv_close_xrc_domain(domain), 0);
	device_close(&device);
	close(file);
}

/* The first message of a receiver in RTR is an event, which names it as OFED's libraries did. */
static void events_name_a_receiver_by_its_number(struct device *device,
						 struct ibv_xrc_domain *domain)
{
	struct ibv_srq_init_attr srq_init = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_cq *cq = ibv_create_cq(device->context, 8, NULL, NULL, 0);
	struct ibv_srq *srq = ibv_create_xrc_srq(device->pd, domain, cq, &srq_init);
	uint32_t receiver = make_receiver(domain);
	struct ibv_qp_init_attr_legacy init = {
		.attr = {.send_cq = cq,
			 .cap = {.max_send_wr = 4, .max_send_sge = 1},
			 .qp_type = IBV_QPT_XRC,
			 .sq_sig_all = 1},
		.xrc_domain = domain};
	struct ibv_qp *sender = ibv_create_qp(device->pd, &init.attr);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	const int to_rtr =
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	struct ibv_recv_wr receive = {.wr_id = 1}, *bad_receive;
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND}, *bad;
	struct ibv_async_event event;

	CHECK(cq && srq && sender);
	CHECK_EQUAL(ibv_modify_xrc_rcv_qp(domain, receiver, &attr, TO_INIT), 0);
	CHECK_EQUAL(ibv_modify_qp(sender, &attr, TO_INIT), 0);
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				    .path_mtu = IBV_MTU_1024,
				    .dest_qp_num = sender->qp_num,
				    .ah_attr = {.dlid = device->port.lid, .port_num = 1}};
	CHECK_EQUAL(
		ibv_modify_xrc_rcv_qp(domain, receiver, &attr,
				      to_rtr | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
		0);
	attr.dest_qp_num = receiver;
	CHECK_EQUAL(ibv_modify_qp(sender, &attr, to_rtr), 0);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = ACK_TIMEOUT, .retry_cnt = 7, .rnr_retry = 7};
	CHECK_EQUAL(ibv_modify_qp(sender, &attr,
				  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					  IBV_QP_MAX_QP_RD_ATOMIC),
		    0);
	CHECK_EQUAL(ibv_post_srq_recv(srq, &receive, &bad_receive), 0);
	send.qp_type.xrc.remote_srqn = ((struct ibv_srq_legacy *)srq)->xrc_srq_num;
	CHECK_EQUAL(ibv_post_send(sender, &send, &bad), 0);
	expect_status(cq, IBV_WC_SUCCESS);
	expect_status(cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(ibv_get_async_event(device->context, &event), 0);
	CHECK_EQUAL((unsigned)event.event_type,
		    (unsigned)IBV_XRC_QP_EVENT_FLAG | IBV_EVENT_COMM_EST);
	CHECK_EQUAL(ibv_event_xrc_qp_num(&event), receiver);
	/* It may be acknowledged, and need not be: nothing waits for that. */
	ibv_ack_async_event(&event);
	CHECK_EQUAL(ibv_unreg_xrc_rcv_qp(domain, receiver), 0);
	CHECK_EQUAL(ibv_destroy_qp(sender), 0);
	CHECK_EQUAL(ibv_destroy_srq(srq), 0);
	CHECK_EQUAL(ibv_destroy_cq(cq), 0);
}

int main(void)
{
	/* Forks, so it comes before this process has a device. */
	a_receiver_outlives_its_maker();

	struct device device = device_open();
	struct ibv_xrc_domain *domain = ibv_open_xrc_domain(device.context, -1, O_CREAT);

	CHECK(domain);
	refuses_what_is_not_there(&device, domain);
	a_queue_shows_its_number(&device, domain);
	a_domain_in_use_stays(domain);
	events_name_a_receiver_by_its_number(&device, domain);
	CHECK_EQUAL(ibv_close_xrc_domain(domain), 0);
	device_close(&device);
	return 0;
}
