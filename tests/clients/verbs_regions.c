/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of odd kinds and in odd places: null ones, changed ones, imported ones, and memory that
 * can't be registered.
 * Covers: api/libibverbs/null_mr.c api/libibverbs/mr.c api/libibverbs/import.c
 * api/libibverbs/device_memory.c */
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

	/* A READ of which only the ends are wanted, and a receive of which nothing is. */
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

/* What the other process does with a descriptor that it was given: it gets the adapter, but the
 * objects are where they were made. */
static int import_in_another_process(int file, uint32_t pd_handle)
{
	struct ibv_context *context = ibv_import_device(file);
	struct ibv_port_attr port;

	CHECK(context);
	CHECK_EQUAL(context->cmd_fd, file);
	CHECK_EQUAL(ibv_query_port(context, 1, &port), 0);
	CHECK_EQUAL(port.state, IBV_PORT_ACTIVE);

	struct ibv_pd *pd = ibv_alloc_pd(context);

	/* Not even when it has one of the same number. */
	CHECK(pd);
	CHECK(!ibv_import_pd(context, pd_handle) && errno == ENOENT);
	CHECK_EQUAL(ibv_dealloc_pd(pd), 0);
	CHECK_EQUAL(ibv_close_device(context), 0);
	return 0;
}

static void import_between_processes(struct device *device)
{
	char file[16], handle[16];
	int status;
	pid_t child;

	/* A copy that lives through exec. */
	snprintf(file, sizeof(file), "%d", dup(device->context->cmd_fd));
	snprintf(handle, sizeof(handle), "%u", device->pd->handle);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		execl("/proc/self/exe", "verbs_regions", file, handle, (char *)NULL);
		_exit(127);
	}
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status));
	CHECK_EQUAL(WEXITSTATUS(status), 0);
}

int main(int argument_count, char **arguments)
{
	if (argument_count == 3)
		return import_in_another_process((int)strtol(arguments[1], NULL, 10),
						 (uint32_t)strtoul(arguments[2], NULL, 10));

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
