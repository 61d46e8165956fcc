/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that lacks something: each verb fails with errno or works, a verb that failed keeps
 * nothing, and once the limit is gone everything works.
 *
 *   hostile_limits descriptors EXTRA    it may open so many more files
 *   hostile_limits memory EXTRA         its address space may grow by so many KiB
 *   hostile_limits threads EXTRA        so many more threads can be made
 */
#include "verbs_client.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

static unsigned threads_left = UINT_MAX;

/* The library's calls come here, too. */
__attribute__((visibility("default"))) int pthread_create(pthread_t *ret_thread,
							  const pthread_attr_t *attributes,
							  void *(*run)(void *), void *argument)
{
	__typeof__(&pthread_create) next =
		(__typeof__(&pthread_create))dlsym(RTLD_NEXT, "pthread_create");

	if (threads_left == 0)
		return EAGAIN;
	threads_left--;
	return next(ret_thread, attributes, run, argument);
}

static unsigned open_files(void)
{
	DIR *directory = opendir("/proc/self/fd");
	unsigned count = 0;

	CHECK(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count - 3; /* ".", ".." and the directory itself */
}

static void use_queue_pair(struct ibv_context *context)
{
	errno = 0;

	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 4096, NULL, NULL, 0);

	CHECK((pd && cq) || errno != 0);
	if (pd && cq) {
		struct ibv_qp_init_attr options = {.send_cq = cq,
						   .recv_cq = cq,
						   .qp_type = IBV_QPT_RC,
						   .cap = {.max_send_wr = 4096,
							   .max_recv_wr = 4096,
							   .max_send_sge = 1,
							   .max_recv_sge = 1}};

		errno = 0;

		struct ibv_qp *qp = ibv_create_qp(pd, &options);

		CHECK(qp || errno != 0);
		if (qp)
			CHECK_EQUAL(ibv_destroy_qp(qp), 0);
	}
	if (cq)
		CHECK_EQUAL(ibv_destroy_cq(cq), 0);
	if (pd)
		CHECK_EQUAL(ibv_dealloc_pd(pd), 0);
}

/* Returns how far the program got: 0 no devices, 1 no context, 2 no channel, 3 all of it. */
static unsigned use_device(void)
{
	int count = 0;

	errno = 0;

	struct ibv_device **list = ibv_get_device_list(&count);

	if (!list || count == 0) {
		CHECK(list || errno != 0);
		if (list)
			ibv_free_device_list(list);
		return 0;
	}
	errno = 0;

	struct ibv_context *context = ibv_open_device(list[0]);

	ibv_free_device_list(list);
	if (!context) {
		CHECK(errno != 0);
		return 1;
	}
	errno = 0;

	struct ibv_comp_channel *channel = ibv_create_comp_channel(context);

	CHECK(channel || errno != 0);
	if (channel)
		CHECK_EQUAL(ibv_destroy_comp_channel(channel), 0);
	use_queue_pair(context);
	CHECK_EQUAL(ibv_close_device(context), 0);
	return channel ? 3 : 2;
}

static void talk_to_oneself(void)
{
	struct device device = device_open();
	struct endpoint a = endpoint_open(&device, IBV_QPT_RC);
	struct endpoint b = endpoint_open(&device, IBV_QPT_RC);

	connect_endpoints(&a, &b);
	fill(a.bytes, 5000, 1);
	post_receive(&b, 1, 0, 8192);

	struct ibv_sge sge = sge_of(&a, 0, 5000);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &b, 0);

	post(&a, &wr);
	expect_status(a.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(expect_status(b.cq, IBV_WC_SUCCESS).byte_len, 5000);
	CHECK(memcmp(a.bytes, b.bytes, 5000) == 0);
	endpoint_close(&a);
	endpoint_close(&b);
	device_close(&device);
}

static uint64_t address_space(void)
{
	unsigned long pages;
	FILE *file = fopen("/proc/self/statm", "r");

	CHECK(file);
	CHECK_EQUAL(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Under the limit, twice: what the first try has kept, as its connection to softibd, serves the
 * second, which keeps no more. */
static unsigned try_twice(unsigned *ret_files_more)
{
	unsigned first = use_device();
	unsigned files = open_files();
	unsigned second = use_device();

	*ret_files_more = open_files() - files;
	return second < first ? second : first;
}

static unsigned try_under(int resource, rlim_t limit, unsigned *ret_files_more)
{
	struct rlimit before, tight;

	CHECK_EQUAL(getrlimit(resource, &before), 0);
	tight = before;
	tight.rlim_cur = limit;
	CHECK_EQUAL(setrlimit(resource, &tight), 0);

	unsigned reached = try_twice(ret_files_more);

	CHECK_EQUAL(setrlimit(resource, &before), 0);
	return reached;
}

int main(int argument_count, char **arguments)
{
	CHECK(argument_count == 3);

	const unsigned extra = (unsigned)strtoul(arguments[2], NULL, 0);
	unsigned reached, files_more;

	if (strcmp(arguments[1], "descriptors") == 0) {
		reached = try_under(RLIMIT_NOFILE, open_files() + extra, &files_more);
	} else if (strcmp(arguments[1], "memory") == 0) {
		reached = try_under(RLIMIT_AS, address_space() + extra * 1024ull, &files_more);
	} else {
		threads_left = extra;
		reached = try_twice(&files_more);
		CHECK(reached == 3 || errno == EAGAIN);
		threads_left = UINT_MAX;
	}
	CHECK_EQUAL(files_more, 0);
	talk_to_oneself();
	printf("reached %u\n", reached);
	return 0;
}
