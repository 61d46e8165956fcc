/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that may open no more files, one more, two more, ...: each verb fails with errno or
 * works, and once the limit is gone everything works.
 *
 *   hostile_limits EXTRA
 */
#include "verbs_client.h"

#include <dirent.h>
#include <sys/resource.h>

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

int main(int argument_count, char **arguments)
{
	struct rlimit before, tight;

	CHECK(argument_count == 2);
	CHECK_EQUAL(getrlimit(RLIMIT_NOFILE, &before), 0);
	tight = before;
	tight.rlim_cur = open_files() + (unsigned)strtoul(arguments[1], NULL, 0);
	CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &tight), 0);

	unsigned reached = use_device();

	CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &before), 0);
	talk_to_oneself();
	printf("reached %u\n", reached);
	return 0;
}
