/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target of RDMA WRITEs whose peer stops, dies, or never ends an access.
 *
 *   stops target DIRECTORY ACTION BYTES        ACTION: dereg, destroy, modify, fork or thread
 *   stops writer|hostile DIRECTORY ACTION BYTES
 *
 * The writer writes without pause. Once the script has stopped or killed it, the file "act" tells
 * the target to act; "acted" says how long that took. When "finish" has come, both check that no
 * WRITE is lost that was reported as done, and that memory which was taken back does not change.
 */
#include "meeting_files.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include "ipc/protocol.h"
#include "ipc/rma_area.h"

enum {
	SLOTS = 8, /* WRITE number n goes to slot n % SLOTS */
	SLOT_BYTES_MAX = 1 << 20,
	WINDOW_BYTES = SLOTS * SLOT_BYTES_MAX,
	STAMP_BYTES = 4096, /* each stretch of this length begins with the WRITE's number */
	WRITES_UNTIL_FLOWS = 300,
	LOOKS = 4, /* WRITEs between two looks for a file: fewer than SLOTS */
	SETTLE_MS = 100,
};

struct side {
	struct device device;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *bytes;
	const char *directory;
	uint32_t size;
};

static void open_side(struct side *side)
{
	side->device = device_open();
	side->cq = ibv_create_cq(side->device.context, 64, NULL, NULL, 0);
	CHECK(side->cq);
	CHECK_EQUAL(posix_memalign((void **)&side->bytes, 4096, WINDOW_BYTES), 0);
	memset(side->bytes, 0, WINDOW_BYTES);
	side->mr = ibv_reg_mr(side->device.pd, side->bytes, WINDOW_BYTES, ALL_ACCESS);
	CHECK(side->mr);

	struct ibv_qp_init_attr options = {
		.send_cq = side->cq,
		.recv_cq = side->cq,
		.cap = {16, 16, 1, 1, 0},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	CHECK((side->qp = ibv_create_qp(side->device.pd, &options)));
}

static void tell(const struct side *side, const char *name, unsigned number)
{
	const struct address own = {number, side->device.port.lid, side->qp ? side->qp->qp_num : 0,
				    side->mr ? side->mr->rkey : 0, (uintptr_t)side->bytes};

	tell_address(side->directory, name, &own);
}

static void connect_to(struct side *side, const struct address *peer)
{
	struct ibv_qp_attr attr = connection_to((uint16_t)peer->lid, peer->qpn);

	attr.timeout = ACK_TIMEOUT;
	attr.retry_cnt = 2;
	qp_modify_to(side->qp, IBV_QPS_INIT, attr);
	qp_connect(side->qp, attr);
}

/* --- the writer --- */

static void stamp(uint8_t *bytes, uint32_t size, uint64_t number)
{
	for (uint32_t at = 0; at < size; at += STAMP_BYTES)
		memcpy(bytes + at, &number, sizeof(number));
}

static bool has_stamps(const uint8_t *bytes, uint32_t size, uint64_t number)
{
	for (uint32_t at = 0; at < size; at += STAMP_BYTES)
		if (memcmp(bytes + at, &number, sizeof(number)) != 0)
			return false;
	return true;
}

static enum ibv_wc_status write_number(const struct side *side, const struct address *peer,
				       unsigned number)
{
	const uint64_t offset = (uint64_t)(number % SLOTS) * SLOT_BYTES_MAX;
	struct ibv_sge sge = {(uintptr_t)side->bytes + offset, side->size, side->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE}, *bad;
	struct ibv_wc wc;
	int count;

	stamp(side->bytes + offset, side->size, number);
	wr.wr.rdma.remote_addr = peer->bytes + offset;
	wr.wr.rdma.rkey = peer->key;
	CHECK_EQUAL(ibv_post_send(side->qp, &wr, &bad), 0);
	/* Without a deadline: the program may be stopped for long. */
	while ((count = ibv_poll_cq(side->cq, 1, &wc)) == 0)
		;
	CHECK_EQUAL(count, 1);
	return wc.status;
}

/* A connection ends with one of these. Where packets carry the request, the target's answer may say
 * that the region is gone. */
static void check_end(enum ibv_wc_status status)
{
	CHECK(status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_WR_FLUSH_ERR ||
	      status == IBV_WC_REM_ACCESS_ERR);
}

static void write_until_finished(struct side *side, const struct address *peer)
{
	enum ibv_wc_status status = IBV_WC_SUCCESS;
	unsigned number = 0; /* of the last WRITE that was done */

	while (number % LOOKS || !has_come(side->directory, "finish")) {
		status = write_number(side, peer, number + 1);
		if (status != IBV_WC_SUCCESS)
			break;
		if (++number == WRITES_UNTIL_FLOWS)
			tell(side, "flows", number);
	}
	if (status != IBV_WC_SUCCESS)
		check_end(status);
	printf("the last of %u writes: %s\n", number, ibv_wc_status_str(status));
	tell(side, status == IBV_WC_SUCCESS ? "written" : "broken", number);
}

/* Marks an access as begun in every area that this process shares with a peer, for ever. */
static void hold_all_hazards(void)
{
	const struct direct_layout layout = direct_layout();
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned count = 0;

	CHECK(maps);
	while (fgets(line, sizeof(line), maps)) {
		unsigned long begin, end;

		if (sscanf(line, "%lx-%lx", &begin, &end) != 2 || !strstr(line, "memfd:") ||
		    end - begin != ((layout.total_bytes + 4095) & ~UINT64_C(4095)))
			continue;
		for (unsigned way = 0; way < 2; way++) {
			struct rma_area *area =
				(struct rma_area *)(begin + layout.area_offset[way]);

			__atomic_store_n(&area->hazard, area->hazard | 1, __ATOMIC_SEQ_CST);
			count++;
		}
	}
	fclose(maps);
	CHECK(count);
}

static void be_hostile(struct side *side, const struct address *peer)
{
	for (unsigned number = 1; number <= WRITES_UNTIL_FLOWS; number++)
		CHECK_EQUAL(write_number(side, peer, number), IBV_WC_SUCCESS);
	hold_all_hazards();
	tell(side, "flows", WRITES_UNTIL_FLOWS);
	while (!has_come(side->directory, "finish"))
		poll(NULL, 0, 10);
	tell(side, "broken", WRITES_UNTIL_FLOWS);
}

/* --- the target --- */

static void *do_nothing(void *context)
{
	return context;
}

static void act(struct side *side, const char *action)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	pthread_t thread;

	if (strcmp(action, "dereg") == 0) {
		CHECK_EQUAL(ibv_dereg_mr(side->mr), 0);
		side->mr = NULL;
	} else if (strcmp(action, "destroy") == 0) {
		CHECK_EQUAL(ibv_destroy_qp(side->qp), 0);
		side->qp = NULL;
	} else if (strcmp(action, "modify") == 0) {
		CHECK_EQUAL(ibv_modify_qp(side->qp, &attr, IBV_QP_STATE), 0);
	} else if (strcmp(action, "fork") == 0) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		CHECK(child > 0);
		CHECK_EQUAL(waitpid(child, NULL, 0), child);
	} else {
		CHECK_EQUAL(strcmp(action, "thread"), 0);
		CHECK_EQUAL(pthread_create(&thread, NULL, do_nothing, NULL), 0);
		CHECK_EQUAL(pthread_join(thread, NULL), 0);
	}
}

/* How long this thread has waited for a processor. */
static unsigned long long starved_ns(void)
{
	FILE *file = fopen("/proc/thread-self/schedstat", "r");
	unsigned long long waited_ns = 0;

	if (file) {
		if (fscanf(file, "%*u %llu", &waited_ns) != 1)
			waited_ns = 0;
		fclose(file);
	}
	return waited_ns;
}

/* The clock of this thread, less what a crowded machine takes. */
static unsigned long long now_ns(void)
{
	struct timespec now;
	unsigned long long starved = starved_ns();

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec -
	       starved;
}

/* Every WRITE that was reported as done is in its slot; a WRITE that failed may have changed
 * another. */
static void check_slots(const struct side *side, unsigned done, bool is_broken)
{
	for (unsigned number = done > SLOTS ? done - SLOTS + 1 : 1; number <= done; number++)
		if (!is_broken || number % SLOTS != (done + 1) % SLOTS)
			CHECK(has_stamps(side->bytes + (uint64_t)(number % SLOTS) * SLOT_BYTES_MAX,
					 side->size, number));
}

static void be_target(struct side *side, const char *action)
{
	struct address peer;
	uint8_t *before = malloc(WINDOW_BYTES);
	const bool takes_back = strcmp(action, "fork") != 0 && strcmp(action, "thread") != 0;
	const time_t give_up = time(NULL) + 2 * WAIT_SECONDS;
	bool is_broken = false;

	CHECK(before);
	tell(side, "target", 0);
	peer = wait_for(side->directory, "writer");
	connect_to(side, &peer);
	tell(side, "connected", 0);
	while (!has_come(side->directory, "act")) {
		CHECK(time(NULL) < give_up);
		poll(NULL, 0, 1);
	}

	const unsigned long long begin = now_ns();

	act(side, action);

	const long long took_ns = (long long)(now_ns() - begin);
	const unsigned took_ms = took_ns > 0 ? (unsigned)(took_ns / 1000000) : 0;

	memcpy(before, side->bytes, WINDOW_BYTES);
	printf("%s took %u ms\n", action, took_ms);
	tell(side, "acted", took_ms);
	/* The script lets a peer that is stopped go on. A peer that was killed will not tell. */
	while (!has_come(side->directory, "alone")) {
		CHECK(time(NULL) < give_up);
		if (hear(side->directory, "written", &peer))
			break;
		is_broken = hear(side->directory, "broken", &peer);
		if (is_broken)
			break;
		poll(NULL, 0, 1);
	}
	poll(NULL, 0, SETTLE_MS);
	if (takes_back)
		CHECK_EQUAL(memcmp(before, side->bytes, WINDOW_BYTES), 0);
	if (!has_come(side->directory, "alone"))
		check_slots(side, peer.round, is_broken);
	free(before);
}

int main(int argument_count, char **arguments)
{
	struct side side = {.directory = argument_count > 4 ? arguments[2] : NULL};
	struct address peer;

	CHECK(side.directory);
	setvbuf(stdout, NULL, _IOLBF, 0);
	side.size = (uint32_t)strtoul(arguments[4], NULL, 10);
	CHECK(side.size >= 8 && side.size <= SLOT_BYTES_MAX);
	open_side(&side);
	if (strcmp(arguments[1], "target") == 0) {
		be_target(&side, arguments[3]);
		return 0;
	}
	tell(&side, "writer", 0);
	peer = wait_for(side.directory, "target");
	connect_to(&side, &peer);
	(void)wait_for(side.directory, "connected");
	if (strcmp(arguments[1], "hostile") == 0)
		be_hostile(&side, &peer);
	else
		write_until_finished(&side, &peer);
	return 0;
}
