/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbered datagrams, or UC messages of one packet, from one adapter of a host to the other over a
 * link that fails.
 *
 * "verbs_loss ud|uc COUNT": sends them all, says "sent", reads how many should arrive from stdin,
 * receives so many, says "received", reads a line (the link is sound again now), and sends a last
 * one, which must be the next that arrives.
 */
#include "verbs_client.h"

enum { MESSAGE_BYTES = 200, BATCH = 32, MESSAGES_MAX = 4000 };

static struct device open_adapter(int index)
{
	struct device device = {0};
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);

	CHECK(list);
	CHECK(count > index);
	device.context = ibv_open_device(list[index]);
	CHECK(device.context);
	ibv_free_device_list(list);
	CHECK_EQUAL(ibv_query_port(device.context, 1, &device.port), 0);
	device.pd = ibv_alloc_pd(device.context);
	CHECK(device.pd);
	return device;
}

static struct endpoint open_endpoint(struct device *device, enum ibv_qp_type type, unsigned depth)
{
	struct endpoint endpoint = {.device = device};

	endpoint_register(&endpoint);
	endpoint.cq = ibv_create_cq(device->context, (int)(2 * depth), NULL, NULL, 0);
	CHECK(endpoint.cq);

	struct ibv_qp_init_attr options = {
		.send_cq = endpoint.cq,
		.recv_cq = endpoint.cq,
		.cap = {.max_send_wr = BATCH,
			.max_recv_wr = depth,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = type,
	};

	endpoint.qp = ibv_create_qp(device->pd, &options);
	CHECK(endpoint.qp);
	to_init(&endpoint, 0);
	return endpoint;
}

static void connect_to(struct endpoint *endpoint, const struct endpoint *peer)
{
	qp_connect(endpoint->qp, connection_to(peer->device->port.lid, peer->qp->qp_num));
}

static void send_number(struct endpoint *sender, const struct endpoint *receiver, struct ibv_ah *ah,
			unsigned number)
{
	struct ibv_sge sge = sge_of(sender, 0, MESSAGE_BYTES);
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED};

	if (ah) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = receiver->qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	}
	fill(sender->bytes, MESSAGE_BYTES, number);
	memcpy(sender->bytes, &number, sizeof(number));
	post(sender, &wr);
	expect_status(sender->cq, IBV_WC_SUCCESS);
}

/* The message's number, after its bytes have been compared. */
static unsigned receive_number(struct endpoint *receiver)
{
	struct ibv_wc wc = expect_status(receiver->cq, IBV_WC_SUCCESS);
	size_t grh = receiver->qp->qp_type == IBV_QPT_UD ? GRH_BYTES : 0;
	const uint8_t *bytes = receiver->bytes + wc.wr_id * (MESSAGE_BYTES + GRH_BYTES) + grh;
	uint8_t expected[MESSAGE_BYTES];
	unsigned number;

	CHECK_EQUAL(wc.byte_len, MESSAGE_BYTES + grh);
	memcpy(&number, bytes, sizeof(number));
	fill(expected, MESSAGE_BYTES, number);
	memcpy(expected, &number, sizeof(number));
	CHECK(memcmp(bytes, expected, MESSAGE_BYTES) == 0);
	return number;
}

static int read_line(void)
{
	char line[32];

	CHECK(fgets(line, sizeof(line), stdin));
	return (int)strtol(line, NULL, 10);
}

int main(int argument_count, char **arguments)
{
	CHECK(argument_count == 3);

	enum ibv_qp_type type = strcmp(arguments[1], "ud") == 0 ? IBV_QPT_UD : IBV_QPT_UC;
	unsigned count = (unsigned)strtoul(arguments[2], NULL, 10);
	struct device from = open_adapter(0), to = open_adapter(1);
	struct endpoint sender = open_endpoint(&from, type, 1);
	struct endpoint receiver = open_endpoint(&to, type, MESSAGES_MAX);
	struct ibv_ah_attr address = {.dlid = to.port.lid, .port_num = 1};
	struct ibv_ah *ah = type == IBV_QPT_UD ? ibv_create_ah(from.pd, &address) : NULL;

	CHECK(count && count < MESSAGES_MAX / 2);
	connect_to(&sender, &receiver);
	connect_to(&receiver, &sender);
	for (unsigned index = 0; index < MESSAGES_MAX; index++)
		post_receive(&receiver, index, index * (MESSAGE_BYTES + GRH_BYTES),
			     MESSAGE_BYTES + GRH_BYTES);
	for (unsigned number = 1; number <= count; number++)
		send_number(&sender, &receiver, ah, number);
	puts("sent");
	fflush(stdout);

	int expected = read_line();
	unsigned last = 0;

	for (int received = 0; received < expected; received++) {
		unsigned number = receive_number(&receiver);

		/* A duplicate comes right behind; nothing comes late. */
		CHECK(number >= last && number <= count);
		last = number;
	}
	puts("received");
	fflush(stdout);
	read_line();
	send_number(&sender, &receiver, ah, count + 1);
	CHECK_EQUAL(receive_number(&receiver), count + 1);
	puts("no more than that");
	return 0;
}
