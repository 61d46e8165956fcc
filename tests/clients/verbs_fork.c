/* SPDX-License-Identifier: Apache-2.0 */
/* A program that forks with open queue pairs: the parent goes on whatever the child does, the child
 * gets errors on what it inherited, and can open the device for itself.
 * Covers: api/libibverbs/compat/fork.c */
#include "verbs_client.h"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 3000, ROUNDS = 50 };

static struct device device;
static struct endpoint a, b;

/* A domain that other processes could open, and a target in it. */
static struct ibv_xrcd *xrcd;
static struct ibv_qp *target;

static void exchange(struct endpoint *from, struct endpoint *to, unsigned seed)
{
	struct ibv_sge sge = sge_of(from, 0, MESSAGE_BYTES);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, to, 0);

	fill(from->bytes, MESSAGE_BYTES, seed);
	post_receive(to, seed, 0, MESSAGE_BYTES);
	post(from, &wr);
	expect_status(from->cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(expect_status(to->cq, IBV_WC_SUCCESS).wr_id, seed);
	CHECK(memcmp(from->bytes, to->bytes, MESSAGE_BYTES) == 0);
}

static void child_execs(void)
{
	/* A sanitizer's build of the path shim fits no other program. */
	unsetenv("LD_PRELOAD");
	execl("/bin/true", "true", (char *)NULL);
	exit(1);
}

static void child_leaves_at_once(void)
{
	_exit(0);
}

/* With the library's own ending. */
static void child_exits(void)
{
	exit(0);
}

static void child_posts_and_polls(void)
{
	struct ibv_sge sge = sge_of(&a, 0, MESSAGE_BYTES);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &b, 0);
	struct ibv_send_wr *bad;

	if (ibv_post_send(a.qp, &wr, &bad) == 0)
		expect_status(a.cq, IBV_WC_WR_FLUSH_ERR);
	/* Requests of the parent are not the child's. */
	expect_status(b.cq, IBV_WC_WR_FLUSH_ERR);
	exit(0);
}

static void child_sets_up_and_takes_down(void)
{
	struct ibv_qp_init_attr options = qp_options(&a, IBV_QPT_RC);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	errno = 0;
	CHECK(!ibv_create_qp(device.pd, &options) && errno == EIO);
	CHECK_EQUAL(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_INIT, .port_num = 1};
	CHECK_EQUAL(
		ibv_modify_qp(a.qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		EIO);
	endpoint_close(&a);
	endpoint_close(&b);
	device_close(&device);
	exit(0);
}

/* The child closes only its own copy of them. */
static void child_closes_the_domain(void)
{
	CHECK_EQUAL(ibv_destroy_qp(target), 0);
	CHECK_EQUAL(ibv_close_xrcd(xrcd), 0);
	exit(0);
}

static void open_domain(FILE *file)
{
	struct ibv_xrcd_init_attr domain = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fileno(file),
		.oflags = O_CREAT,
	};
	struct ibv_qp_init_attr_ex options = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};

	xrcd = ibv_open_xrcd(device.context, &domain);
	CHECK(xrcd);
	options.xrcd = xrcd;
	target = ibv_create_qp_ex(device.context, &options);
	CHECK(target);
}

static void close_domain(void)
{
	struct ibv_qp_init_attr options;
	struct ibv_qp_attr attr;

	CHECK_EQUAL(ibv_query_qp(target, &attr, IBV_QP_STATE, &options), 0);
	CHECK_EQUAL(attr.qp_state, IBV_QPS_RESET);
	CHECK_EQUAL(ibv_close_xrcd(xrcd), EBUSY);
	CHECK_EQUAL(ibv_destroy_qp(target), 0);
	CHECK_EQUAL(ibv_close_xrcd(xrcd), 0);
}

static void child_opens_the_device(void)
{
	struct device own = device_open();
	struct endpoint from = endpoint_open(&own, IBV_QPT_RC);
	struct endpoint to = endpoint_open(&own, IBV_QPT_RC);

	connect_endpoints(&from, &to);
	for (unsigned round = 0; round < ROUNDS; round++)
		exchange(&from, &to, round);
	endpoint_close(&from);
	endpoint_close(&to);
	device_close(&own);
	exit(0);
}

/* A receive is posted and the parent works on while the child does. */
static void with_child(const char *name, void (*in_child)(void))
{
	struct ibv_sge sge = sge_of(&a, 0, 8);
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &b, 0);
	int status;

	post_receive(&b, 1000, 0, 8);

	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0)
		in_child();
	post(&a, &wr);
	expect_status(a.cq, IBV_WC_SUCCESS);
	CHECK_EQUAL(expect_status(b.cq, IBV_WC_SUCCESS).wr_id, 1000);
	for (unsigned round = 0; round < ROUNDS; round++)
		exchange(&a, &b, round);
	CHECK(waitpid(child, &status, 0) == child);
	if (status) {
		fprintf(stderr, "child that %s: wait status %d\n", name, status);
		exit(1);
	}
	for (unsigned round = 0; round < ROUNDS; round++)
		exchange(&a, &b, round);
}

int main(void)
{
	CHECK_EQUAL(setenv("RDMAV_FORK_SAFE", "1", 1), 0);
	CHECK_EQUAL(ibv_fork_init(), 0);
	CHECK_EQUAL(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
	device = device_open();
	a = endpoint_open(&device, IBV_QPT_RC);
	b = endpoint_open(&device, IBV_QPT_RC);
	connect_endpoints(&a, &b);
	exchange(&a, &b, 0);
	with_child("execs", child_execs);
	with_child("leaves at once", child_leaves_at_once);
	with_child("exits", child_exits);
	with_child("posts and polls", child_posts_and_polls);
	with_child("sets up and takes down", child_sets_up_and_takes_down);
	with_child("opens the device", child_opens_the_device);

	FILE *file = tmpfile();

	CHECK(file);
	open_domain(file);
	with_child("closes the domain", child_closes_the_domain);
	close_domain();
	fclose(file);
	endpoint_close(&a);
	endpoint_close(&b);
	device_close(&device);
	puts("ok");
	return 0;
}
