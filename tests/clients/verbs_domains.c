/* SPDX-License-Identifier: Apache-2.0 */
/* Thread domains, and parent domains whose allocators give the memory of queues.
 * Covers: api/libibverbs/parent_domain.c api/libibverbs/objects/queue_memory.c */
#include "verbs_client.h"

enum { ALLOCATIONS_MAX = 16, MESSAGE_BYTES = 3000 };

/* What the program's allocator does, and what it has allocated. */
struct allocator {
	enum { GIVES_MEMORY, GIVES_NOTHING, GIVES_DEFAULT } way;
	struct ibv_pd *pd;
	void *memory[ALLOCATIONS_MAX];
	uint64_t types[ALLOCATIONS_MAX];
	unsigned allocated, released, asked;
};

static void *allocate(struct ibv_pd *pd, void *context, size_t size, size_t alignment,
		      uint64_t resource_type)
{
	struct allocator *allocator = context;
	void *memory;

	CHECK(!allocator->pd || pd == allocator->pd);
	allocator->asked++;
	CHECK(size > 0 && alignment > 0 && (alignment & (alignment - 1)) == 0);
	if (allocator->way == GIVES_NOTHING)
		return NULL;
	if (allocator->way == GIVES_DEFAULT)
		return IBV_ALLOCATOR_USE_DEFAULT;
	CHECK(allocator->allocated < ALLOCATIONS_MAX);
	CHECK_EQUAL(posix_memalign(&memory, alignment, size), 0);
	/* Code that relies on zeros will fail. */
	memset(memory, 0xa5, size);
	allocator->memory[allocator->allocated] = memory;
	allocator->types[allocator->allocated++] = resource_type;
	return memory;
}

static void release(struct ibv_pd *pd, void *context, void *memory, uint64_t resource_type)
{
	struct allocator *allocator = context;

	CHECK(pd == allocator->pd);
	for (unsigned i = 0; i < allocator->allocated; i++) {
		if (allocator->memory[i] != memory)
			continue;
		CHECK_EQUAL(allocator->types[i], resource_type);
		allocator->memory[i] = NULL;
		allocator->released++;
		free(memory);
		return;
	}
	fprintf(stderr, "memory comes back that was never given\n");
	exit(1);
}

static struct ibv_pd *parent_open(struct device *device, struct allocator *allocator,
				  struct ibv_td *td)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = device->pd,
		.td = td,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
		.alloc = allocate,
		.free = release,
		.pd_context = allocator,
	};
	struct ibv_pd *pd = ibv_alloc_parent_domain(device->context, &attr);

	CHECK(pd);
	allocator->pd = pd;
	return pd;
}

static struct ibv_cq *cq_of_parent(struct device *device, struct ibv_pd *parent)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4 * QUEUE_DEPTH,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
		.parent_domain = parent,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(device->context, &attr);

	return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

static struct endpoint endpoint_of_parent(struct device *device, struct ibv_pd *parent)
{
	struct endpoint endpoint = {.device = device};

	endpoint_register(&endpoint);
	endpoint.cq = cq_of_parent(device, parent);
	CHECK(endpoint.cq);

	struct ibv_qp_init_attr options = qp_options(&endpoint, IBV_QPT_RC);

	endpoint.qp = ibv_create_qp(parent, &options);
	CHECK(endpoint.qp);
	return endpoint;
}

static void talk(struct endpoint *a, struct endpoint *b)
{
	for (unsigned i = 0; i < 3 * QUEUE_DEPTH; i++) {
		struct ibv_sge sge = sge_of(a, 0, MESSAGE_BYTES);
		struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, b, 0);

		fill(a->bytes, MESSAGE_BYTES, i);
		post_receive(b, i, 0, MESSAGE_BYTES);
		post(a, &wr);
		expect_status(a->cq, IBV_WC_SUCCESS);
		CHECK_EQUAL(expect_status(b->cq, IBV_WC_SUCCESS).wr_id, i);
		CHECK(memcmp(a->bytes, b->bytes, MESSAGE_BYTES) == 0);
	}
}

/* Queue pairs and completion queues live in the program's memory, and give it back. */
static void own_memory(struct device *device)
{
	struct allocator allocator = {.way = GIVES_MEMORY};
	struct ibv_pd *parent = parent_open(device, &allocator, NULL);
	struct endpoint a = endpoint_of_parent(device, parent);
	struct endpoint b = endpoint_of_parent(device, parent);

	/* Send queue, receive queue and completion queue of each. */
	CHECK_EQUAL(allocator.allocated, 6);
	connect_endpoints(&a, &b);
	talk(&a, &b);
	CHECK_EQUAL(ibv_resize_cq(a.cq, 8 * QUEUE_DEPTH), 0);
	talk(&a, &b);
	CHECK_EQUAL(ibv_dealloc_pd(parent), EBUSY);
	endpoint_close(&a);
	endpoint_close(&b);
	CHECK_EQUAL(allocator.released, 6);
	CHECK_EQUAL(ibv_dealloc_pd(parent), 0);
}

static void shared_queue(struct device *device)
{
	struct allocator allocator = {.way = GIVES_MEMORY};
	struct ibv_pd *parent = parent_open(device, &allocator, NULL);
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_srq_attr larger = {.max_wr = 64};
	struct ibv_srq *srq = ibv_create_srq(parent, &attr);

	CHECK(srq);
	CHECK_EQUAL(allocator.allocated, 1);
	CHECK_EQUAL(ibv_modify_srq(srq, &larger, IBV_SRQ_MAX_WR), 0);
	CHECK_EQUAL(ibv_destroy_srq(srq), 0);
	CHECK_EQUAL(allocator.released, 1);
	CHECK_EQUAL(ibv_dealloc_pd(parent), 0);
}

static void default_memory(struct device *device)
{
	struct allocator allocator = {.way = GIVES_DEFAULT};
	struct ibv_pd *parent = parent_open(device, &allocator, NULL);
	struct endpoint a = endpoint_of_parent(device, parent);
	struct endpoint b = endpoint_of_parent(device, parent);

	CHECK_EQUAL(allocator.asked, 6);
	connect_endpoints(&a, &b);
	talk(&a, &b);
	endpoint_close(&a);
	endpoint_close(&b);
	CHECK_EQUAL(allocator.released, 0);
	CHECK_EQUAL(ibv_dealloc_pd(parent), 0);
}

static void no_memory(struct device *device)
{
	struct allocator allocator = {.way = GIVES_NOTHING};
	struct ibv_pd *parent = parent_open(device, &allocator, NULL);
	struct ibv_cq *cq = ibv_create_cq(device->context, 8, NULL, NULL, 0);
	struct endpoint endpoint = {.device = device, .cq = cq};
	struct ibv_qp_init_attr options = qp_options(&endpoint, IBV_QPT_RC);
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 8, .max_sge = 1}};

	CHECK(cq);
	CHECK(!ibv_create_qp(parent, &options) && errno == ENOMEM);
	CHECK(!ibv_create_srq(parent, &srq) && errno == ENOMEM);
	CHECK(!cq_of_parent(device, parent) && errno == ENOMEM);
	CHECK_EQUAL(ibv_destroy_cq(cq), 0);
	CHECK_EQUAL(ibv_dealloc_pd(parent), 0);
}

static void thread_domains(struct device *device)
{
	struct ibv_td_init_attr attr = {0}, unknown = {.comp_mask = 1};
	struct allocator allocator = {.way = GIVES_DEFAULT};
	struct ibv_td *td = ibv_alloc_td(device->context, &attr);

	CHECK(td);
	CHECK(!ibv_alloc_td(device->context, &unknown) && errno == EINVAL);

	struct ibv_pd *parent = parent_open(device, &allocator, td);

	CHECK_EQUAL(ibv_dealloc_td(td), EBUSY);
	CHECK_EQUAL(ibv_dealloc_pd(device->pd), EBUSY);
	CHECK_EQUAL(ibv_dealloc_pd(parent), 0);
	CHECK_EQUAL(ibv_dealloc_td(td), 0);
}

static void mistakes(struct device *device)
{
	struct ibv_parent_domain_init_attr attr = {.pd = NULL};

	CHECK(!ibv_alloc_parent_domain(device->context, &attr) && errno == EINVAL);
	attr.pd = device->pd;
	attr.comp_mask = 1 << 10;
	CHECK(!ibv_alloc_parent_domain(device->context, &attr) && errno == EINVAL);
	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	attr.alloc = allocate;
	CHECK(!ibv_alloc_parent_domain(device->context, &attr) && errno == EINVAL);
}

int main(void)
{
	struct device device = device_open();

	own_memory(&device);
	shared_queue(&device);
	default_memory(&device);
	no_memory(&device);
	thread_domains(&device);
	mistakes(&device);
	device_close(&device);
	puts("ok");
	return 0;
}
