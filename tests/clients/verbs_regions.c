/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of unusual kinds and at unusual addresses: null ones, changed ones, imported ones, and
 * memory that can't be registered. Covers: api/libibverbs/null_mr.c api/libibverbs/mr.c
 * api/libibverbs/import.c api/libibverbs/objects/export_table.c
 * api/libibverbs/objects/foreign_memory.c api/libibverbs/device_memory.c */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "verbs_client.h"

enum { PAGE_BYTES = 4096 };

static struct endpoint a, b;

static void couple_open(struct device *device)
{
	a = endpoint_open(device, IBV_QPT_RC);
	b = endpoint_open(device, IBV_QPT_RC);
	connect_endpoints(&a, &b);
}

static void couple_close(void)
{
	endpoint_close(&a);
	endpoint_close(&b);
}

static void null_region_reads_as_zero(struct device *device)
{
	couple_open(device);

	struct ibv_mr *null = ibv_alloc_null_mr(device->pd);

	CHECK(null);
	fill(b.bytes, 300, 1);

	struct ibv_sge sges[3] = {
		sge_of(&a, 0, 100), {12345, 100, null->lkey}, sge_of(&a, 100, 100)};
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, sges, &b, 0);

	fill(a.bytes, 200, 2);
	wr.num_sge = 3;
	post(&a, &wr);
	expect_status(a.cq, IBV_WC_SUCCESS);
	CHECK(memcmp(b.bytes, a.bytes, 100) == 0);
	for (unsigned i = 100; i < 200; i++)
		CHECK_EQUAL(b.bytes[i], 0);
	CHECK(memcmp(b.bytes + 200, a.bytes + 100, 100) == 0);
	CHECK_EQUAL(ibv_rereg_mr(null, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0),
		    IBV_REREG_MR_ERR_INPUT);
	CHECK_EQUAL(ibv_dereg_mr(null), 0);
	couple_close();
}

static void null_region_forgets_what_is_written(struct device *device)
{
	couple_open(device);

	struct ibv_mr *null = ibv_alloc_null_mr(device->pd);

	CHECK(null);
	fill(b.bytes, 3000, 1);
	memset(a.bytes, 0, 200);

	/* A READ of which only the ends are kept, and a receive of which nothing is. */
	struct ibv_sge sges[3] = {sge_of(&a, 0, 100), {0, 2800, null->lkey}, sge_of(&a, 100, 100)};
	struct ibv_send_wr wr = request(IBV_WR_RDMA_READ, sges, &b, 0);

	wr.num_sge = 3;
	post(&a, &wr);
	expect_status(a.cq, IBV_WC_SUCCESS);
	CHECK(memcmp(a.bytes, b.bytes, 100) == 0);
	CHECK(memcmp(a.bytes + 100, b.bytes + 2900, 100) == 0);

	struct ibv_sge nowhere = {~0ull - 4095, 4096, null->lkey};
	struct ibv_recv_wr receive = {.wr_id = 3, .sg_list = &nowhere, .num_sge = 1};
	struct ibv_recv_wr *bad;

	CHECK_EQUAL(ibv_post_recv(b.qp, &receive, &bad), 0);
	sges[0] = sge_of(&a, 0, 200);
	wr = request(IBV_WR_SEND, sges, &b, 0);
	post(&a, &wr);
	CHECK_EQUAL(expect_status(b.cq, IBV_WC_SUCCESS).byte_len, 200);
	expect_status(a.cq, IBV_WC_SUCCESS);
	couple_close();
	CHECK_EQUAL(ibv_dereg_mr(null), 0);
}

static void null_region_is_not_for_peers(struct device *device)
{
	couple_open(device);

	struct ibv_mr *null = ibv_alloc_null_mr(device->pd);
	struct ibv_sge sge = sge_of(&a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_RDMA_READ, &sge, &b, 0);

	CHECK(null);
	wr.wr.rdma.rkey = null->lkey;
	post(&a, &wr);
	expect_status(a.cq, IBV_WC_REM_ACCESS_ERR);
	couple_close();
	CHECK_EQUAL(ibv_dereg_mr(null), 0);
}

static void memory_that_can_not_be_used(struct device *device)
{
	uint8_t *bytes = mmap(NULL, 4 * PAGE_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;

	CHECK(bytes != MAP_FAILED);
	CHECK_EQUAL(mprotect(bytes + 2 * PAGE_BYTES, PAGE_BYTES, PROT_READ), 0);
	CHECK_EQUAL(mprotect(bytes + 3 * PAGE_BYTES, PAGE_BYTES, PROT_NONE), 0);

	/* The last page counts as the first does. */
	CHECK(!ibv_reg_mr(device->pd, bytes, 3 * PAGE_BYTES, IBV_ACCESS_LOCAL_WRITE));
	CHECK_EQUAL(errno, EFAULT);
	CHECK(!ibv_reg_mr(device->pd, bytes + 3 * PAGE_BYTES, 8, 0) && errno == EFAULT);
	CHECK(!ibv_reg_mr(device->pd, bytes + 2 * PAGE_BYTES, 2 * PAGE_BYTES, 0) &&
	      errno == EFAULT);
	mr = ibv_reg_mr(device->pd, bytes, 3 * PAGE_BYTES, IBV_ACCESS_REMOTE_READ);
	CHECK(mr);

	/* Nor by a change of rights; the region is as before. */
	CHECK_EQUAL(
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE),
		IBV_REREG_MR_ERR_INPUT);
	CHECK_EQUAL(errno, EFAULT);
	CHECK_EQUAL(ibv_dereg_mr(mr), 0);
	CHECK_EQUAL(munmap(bytes + PAGE_BYTES, PAGE_BYTES), 0);
	CHECK(!ibv_reg_mr(device->pd, bytes, 3 * PAGE_BYTES, 0) && errno == EFAULT);
	munmap(bytes, 4 * PAGE_BYTES);
}

static void changes_of_a_region(struct device *device)
{
	struct ibv_pd *other_pd = ibv_alloc_pd(device->context);
	uint8_t *bytes = calloc(2, PAGE_BYTES);
	struct ibv_mr *mr = ibv_reg_mr(device->pd, bytes, PAGE_BYTES, IBV_ACCESS_LOCAL_WRITE);

	CHECK(other_pd && mr);

	uint32_t key = mr->rkey;

	CHECK_EQUAL(ibv_rereg_mr(mr, 0, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
	CHECK_EQUAL(ibv_rereg_mr(mr, 8, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
	CHECK_EQUAL(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, NULL, NULL, 0, 0),
		    IBV_REREG_MR_ERR_INPUT);
	CHECK_EQUAL(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, bytes, 0, 0),
		    IBV_REREG_MR_ERR_INPUT);
	CHECK_EQUAL(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, -1),
		    IBV_REREG_MR_ERR_INPUT);
	CHECK_EQUAL(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				 IBV_ACCESS_REMOTE_WRITE),
		    IBV_REREG_MR_ERR_INPUT);
	CHECK_EQUAL(ibv_rereg_mr(mr,
				 IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_TRANSLATION |
					 IBV_REREG_MR_CHANGE_ACCESS,
				 other_pd, bytes + PAGE_BYTES, 100, IBV_ACCESS_REMOTE_READ),
		    0);
	CHECK(mr->pd == other_pd && mr->addr == bytes + PAGE_BYTES && mr->length == 100);
	CHECK_EQUAL(mr->rkey, key);
	CHECK_EQUAL(ibv_dealloc_pd(other_pd), EBUSY);
	CHECK_EQUAL(ibv_dereg_mr(mr), 0);
	CHECK_EQUAL(ibv_dealloc_pd(other_pd), 0);
	free(bytes);
}

static void advice_is_checked(struct device *device)
{
	uint8_t *bytes = calloc(1, PAGE_BYTES);
	struct ibv_mr *mr = ibv_reg_mr(device->pd, bytes, PAGE_BYTES, IBV_ACCESS_ON_DEMAND);
	struct ibv_sge sge;

	CHECK(mr);
	sge = (struct ibv_sge){(uintptr_t)bytes, 100, mr->lkey};

	enum ibv_advise_mr_advice prefetch = IBV_ADVISE_MR_ADVICE_PREFETCH;
	enum ibv_advise_mr_advice write = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;

	CHECK_EQUAL(ibv_advise_mr(device->pd, prefetch, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1), 0);
	CHECK_EQUAL(ibv_advise_mr(device->pd, prefetch, 0, &sge, 0), EINVAL);
	CHECK_EQUAL(ibv_advise_mr(device->pd, prefetch, 0, NULL, 1), EINVAL);
	CHECK_EQUAL(ibv_advise_mr(device->pd, prefetch, 2, &sge, 1), EINVAL);
	CHECK_EQUAL(ibv_advise_mr(device->pd, (enum ibv_advise_mr_advice)9, 0, &sge, 1), EINVAL);
	CHECK_EQUAL(ibv_advise_mr(device->pd, write, 0, &sge, 1), EPERM);

	struct ibv_pd *other_pd = ibv_alloc_pd(device->context);

	CHECK(other_pd);
	CHECK_EQUAL(ibv_advise_mr(other_pd, prefetch, 0, &sge, 1), EPERM);
	CHECK_EQUAL(ibv_dealloc_pd(other_pd), 0);
	sge.length = PAGE_BYTES + 1;
	CHECK_EQUAL(ibv_advise_mr(device->pd, prefetch, 0, &sge, 1), EFAULT);
	sge.lkey ^= 1;
	CHECK_EQUAL(ibv_advise_mr(device->pd, prefetch, 0, &sge, 1), ENOENT);
	CHECK_EQUAL(ibv_dereg_mr(mr), 0);
	free(bytes);
}

static void import_within_the_process(struct device *device)
{
	struct ibv_context *context = ibv_import_device(dup(device->context->cmd_fd));

	couple_open(device);
	CHECK(context && context != device->context);

	struct ibv_pd *pd = ibv_import_pd(context, device->pd->handle);

	CHECK(pd && pd->context == context);
	CHECK(!ibv_import_pd(context, 0xdead) && errno == ENOENT);

	struct ibv_mr *mr = ibv_import_mr(pd, b.mr->handle);

	CHECK(mr && !mr->addr);
	CHECK_EQUAL(mr->rkey, b.mr->rkey);
	CHECK_EQUAL(mr->length, b.mr->length);
	CHECK(!ibv_import_mr(pd, b.mr->handle ^ 1) && errno == ENOENT);
	ibv_unimport_mr(mr);
	/* Any handle may end the region; the others can only be given up. */
	mr = ibv_import_mr(pd, b.mr->handle);
	CHECK(mr);
	CHECK_EQUAL(ibv_dereg_mr(mr), 0);
	CHECK_EQUAL(ibv_dereg_mr(b.mr), EINVAL);
	CHECK_EQUAL(ibv_rereg_mr(b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0),
		    IBV_REREG_MR_ERR_INPUT);
	ibv_unimport_mr(b.mr);
	b.mr = ibv_reg_mr(pd, b.bytes, 8, 0);
	CHECK(b.mr);
	couple_close();
	ibv_unimport_pd(pd);
	CHECK_EQUAL(ibv_close_device(context), 0);
}

static void import_of_device_memory(struct device *device)
{
	struct ibv_context *context = ibv_import_device(dup(device->context->cmd_fd));
	struct ibv_alloc_dm_attr attr = {.length = 64};
	struct ibv_dm *dm = ibv_alloc_dm(device->context, &attr);
	char word[4] = "abc";

	CHECK(context && dm);

	struct ibv_dm *imported = ibv_import_dm(context, dm->handle);

	CHECK(imported);
	CHECK(!ibv_import_dm(context, dm->handle + 100) && errno == ENOENT);
	CHECK_EQUAL(ibv_memcpy_to_dm(dm, 8, word, sizeof(word)), 0);
	memset(word, 0, sizeof(word));
	CHECK_EQUAL(ibv_free_dm(dm), 0);
	CHECK_EQUAL(ibv_memcpy_from_dm(word, imported, 8, sizeof(word)), 0);
	CHECK(strcmp(word, "abc") == 0);
	ibv_unimport_dm(imported);
	CHECK_EQUAL(ibv_close_device(context), 0);
}

static void other_contexts_share_nothing(struct device *device)
{
	struct ibv_context *context = ibv_open_device(device->context->device);

	CHECK(context);
	CHECK(!ibv_import_pd(context, device->pd->handle) && errno == ENOENT);
	CHECK_EQUAL(ibv_close_device(context), 0);
	CHECK(!ibv_import_device(-1) && errno == EINVAL);
	CHECK(!ibv_import_device(STDOUT_FILENO) && errno == EINVAL);
}

static void domain_is_ended_by_any_handle(struct device *device)
{
	struct ibv_context *context = ibv_import_device(dup(device->context->cmd_fd));
	struct ibv_pd *pd = ibv_alloc_pd(device->context);
	struct ibv_pd *imported;

	CHECK(context && pd);
	imported = ibv_import_pd(context, pd->handle);
	CHECK(imported);
	CHECK_EQUAL(ibv_dealloc_pd(imported), 0);
	CHECK_EQUAL(ibv_dealloc_pd(pd), EINVAL);
	CHECK(!ibv_reg_mr(pd, &device, 8, 0) && errno == EINVAL);
	CHECK(!ibv_alloc_mw(pd, IBV_MW_TYPE_1) && errno == EINVAL);
	CHECK(!ibv_alloc_null_mr(pd) && errno == EINVAL);
	ibv_unimport_pd(pd);
	CHECK_EQUAL(ibv_close_device(context), 0);
}

enum { SHARED_BYTES = 1 << 16, PAYLOAD_AT = 4096, PAYLOAD_BYTES = 5000, COPY_AT = 1 << 15 };

/* The data that exec passes to the importing process. */
struct import_offer {
	int file;
	uint32_t pd, shared_mr, private_mr, dm;
};

static void wait_for(const uint8_t *flag, uint8_t value)
{
	time_t end = time(NULL) + POLL_SECONDS_MAX;

	while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != value)
		CHECK(time(NULL) <= end);
}

/* The imported region's address for peers is its address in the other process; here it has none. */
static struct ibv_send_wr to_import(enum ibv_wr_opcode opcode, struct ibv_sge *sge,
				    const struct ibv_mr *mr, uint64_t iova)
{
	return (struct ibv_send_wr){
		.sg_list = sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {iova, mr->rkey},
	};
}

/* Queue pairs of this process in the other's domain access the other's memory, by either key, until
 * it is deregistered there. */
static void use_import(struct ibv_context *context, struct ibv_pd *pd, struct ibv_mr *mr,
		       uint64_t iova)
{
	struct device device = {.context = context, .pd = pd};

	CHECK_EQUAL(ibv_query_port(context, 1, &device.port), 0);
	CHECK_EQUAL(device.port.state, IBV_PORT_ACTIVE);

	couple_open(&device);

	struct ibv_sge from_import = {iova + PAYLOAD_AT, PAYLOAD_BYTES, mr->lkey};
	struct ibv_sge from_own = sge_of(&a, 0, PAYLOAD_BYTES);
	struct ibv_sge flag = sge_of(&a, SHARED_BYTES, 1);
	struct ibv_send_wr send = {.sg_list = &from_import,
				   .num_sge = 1,
				   .opcode = IBV_WR_SEND,
				   .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr copy = to_import(IBV_WR_RDMA_WRITE, &from_own, mr, iova + COPY_AT);
	struct ibv_send_wr tell = to_import(IBV_WR_RDMA_WRITE, &flag, mr, iova);
	struct ibv_send_wr look = to_import(IBV_WR_RDMA_READ, &flag, mr, iova);

	post_receive(&b, 1, 0, PAYLOAD_BYTES);
	post(&a, &send);
	expect_status(a.cq, IBV_WC_SUCCESS);
	expect_status(b.cq, IBV_WC_SUCCESS);
	memcpy(a.bytes, b.bytes, PAYLOAD_BYTES);
	post(&a, &copy);
	expect_status(a.cq, IBV_WC_SUCCESS);
	a.bytes[SHARED_BYTES] = 1;
	post(&a, &tell);
	expect_status(a.cq, IBV_WC_SUCCESS);
	/* The other process deregisters it now. */
	for (struct ibv_wc wc = {.status = IBV_WC_SUCCESS}; wc.status == IBV_WC_SUCCESS;) {
		post(&a, &look);
		wc = wait_completion(a.cq);
		if (wc.status != IBV_WC_SUCCESS)
			CHECK_EQUAL(wc.status, IBV_WC_REM_ACCESS_ERR);
	}
	endpoint_close(&a);
	endpoint_close(&b);
}

static int import_in_another_process(char **arguments)
{
	int file = (int)strtol(arguments[0], NULL, 10);
	uint64_t iova = strtoull(arguments[5], NULL, 10);
	uint32_t handles[4];
	uint8_t word[8];

	for (unsigned i = 0; i < 4; i++)
		handles[i] = (uint32_t)strtoul(arguments[1 + i], NULL, 10);

	struct ibv_context *context = ibv_import_device(file);

	CHECK(context);
	CHECK_EQUAL(context->cmd_fd, file);
	CHECK(!ibv_import_pd(context, 0xdead) && errno == ENOENT);

	struct ibv_pd *pd = ibv_import_pd(context, handles[0]);
	struct ibv_pd *again = ibv_import_pd(context, handles[0]);
	struct ibv_pd *own = ibv_alloc_pd(context);

	CHECK(pd && again && own);
	CHECK(!ibv_import_mr(pd, 0xdead) && errno == ENOENT);
	CHECK(!ibv_import_mr(own, handles[1]) && errno == ENOENT);
	/* Objects that a process has for itself can't be imported by another. */
	CHECK(!ibv_import_mr(pd, handles[2]) && errno == EOPNOTSUPP);

	struct ibv_dm *dm = ibv_import_dm(context, handles[3]);
	struct ibv_mr *mr = ibv_import_mr(pd, handles[1]);

	CHECK(dm && mr);
	CHECK(!mr->addr);
	CHECK_EQUAL(mr->length, SHARED_BYTES);
	CHECK_EQUAL(mr->rkey, handles[1]);
	CHECK_EQUAL(ibv_memcpy_from_dm(word, dm, 0, sizeof(word)), 0);
	CHECK_EQUAL(ibv_memcpy_to_dm(dm, 8, word, sizeof(word)), 0);
	ibv_unimport_dm(dm);
	use_import(context, again, mr, iova);
	ibv_unimport_mr(mr);
	ibv_unimport_pd(again);
	ibv_unimport_pd(pd);
	CHECK_EQUAL(ibv_dealloc_pd(own), 0);
	CHECK_EQUAL(ibv_close_device(context), 0);
	return 0;
}

static pid_t start_importer(const struct import_offer *offer, const uint8_t *shared)
{
	enum { ARGUMENTS = 6 };
	char texts[ARGUMENTS][24];
	pid_t child = fork();

	CHECK(child >= 0);
	if (child > 0)
		return child;
	snprintf(texts[0], sizeof(texts[0]), "%d", offer->file);
	snprintf(texts[1], sizeof(texts[1]), "%u", offer->pd);
	snprintf(texts[2], sizeof(texts[2]), "%u", offer->shared_mr);
	snprintf(texts[3], sizeof(texts[3]), "%u", offer->private_mr);
	snprintf(texts[4], sizeof(texts[4]), "%u", offer->dm);
	snprintf(texts[5], sizeof(texts[5]), "%llu", (unsigned long long)(uintptr_t)shared);
	execl("/proc/self/exe", "verbs_regions", texts[0], texts[1], texts[2], texts[3], texts[4],
	      texts[5], (char *)NULL);
	_exit(127);
}

static void import_between_processes(struct device *device)
{
	const uint8_t pattern[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct ibv_alloc_dm_attr dm_attr = {.length = 4096};
	int memory = memfd_create("verbs-regions", MFD_CLOEXEC);
	struct endpoint own = {.device = device};
	struct ibv_dm *dm = ibv_alloc_dm(device->context, &dm_attr);
	uint8_t word[8];
	int status;

	CHECK(memory >= 0 && dm);
	CHECK_EQUAL(ftruncate(memory, SHARED_BYTES), 0);

	uint8_t *shared = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);

	CHECK(shared != MAP_FAILED);

	struct ibv_mr *mr = ibv_reg_mr(device->pd, shared, SHARED_BYTES, ALL_ACCESS);

	CHECK(mr);
	endpoint_register(&own);
	fill(shared + PAYLOAD_AT, PAYLOAD_BYTES, 17);
	CHECK_EQUAL(ibv_memcpy_to_dm(dm, 0, pattern, sizeof(pattern)), 0);

	const struct import_offer offer = {
		/* A copy that lives through exec. */
		.file = dup(device->context->cmd_fd),
		.pd = device->pd->handle,
		.shared_mr = mr->handle,
		.private_mr = own.mr->handle,
		.dm = dm->handle,
	};
	pid_t child = start_importer(&offer, shared);

	wait_for(shared, 1);
	CHECK(memcmp(shared + COPY_AT, shared + PAYLOAD_AT, PAYLOAD_BYTES) == 0);
	CHECK_EQUAL(ibv_dereg_mr(mr), 0);
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status));
	CHECK_EQUAL(WEXITSTATUS(status), 0);
	CHECK_EQUAL(ibv_memcpy_from_dm(word, dm, 8, sizeof(word)), 0);
	CHECK(memcmp(word, pattern, sizeof(word)) == 0);
	CHECK_EQUAL(ibv_free_dm(dm), 0);
	CHECK_EQUAL(ibv_dereg_mr(own.mr), 0);
	free(own.bytes);
	munmap(shared, SHARED_BYTES);
	close(memory);
	close(offer.file);
}

int main(int argument_count, char **arguments)
{
	if (argument_count == 7)
		return import_in_another_process(arguments + 1);

	struct device device = device_open();

	null_region_reads_as_zero(&device);
	null_region_forgets_what_is_written(&device);
	null_region_is_not_for_peers(&device);
	memory_that_can_not_be_used(&device);
	changes_of_a_region(&device);
	advice_is_checked(&device);
	import_within_the_process(&device);
	import_of_device_memory(&device);
	other_contexts_share_nothing(&device);
	domain_is_ended_by_any_handle(&device);
	import_between_processes(&device);
	device_close(&device);
	puts("ok");
	return 0;
}
