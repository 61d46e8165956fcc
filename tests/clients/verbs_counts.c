/* SPDX-License-Identifier: Apache-2.0 */
/* As many objects of each kind as ibv_query_device promises, all at once; the next one is refused
 * with ENOMEM, and when they are gone there is room again. Of queue pairs there may be more than a
 * machine has memory for: verbs_many_qps.c. */
#include "verbs_client.h"

static struct device device;
static struct ibv_device_attr limits;
static struct ibv_cq *cq;
static char byte;

/* One kind of object: how it is made and unmade. */
struct kind {
	const char *name;
	void *(*make)(void);
	int (*unmake)(void *object);
};

static void *make_pd(void)
{
	return ibv_alloc_pd(device.context);
}

static int unmake_pd(void *object)
{
	return ibv_dealloc_pd(object);
}

static void *make_mr(void)
{
	return ibv_reg_mr(device.pd, &byte, 1, IBV_ACCESS_LOCAL_WRITE);
}

static int unmake_mr(void *object)
{
	return ibv_dereg_mr(object);
}

static void *make_mw(void)
{
	return ibv_alloc_mw(device.pd, IBV_MW_TYPE_2);
}

static int unmake_mw(void *object)
{
	return ibv_dealloc_mw(object);
}

static void *make_ah(void)
{
	struct ibv_ah_attr attr = {.dlid = device.port.lid, .port_num = 1};

	return ibv_create_ah(device.pd, &attr);
}

static int unmake_ah(void *object)
{
	return ibv_destroy_ah(object);
}

static void *make_cq(void)
{
	return ibv_create_cq(device.context, 1, NULL, NULL, 0);
}

static int unmake_cq(void *object)
{
	return ibv_destroy_cq(object);
}

static void *make_srq(void)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 1, .max_sge = 1}};

	return ibv_create_srq(device.pd, &attr);
}

static int unmake_srq(void *object)
{
	return ibv_destroy_srq(object);
}

static void fill_up(const struct kind *kind, int promised, int taken)
{
	void **objects = calloc((size_t)promised, sizeof(*objects));
	int count = promised - taken;

	CHECK(objects && promised > taken);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < count; i++) {
			objects[i] = kind->make();
			if (!objects[i])
				fprintf(stderr, "%s %d of %d\n", kind->name, i, promised);
			CHECK(objects[i]);
		}
		errno = 0;
		CHECK(!kind->make());
		CHECK_EQUAL(errno, ENOMEM);
		/* One goes, one comes. */
		CHECK_EQUAL(kind->unmake(objects[0]), 0);
		objects[0] = kind->make();
		CHECK(objects[0]);
		for (int i = 0; i < count; i++)
			CHECK_EQUAL(kind->unmake(objects[i]), 0);
		/* The whole cycle again only for kinds that have few objects. */
		if (promised > 100000)
			break;
	}
	free(objects);
}

int main(void)
{
	device = device_open();
	CHECK_EQUAL(ibv_query_device(device.context, &limits), 0);
	cq = ibv_create_cq(device.context, 1, NULL, NULL, 0);
	CHECK(cq);
	fill_up(&(struct kind){"protection domain", make_pd, unmake_pd}, limits.max_pd, 1);
	fill_up(&(struct kind){"memory region", make_mr, unmake_mr}, limits.max_mr, 0);
	fill_up(&(struct kind){"memory window", make_mw, unmake_mw}, limits.max_mw, 0);
	fill_up(&(struct kind){"address handle", make_ah, unmake_ah}, limits.max_ah, 0);
	fill_up(&(struct kind){"completion queue", make_cq, unmake_cq}, limits.max_cq, 1);
	fill_up(&(struct kind){"shared queue", make_srq, unmake_srq}, limits.max_srq, 0);
	CHECK_EQUAL(ibv_destroy_cq(cq), 0);
	device_close(&device);
	puts("counts: ok");
	return 0;
}
