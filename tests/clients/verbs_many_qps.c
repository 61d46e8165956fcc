/* SPDX-License-Identifier: Apache-2.0 */
/* Creates many queue pairs (100,000 unless told otherwise) in one process, and says what one costs.
 */
#include "verbs_client.h"

/* The address sanitizer puts something around everything. */
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

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	struct device device = device_open();
	struct ibv_cq *cq = ibv_create_cq(device.context, 1, NULL, NULL, 0);
	struct ibv_qp **qps = calloc(count, sizeof(*qps));
	long before = resident_bytes();

	CHECK(cq && qps);
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

	printf("%zu queue pairs, %ld bytes each with queues of one request\n", count, bytes);
	CHECK(bytes <= BYTES_MAX);
	for (size_t i = 0; i < count; i++)
		CHECK_EQUAL(ibv_destroy_qp(qps[i]), 0);
	free(qps);
	CHECK_EQUAL(ibv_destroy_cq(cq), 0);
	device_close(&device);
	puts("ok");
	return 0;
}
