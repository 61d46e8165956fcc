/* SPDX-License-Identifier: Apache-2.0 */
/* Creates many queue pairs (100,000 unless told otherwise) in one process, and says what one costs.
 * Numbers that nobody has are sent to meanwhile: the packets are dropped, and others go on.
 * Covers: api/libibverbs/objects/qpn_supply.c */
#include "verbs_client.h"

/* The address sanitizer surrounds every allocation with red zones. */
#ifdef __SANITIZE_ADDRESS__
enum { SANITIZER_FACTOR = 2 };
#else
enum { SANITIZER_FACTOR = 1 };
#endif
enum { SMALLEST_QUEUE = 1, BYTES_MAX = SANITIZER_FACTOR * (1024 + 512) };

static long resident_bytes(void)
{
	long pages = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	CHECK(file);
	CHECK_EQUAL(fscanf(file, "%ld %ld", &pages, &resident), 2);
	fclose(file);
	return resident * 4096;
}

static double seconds(void)
{
	struct timespec now;

	CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void send_datagram(struct endpoint *from, struct ibv_ah *ah, uint32_t qpn)
{
	struct ibv_sge sge = sge_of(from, 0, 8);
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .wr.ud = {ah, qpn, QKEY}};

	post(from, &wr);
	expect_status(from->cq, IBV_WC_SUCCESS);
}

/* Whatever number a datagram goes to, it does no harm: the next one arrives. */
static void numbers_that_nobody_has(struct device *device, uint32_t last_qpn)
{
	const uint32_t numbers[] = {2, 1023, last_qpn + 70000, 0x800000, 0xfffbff, 0xfffffe};
	struct ibv_ah_attr attr = {.dlid = device->port.lid, .port_num = 1};
	struct ibv_ah *ah = ibv_create_ah(device->pd, &attr);
	struct endpoint a = endpoint_open(device, IBV_QPT_UD);
	struct endpoint b = endpoint_open(device, IBV_QPT_UD);

	CHECK(ah);
	connect_endpoints(&a, &b);
	for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		post_receive(&b, i, 0, 64);
		send_datagram(&a, ah, numbers[i] & 0xffffff);
		send_datagram(&a, ah, b.qp->qp_num);
		CHECK_EQUAL(expect_status(b.cq, IBV_WC_SUCCESS).wr_id, i);
	}
	CHECK_EQUAL(ibv_destroy_ah(ah), 0);
	endpoint_close(&a);
	endpoint_close(&b);
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	struct device device = device_open();
	struct ibv_cq *cq = ibv_create_cq(device.context, 1, NULL, NULL, 0);
	struct ibv_qp **qps = calloc(count, sizeof(*qps));
	long before = resident_bytes();
	double start = seconds();
	struct ibv_device_attr attr;

	CHECK(cq && qps);
	CHECK_EQUAL(ibv_query_device(device.context, &attr), 0);
	/* Of 2^24 numbers 2 and 0xffffff are special, and with them their blocks of 1024. */
	CHECK_EQUAL(attr.max_qp, (1 << 24) - 2 * 1024);
	for (size_t i = 0; i < count; i++) {
		struct ibv_qp_init_attr options = {
			.send_cq = cq,
			.recv_cq = cq,
			.cap = {SMALLEST_QUEUE, SMALLEST_QUEUE, 1, 1, 0},
			.qp_type = IBV_QPT_RC,
		};

		qps[i] = ibv_create_qp(device.pd, &options);
		CHECK(qps[i]);
	}

	long bytes = (resident_bytes() - before) / (long)count;

	printf("%zu queue pairs in %.1f s, %ld bytes each with queues of one request\n", count,
	       seconds() - start, bytes);
	CHECK(bytes <= BYTES_MAX);
	if (count == (size_t)attr.max_qp)
		CHECK(!ibv_create_qp(device.pd,
				     &(struct ibv_qp_init_attr){.send_cq = cq,
								.recv_cq = cq,
								.qp_type = IBV_QPT_RC}) &&
		      errno == ENOMEM);
	else
		numbers_that_nobody_has(&device, qps[count - 1]->qp_num);
	start = seconds();
	for (size_t i = 0; i < count; i++)
		CHECK_EQUAL(ibv_destroy_qp(qps[i]), 0);
	printf("destroyed in %.1f s\n", seconds() - start);
	free(qps);
	CHECK_EQUAL(ibv_destroy_cq(cq), 0);
	device_close(&device);
	puts("ok");
	return 0;
}
