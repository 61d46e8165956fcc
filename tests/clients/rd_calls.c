/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls for EE contexts between two programs, one after the other, each with a message over the
 * contexts that it connected:
 *   rd_calls serve SERVICE ROUNDS
 *   rd_calls call GID SERVICE ROUNDS RESPONSE-TIMEOUT TRIES
 * The caller prints the event that it did not want, and its status.
 */
#include <arpa/inet.h>
#include <softib/verbs.h>
#include "verbs_client.h"

enum { ROUNDS_MAX = 200, MESSAGE_BYTES = 100 };

static struct device device;
static struct softib_rdd *rdd;
static struct softib_cm_channel *channel;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static uint8_t bytes[MESSAGE_BYTES];

static void open_all(void)
{
	device = device_open();
	rdd = softib_alloc_rdd(device.context);
	channel = softib_create_cm_channel(device.context);
	cq = ibv_create_cq(device.context, 2 * ROUNDS_MAX, NULL, NULL, 0);
	mr = ibv_reg_mr(device.pd, bytes, sizeof(bytes), ALL_ACCESS);
	CHECK(rdd && channel && cq && mr);

	struct ibv_qp_init_attr options = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {1, ROUNDS_MAX, 1, 1, 0},
		.qp_type = SOFTIB_QPT_RD,
		.sq_sig_all = 1,
	};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .qkey = QKEY,
				   .qp_access_flags = ALL_ACCESS,
				   .min_rnr_timer = 1};

	qp = softib_create_rd_qp(device.pd, rdd, &options);
	CHECK(qp);
	CHECK_EQUAL(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_ACCESS_FLAGS), 0);
	attr.qp_state = IBV_QPS_RTR;
	CHECK_EQUAL(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER), 0);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQUAL(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
}

static struct softib_eec_offer offer(void)
{
	return (struct softib_eec_offer){
		.qp_num = qp->qp_num, .qkey = QKEY, .retry_count = 7, .rnr_retry_count = 7};
}

static struct softib_cm_event next_event(void)
{
	struct softib_cm_event event;

	CHECK_EQUAL(softib_get_cm_event(channel, &event), 0);
	softib_ack_cm_event(&event);
	return event;
}

static void forget(struct softib_cm_id *id)
{
	struct softib_eec *eec = id->eec;

	CHECK_EQUAL(softib_destroy_cm_id(id), 0);
	if (eec)
		CHECK_EQUAL(softib_destroy_eec(eec), 0);
}

static void take_call(struct softib_cm_id *id)
{
	const struct softib_eec_offer own = offer();
	struct softib_eec *eec = softib_create_eec(rdd, NULL);

	CHECK(eec);
	/* The caller may have given up meanwhile. */
	if (softib_accept_eec(id, eec, &own)) {
		forget(id);
		CHECK_EQUAL(softib_destroy_eec(eec), 0);
	}
}

static void serve(uint64_t service_id, unsigned rounds)
{
	struct ibv_sge sge = {(uintptr_t)bytes, MESSAGE_BYTES, mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
	struct softib_cm_id *listener = softib_listen_eec(channel, 1, service_id, 0, NULL);

	CHECK(listener);
	for (unsigned i = 0; i < ROUNDS_MAX; i++)
		CHECK_EQUAL(ibv_post_recv(qp, &wr, &bad), 0);
	printf("listening\n");
	fflush(stdout);
	for (unsigned done = 0; done < rounds;) {
		struct softib_cm_event event = next_event();

		switch (event.type) {
		case SOFTIB_CM_REQUEST:
			take_call(event.id);
			break;
		case SOFTIB_CM_DISCONNECTED:
			done++;
			forget(event.id);
			break;
		case SOFTIB_CM_REJECTED:
		case SOFTIB_CM_UNREACHABLE:
			forget(event.id);
			break;
		case SOFTIB_CM_ESTABLISHED:
		case SOFTIB_CM_ERROR:
		case SOFTIB_CM_TIMEWAIT_EXIT:
			break;
		}
	}
	CHECK_EQUAL(softib_destroy_cm_id(listener), 0);
	CHECK_EQUAL(softib_destroy_cm_channel(channel), 0);
}

static void send_one(const struct softib_cm_event *event, uint32_t eecn)
{
	struct ibv_sge sge = {(uintptr_t)bytes, MESSAGE_BYTES, mr->lkey};
	struct softib_rd_send_wr wr = {
		.wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND},
		.eec_num = eecn,
		.remote_qpn = event->remote_qpn,
		.remote_qkey = event->remote_qkey,
	};
	struct softib_rd_send_wr *bad;

	CHECK_EQUAL(softib_post_rd_send(qp, &wr, &bad), 0);
	expect_status(cq, IBV_WC_SUCCESS);
}

static int call(const struct softib_eec_call *to)
{
	const struct softib_eec_offer own = offer();
	struct softib_eec *eec = softib_create_eec(rdd, NULL);

	CHECK(eec);

	struct softib_cm_id *id = softib_connect_eec(channel, eec, to, &own, NULL);

	CHECK(id);

	struct softib_cm_event event = next_event();

	if (event.type != SOFTIB_CM_ESTABLISHED) {
		printf("%s %d\n", softib_cm_event_str(event.type), event.status);
		return 2;
	}
	send_one(&event, eec->eec_num);
	CHECK_EQUAL(softib_disconnect_eec(id), 0);
	CHECK_EQUAL(next_event().type, SOFTIB_CM_DISCONNECTED);
	forget(id);
	return 0;
}

int main(int argc, char **argv)
{
	CHECK(argc > 3);
	open_all();
	if (!strcmp(argv[1], "serve")) {
		serve(strtoull(argv[2], NULL, 0), (unsigned)strtoul(argv[3], NULL, 0));
		return 0;
	}
	CHECK_EQUAL(argc, 7);

	struct softib_eec_call to = {
		.service_id = strtoull(argv[3], NULL, 0),
		.port_num = 1,
		.response_timeout = (uint8_t)strtoul(argv[5], NULL, 0),
		.tries = (uint8_t)strtoul(argv[6], NULL, 0),
	};

	CHECK_EQUAL(inet_pton(AF_INET6, argv[2], &to.dgid), 1);
	for (unsigned round = 0; round < strtoul(argv[4], NULL, 0); round++) {
		int failed = call(&to);

		if (failed)
			return failed;
	}
	return 0;
}
