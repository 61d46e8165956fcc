/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An I/O controller with a service of each transport, and its driver, which has a port of each: RC,
 * UC, UD and RD (introductions: a driver uses any service, and its ports may differ).
 *
 *	io_ports control RC-ID UC-ID UD-ID RD-ID       serves one driver
 *	io_ports drive GID RC-ID UC-ID UD-ID RD-ID     opens all ports, then exchanges over each
 */
#include <endian.h>
#include <infiniband/ib.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include "rd_client.h"

enum { TEXT_BYTES = 32, PORTS = 3 };

/* A port of the connection manager that librdmacm has. RD is beside it. */
static struct cm_port {
	const char *name;
	enum ibv_qp_type type;
	struct rdma_cm_id *listener; /* of the controller */
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	uint8_t bytes[GRH_BYTES + TEXT_BYTES]; /* the GRH of datagrams is before the text */
} ports[PORTS] = {{.name = "RC", .type = IBV_QPT_RC},
		  {.name = "UC", .type = IBV_QPT_UC},
		  {.name = "UD", .type = IBV_QPT_UD}};

static struct rd_side rd;
static struct ibv_ah *ah; /* of the datagram port */
static uint32_t ud_qpn;

static struct ibv_qp_init_attr queue_pair(void)
{
	return (struct ibv_qp_init_attr){.cap = {2, 2, 1, 1, TEXT_BYTES}, .sq_sig_all = 1};
}

/* gid: of the controller's port. */
static struct rdma_cm_id *open_endpoint(const struct cm_port *port, const union ibv_gid *gid,
					const char *service_id, int flags)
{
	struct sockaddr_ib address = {.sib_family = AF_IB,
				      .sib_pkey = htobe16(0xffff),
				      .sib_sid = htobe64(strtoull(service_id, NULL, 0)),
				      .sib_sid_mask = htobe64(UINT64_MAX)};
	struct rdma_addrinfo info = {.ai_flags = flags,
				     .ai_family = AF_IB,
				     .ai_qp_type = port->type,
				     .ai_port_space = RDMA_PS_IB};
	struct ibv_qp_init_attr attr = queue_pair();
	struct rdma_cm_id *id;

	memcpy(&address.sib_addr, gid, sizeof(address.sib_addr));
	if (flags & RAI_PASSIVE) {
		info.ai_src_addr = (struct sockaddr *)&address;
		info.ai_src_len = sizeof(address);
	} else {
		info.ai_dst_addr = (struct sockaddr *)&address;
		info.ai_dst_len = sizeof(address);
	}
	CHECK_EQUAL(rdma_create_ep(&id, &info, NULL, &attr), 0);
	return id;
}

static void post_text_receive(struct cm_port *port)
{
	port->mr = rdma_reg_msgs(port->id, port->bytes, sizeof(port->bytes));
	CHECK(port->mr);

	bool is_datagram = port->type == IBV_QPT_UD;

	CHECK_EQUAL(rdma_post_recv(port->id, NULL, port->bytes + (is_datagram ? 0 : GRH_BYTES),
				   TEXT_BYTES + (is_datagram ? GRH_BYTES : 0), port->mr),
		    0);
}

static void send_text(struct cm_port *port, const char *text)
{
	static char bytes[TEXT_BYTES];
	struct ibv_wc wc;

	snprintf(bytes, sizeof(bytes), "%s", text);
	if (port->type == IBV_QPT_UD)
		CHECK_EQUAL(rdma_post_ud_send(port->id, NULL, bytes, sizeof(bytes), NULL,
					      IBV_SEND_INLINE, ah, ud_qpn),
			    0);
	else
		CHECK_EQUAL(
			rdma_post_send(port->id, NULL, bytes, sizeof(bytes), NULL, IBV_SEND_INLINE),
			0);
	CHECK_EQUAL(rdma_get_send_comp(port->id, &wc), 1);
	CHECK_EQUAL(wc.status, IBV_WC_SUCCESS);
}

static struct ibv_wc expect_text(struct cm_port *port, const char *what)
{
	char expected[TEXT_BYTES];
	struct ibv_wc wc;

	snprintf(expected, sizeof(expected), "%s over %s", what, port->name);
	CHECK_EQUAL(rdma_get_recv_comp(port->id, &wc), 1);
	CHECK_EQUAL(wc.status, IBV_WC_SUCCESS);
	CHECK(strcmp((char *)port->bytes + GRH_BYTES, expected) == 0);
	return wc;
}

static void take_driver(struct cm_port *port)
{
	struct rdma_conn_param parameters = {.responder_resources = 1, .initiator_depth = 1};

	CHECK_EQUAL(rdma_get_request(port->listener, &port->id), 0);
	post_text_receive(port);
	parameters.qp_num = port->id->qp->qp_num;
	CHECK_EQUAL(rdma_accept(port->id, &parameters), 0);
}

static void answer(struct cm_port *port)
{
	struct ibv_wc wc = expect_text(port, "command");
	char text[TEXT_BYTES];

	if (port->type == IBV_QPT_UD) {
		ah = ibv_create_ah_from_wc(port->id->pd, &wc, (struct ibv_grh *)port->bytes, 1);
		ud_qpn = wc.src_qp;
		CHECK(ah);
	}
	snprintf(text, sizeof(text), "answer over %s", port->name);
	send_text(port, text);
}

static struct softib_cm_event expect_event(enum softib_cm_event_type type)
{
	struct softib_cm_event event = rd_next_event(&rd);

	CHECK_EQUAL(event.type, type);
	return event;
}

static void control(char **service_ids)
{
	struct softib_cm_event request;
	struct softib_eec *eec;

	for (unsigned i = 0; i < PORTS; i++) {
		ports[i].listener =
			open_endpoint(&ports[i], &rd.device.gid, service_ids[i], RAI_PASSIVE);
		CHECK_EQUAL(rdma_listen(ports[i].listener, 1), 0);
	}
	rd_listen(&rd, strtoull(service_ids[PORTS], NULL, 0));
	for (unsigned i = 0; i < PORTS; i++)
		take_driver(&ports[i]);
	request = expect_event(SOFTIB_CM_REQUEST);
	eec = rd_context(&rd);

	const struct softib_eec_offer own = rd_offer(&rd);

	CHECK_EQUAL(softib_accept_eec(request.id, eec, &own), 0);
	expect_event(SOFTIB_CM_ESTABLISHED);
	for (unsigned i = 0; i < PORTS; i++)
		answer(&ports[i]);
	expect_status(rd.cq, IBV_WC_SUCCESS);
	CHECK(strcmp((char *)rd.bytes, "command over RD") == 0);
	snprintf((char *)rd.bytes, sizeof(rd.bytes), "answer over RD");
	rd_send(&rd, &request, eec->eec_num);
	/* The driver has read the last answer when it ends its connections. */
	expect_event(SOFTIB_CM_DISCONNECTED);
}

static void connect_port(struct cm_port *port, const union ibv_gid *gid, const char *service_id)
{
	struct rdma_conn_param parameters = {
		.responder_resources = 1, .initiator_depth = 1, .retry_count = 7};

	port->id = open_endpoint(port, gid, service_id, 0);
	post_text_receive(port);
	parameters.qp_num = port->id->qp->qp_num;
	CHECK_EQUAL(rdma_connect(port->id, &parameters), 0);
	if (port->type == IBV_QPT_UD) {
		struct rdma_ud_param *reply = &port->id->event->param.ud;

		ah = ibv_create_ah(port->id->pd, &reply->ah_attr);
		ud_qpn = reply->qp_num;
		CHECK(ah);
	}
}

static void exchange(struct cm_port *port)
{
	char text[TEXT_BYTES];

	snprintf(text, sizeof(text), "command over %s", port->name);
	send_text(port, text);
	expect_text(port, "answer");
	printf("%s\n", (char *)port->bytes + GRH_BYTES);
}

static void exchange_rd(const struct softib_cm_event *event, uint32_t eecn)
{
	struct ibv_sge sge = {(uintptr_t)rd.bytes, RD_MESSAGE_BYTES, rd.mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	CHECK_EQUAL(ibv_post_recv(rd.qp, &wr, &bad), 0);
	snprintf((char *)rd.bytes, sizeof(rd.bytes), "command over RD");
	rd_send(&rd, event, eecn);
	expect_status(rd.cq, IBV_WC_SUCCESS);
	CHECK(strcmp((char *)rd.bytes, "answer over RD") == 0);
	printf("%s\n", (char *)rd.bytes);
}

/* The driver's ports are all open before anything is exchanged. */
static void drive(const char *controller, char **service_ids)
{
	const struct softib_eec_offer own = rd_offer(&rd);
	const struct softib_eec_call to = {.dgid = rd_gid(controller),
					   .service_id = strtoull(service_ids[PORTS], NULL, 0),
					   .port_num = 1};
	struct softib_eec *eec = rd_context(&rd);
	struct softib_cm_event established;
	struct softib_cm_id *id;

	for (unsigned i = 0; i < PORTS; i++)
		connect_port(&ports[i], &to.dgid, service_ids[i]);
	id = softib_connect_eec(rd.channel, eec, &to, &own, NULL);
	CHECK(id);
	established = expect_event(SOFTIB_CM_ESTABLISHED);
	printf("%u ports\n", PORTS + 1);
	for (unsigned i = 0; i < PORTS; i++)
		exchange(&ports[i]);
	exchange_rd(&established, eec->eec_num);
	CHECK_EQUAL(softib_disconnect_eec(id), 0);
	expect_event(SOFTIB_CM_DISCONNECTED);
}

int main(int argc, char **argv)
{
	CHECK(argc == 3 + PORTS || argc == 4 + PORTS);
	rd_open(&rd);
	if (strcmp(argv[1], "control") == 0)
		control(argv + 2);
	else
		drive(argv[2], argv + 3);
	return 0;
}
