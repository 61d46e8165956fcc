/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program sees of faults at the verbs.
 *
 * "verbs_faulty calls": each call that can be made to fail, once: "NAME ERRNO" per line, 0 if it
 * worked. "verbs_faulty pds N": that many ibv_alloc_pd, a 1 for each that failed and a 0 for
 * others, in one line. "verbs_faulty sends N": that many messages from a queue pair to another, the
 * status of each send in one line. "verbs_faulty event": says "ready", waits for an asynchronous
 * event, says which, then what became of the queue pair. Covers:
 * api/libibverbs/diagnostics/fault_injection.c daemon/packets/verb_fault_injection.c
 */
#include "verbs_client.h"

static void say(const char *name, int error)
{
	printf("%s %d\n", name, error);
}

/* One that returns an object, and one that returns a number. */
#define SAY_OBJECT(name, object) say(name, (object) ? 0 : errno)
#define SAY_RESULT(name, result) say(name, result)

static void call_objects(struct device *device)
{
	static uint8_t bytes[64];
	struct ibv_ah_attr address = {.dlid = device->port.lid, .port_num = 1};
	struct ibv_srq_init_attr srq_options = {.attr = {.max_wr = 1, .max_sge = 1}};
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);
	struct ibv_recv_wr wr = {0}, *bad = NULL;

	SAY_OBJECT("ibv_open_device", ibv_open_device(list[0]));
	SAY_OBJECT("ibv_alloc_pd", ibv_alloc_pd(device->context));
	mr = ibv_reg_mr(device->pd, bytes, sizeof(bytes), IBV_ACCESS_LOCAL_WRITE);
	SAY_OBJECT("ibv_reg_mr", mr);
	if (mr)
		SAY_RESULT("ibv_dereg_mr", ibv_dereg_mr(mr));
	SAY_OBJECT("ibv_alloc_mw", ibv_alloc_mw(device->pd, IBV_MW_TYPE_1));
	SAY_OBJECT("ibv_create_comp_channel", ibv_create_comp_channel(device->context));
	SAY_OBJECT("ibv_create_cq", ibv_create_cq(device->context, 1, NULL, NULL, 0));
	SAY_OBJECT("ibv_create_ah", ibv_create_ah(device->pd, &address));
	srq = ibv_create_srq(device->pd, &srq_options);
	SAY_OBJECT("ibv_create_srq", srq);
	if (srq) {
		SAY_RESULT("ibv_post_srq_recv", ibv_post_srq_recv(srq, &wr, &bad));
		CHECK(!errno || bad == NULL || bad == &wr);
	}
}

static void call_all(struct device *device)
{
	struct endpoint datagram = {.device = device};
	struct ibv_device_attr device_attr;
	struct ibv_port_attr port_attr;
	union ibv_gid gid = {.raw = {0xff, 0x12, [15] = 7}}, own;
	struct ibv_cq *cq = ibv_create_cq(device->context, 8, NULL, NULL, 0);

	CHECK(cq);
	call_objects(device);
	SAY_RESULT("ibv_query_device", ibv_query_device(device->context, &device_attr));
	SAY_RESULT("ibv_query_port", ibv_query_port(device->context, 1, &port_attr));
	SAY_RESULT("ibv_query_gid", ibv_query_gid(device->context, 1, 0, &own) ? errno : 0);
	SAY_RESULT("ibv_req_notify_cq", ibv_req_notify_cq(cq, 0));
	datagram.cq = cq;

	struct ibv_qp_init_attr options = qp_options(&datagram, IBV_QPT_UD);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
	struct ibv_recv_wr receive = {0}, *bad_receive;
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND}, *bad_send;

	datagram.qp = ibv_create_qp(device->pd, &options);
	SAY_OBJECT("ibv_create_qp", datagram.qp);
	if (!datagram.qp)
		return;
	SAY_RESULT("ibv_modify_qp",
		   ibv_modify_qp(datagram.qp, &attr,
				 IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
	SAY_RESULT("ibv_post_recv", ibv_post_recv(datagram.qp, &receive, &bad_receive));
	SAY_RESULT("ibv_attach_mcast", ibv_attach_mcast(datagram.qp, &gid, 0xc001));
	/* In Init there is nothing to send yet: EINVAL is the adapter's own. */
	SAY_RESULT("ibv_post_send", ibv_post_send(datagram.qp, &send, &bad_send));
}

static void allocate_pds(struct device *device, unsigned count)
{
	for (unsigned index = 0; index < count; index++)
		putchar(ibv_alloc_pd(device->context) ? '0' : '1');
	putchar('\n');
}

static void send_messages(struct device *device, unsigned count)
{
	struct endpoint a = endpoint_open(device, IBV_QPT_RC),
			b = endpoint_open(device, IBV_QPT_RC);

	connect_endpoints(&a, &b);
	for (unsigned index = 0; index < count; index++) {
		struct ibv_sge sge = sge_of(&a, 0, 8);
		struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &b, 0);

		post_receive(&b, 1, 0, 64);
		post(&a, &wr);
		printf("%d ", wait_completion(a.cq).status);
	}

	struct ibv_qp_attr attr;
	struct ibv_qp_init_attr options;

	CHECK_EQUAL(ibv_query_qp(a.qp, &attr, IBV_QP_STATE, &options), 0);
	printf("state %d\n", attr.qp_state);
}

static void wait_for_event(struct device *device)
{
	struct endpoint a = {.device = device}, b;
	struct ibv_srq_init_attr srq_options = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_async_event event;

	endpoint_register(&a);
	a.cq = ibv_create_cq(device->context, 16, NULL, NULL, 0);
	a.srq = ibv_create_srq(device->pd, &srq_options);
	CHECK(a.cq && a.srq);

	struct ibv_qp_init_attr options = qp_options(&a, IBV_QPT_RC);

	a.qp = ibv_create_qp(device->pd, &options);
	CHECK(a.qp);
	b = endpoint_open(device, IBV_QPT_RC);
	connect_endpoints(&a, &b);
	puts("ready");
	fflush(stdout);
	/* A queue pair in error with a shared receive queue says that too. */
	for (;;) {
		CHECK_EQUAL(ibv_get_async_event(device->context, &event), 0);
		if (event.event_type != IBV_EVENT_QP_LAST_WQE_REACHED)
			break;
		ibv_ack_async_event(&event);
	}
	printf("%s", ibv_event_type_str(event.event_type));
	if (event.event_type == IBV_EVENT_PORT_ERR)
		CHECK_EQUAL(event.element.port_num, 1);
	if (event.event_type == IBV_EVENT_SRQ_ERR)
		CHECK(event.element.srq == a.srq);
	if (event.event_type == IBV_EVENT_QP_FATAL)
		CHECK(event.element.qp == a.qp || event.element.qp == b.qp);
	if (event.event_type == IBV_EVENT_CQ_ERR)
		CHECK(event.element.cq == a.cq || event.element.cq == b.cq);
	ibv_ack_async_event(&event);

	struct ibv_qp_attr attr;

	CHECK_EQUAL(ibv_query_qp(a.qp, &attr, IBV_QP_STATE, &options), 0);
	printf(", queue pair %s\n", attr.qp_state == IBV_QPS_ERR ? "in error" : "as before");
}

int main(int argument_count, char **arguments)
{
	struct device device = device_open();
	const char *what = argument_count > 1 ? arguments[1] : "";
	unsigned count = argument_count > 2 ? (unsigned)strtoul(arguments[2], NULL, 10) : 1;

	if (strcmp(what, "calls") == 0)
		call_all(&device);
	else if (strcmp(what, "pds") == 0)
		allocate_pds(&device, count);
	else if (strcmp(what, "sends") == 0)
		send_messages(&device, count);
	else if (strcmp(what, "event") == 0)
		wait_for_event(&device);
	else
		return 2;
	return 0;
}
