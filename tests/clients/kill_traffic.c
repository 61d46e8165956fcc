/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One side of a reliable connection that carries checked messages until something ends it.
 *
 *   kill_traffic send|receive DIRECTORY [COUNT [TIMEOUT [no-files]]]
 *
 * The two find each other by files in DIRECTORY. Every 1000 messages a line "N messages" says that
 * they flow. COUNT 0 is for ever; SIGTERM is a polite end. TIMEOUT is the local ACK timeout's code.
 * With no-files the process may open no file once it is connected.
 * Exit code 0: all went well; 3: a completion said no, and its name was printed.
 */
#include "verbs_client.h"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	MESSAGES_IN_FLIGHT = 32,
	MESSAGE_BYTES_MAX = 16384,
	MESSAGES_PER_LINE = 1000,
	EVENT_WAIT_MS = 60000,
	PEER_WAIT_SECONDS = 120,
	EXIT_COMPLETION_ERROR = 3,
};

struct traffic {
	struct device device;
	struct endpoint endpoint;
	bool is_sender;
	unsigned timeout_code;
	uint64_t count; /* 0: for ever */
	uint64_t posted;
	uint64_t completed;
	enum ibv_wc_status status; /* status of the first request that failed */
	uint64_t flushed;
};

static volatile sig_atomic_t should_end;

static void end(int signal_number)
{
	(void)signal_number;
	should_end = 1;
}

static void write_address(const struct traffic *traffic, const char *directory)
{
	char finished[512], path[sizeof(finished) + 8];

	snprintf(finished, sizeof(finished), "%s/%s", directory,
		 traffic->is_sender ? "send" : "receive");
	snprintf(path, sizeof(path), "%s.part", finished);

	FILE *file = fopen(path, "w");

	CHECK(file);
	fprintf(file, "%u %u\n", traffic->device.port.lid, traffic->endpoint.qp->qp_num);
	CHECK_EQUAL(fclose(file), 0);
	CHECK_EQUAL(rename(path, finished), 0);
}

static void read_address(const struct traffic *traffic, const char *directory, unsigned *ret_lid,
			 unsigned *ret_qpn)
{
	time_t give_up = time(NULL) + PEER_WAIT_SECONDS;
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, traffic->is_sender ? "receive" : "send");
	while (!(file = fopen(path, "r"))) {
		CHECK(time(NULL) < give_up);
		poll(NULL, 0, 1);
	}
	CHECK_EQUAL(fscanf(file, "%u %u", ret_lid, ret_qpn), 2);
	fclose(file);
}

static void connect_to(struct traffic *traffic, unsigned lid, unsigned qpn)
{
	struct ibv_qp_attr attr = connection_to((uint16_t)lid, qpn);

	attr.max_rd_atomic = 1;
	attr.max_dest_rd_atomic = 1;
	attr.timeout = (uint8_t)traffic->timeout_code;
	to_init(&traffic->endpoint, ALL_ACCESS);
	qp_connect(traffic->endpoint.qp, attr);
}

static size_t message_bytes(uint64_t number)
{
	return 8 + number * 977 % (MESSAGE_BYTES_MAX - 8);
}

static size_t message_offset(uint64_t number)
{
	return number % MESSAGES_IN_FLIGHT * MESSAGE_BYTES_MAX;
}

static void post_next(struct traffic *traffic)
{
	uint64_t number = traffic->posted++;
	size_t offset = message_offset(number);

	if (!traffic->is_sender) {
		post_receive(&traffic->endpoint, number, offset, MESSAGE_BYTES_MAX);
		return;
	}

	struct ibv_sge sge = sge_of(&traffic->endpoint, offset, message_bytes(number));
	struct ibv_send_wr wr = {
		.wr_id = number,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};

	fill(traffic->endpoint.bytes + offset, sge.length, (unsigned)number);
	post(&traffic->endpoint, &wr);
}

static void check_received(const struct traffic *traffic, const struct ibv_wc *wc)
{
	uint8_t expected[MESSAGE_BYTES_MAX];

	CHECK_EQUAL(wc->wr_id, traffic->completed);
	CHECK_EQUAL(wc->byte_len, message_bytes(wc->wr_id));
	fill(expected, wc->byte_len, (unsigned)wc->wr_id);
	CHECK(memcmp(expected, traffic->endpoint.bytes + message_offset(wc->wr_id), wc->byte_len) ==
	      0);
}

static void complete(struct traffic *traffic, const struct ibv_wc *wc)
{
	if (wc->status != IBV_WC_SUCCESS) {
		if (traffic->status == IBV_WC_SUCCESS)
			traffic->status = wc->status;
		traffic->flushed++;
		return;
	}
	/* A success behind a failure would be a completion out of order. */
	CHECK_EQUAL(traffic->status, IBV_WC_SUCCESS);
	if (!traffic->is_sender)
		check_received(traffic, wc);
	traffic->completed++;
	if (traffic->completed % MESSAGES_PER_LINE == 0)
		printf("%llu messages\n", (unsigned long long)traffic->completed);
}

static bool wants_more(const struct traffic *traffic)
{
	return traffic->status == IBV_WC_SUCCESS && !should_end &&
	       traffic->posted - traffic->completed < MESSAGES_IN_FLIGHT &&
	       (!traffic->is_sender || !traffic->count || traffic->posted < traffic->count);
}

static bool is_finished(const struct traffic *traffic)
{
	if (traffic->status != IBV_WC_SUCCESS)
		return traffic->completed + traffic->flushed == traffic->posted;
	return should_end || (traffic->count && traffic->completed == traffic->count);
}

static void carry(struct traffic *traffic)
{
	while (!is_finished(traffic)) {
		struct ibv_wc wc[8];
		int count = ibv_poll_cq(traffic->endpoint.cq, 8, wc);

		CHECK(count >= 0);
		for (int i = 0; i < count; i++)
			complete(traffic, &wc[i]);
		while (wants_more(traffic))
			post_next(traffic);
	}
}

/* The last ACK may be lost: the receiver stays until the sender has it. A sender that may open no
 * files leaves it to the script to end the receiver. */
static void end_together(const struct traffic *traffic, const char *directory)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/finished", directory);
	if (traffic->is_sender) {
		FILE *file = fopen(path, "w");

		if (file)
			fclose(file);
		return;
	}
	while (!should_end && access(path, F_OK) != 0)
		poll(NULL, 0, 1);
}

/* Prints the device's events until there are no more. */
static void print_events(struct traffic *traffic)
{
	struct pollfd item = {.fd = traffic->device.context->async_fd, .events = POLLIN};
	/* A flush without an error before it comes from the device or not at all. */
	int wait_ms = traffic->status == IBV_WC_WR_FLUSH_ERR ? EVENT_WAIT_MS : 0;

	while (poll(&item, 1, wait_ms) == 1) {
		struct ibv_async_event event;

		CHECK_EQUAL(ibv_get_async_event(traffic->device.context, &event), 0);
		printf("event: %s\n", ibv_event_type_str(event.event_type));
		ibv_ack_async_event(&event);
		wait_ms = 0;
	}
}

int main(int argument_count, char **arguments)
{
	struct traffic traffic = {.timeout_code = 16};
	unsigned lid, qpn;

	CHECK(argument_count >= 3);
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGTERM, end);
	traffic.is_sender = strcmp(arguments[1], "send") == 0;
	if (argument_count > 3)
		traffic.count = strtoull(arguments[3], NULL, 0);
	if (argument_count > 4)
		traffic.timeout_code = (unsigned)strtoul(arguments[4], NULL, 0);
	traffic.device = device_open();
	traffic.endpoint = endpoint_open(&traffic.device, IBV_QPT_RC);
	write_address(&traffic, arguments[2]);
	read_address(&traffic, arguments[2], &lid, &qpn);
	connect_to(&traffic, lid, qpn);
	if (argument_count > 5)
		CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &(struct rlimit){1, 1}), 0);

	carry(&traffic);
	if (traffic.count && traffic.status == IBV_WC_SUCCESS)
		end_together(&traffic, arguments[2]);
	if (traffic.status != IBV_WC_SUCCESS)
		printf("status: %s, %llu of %llu not done\n", ibv_wc_status_str(traffic.status),
		       (unsigned long long)traffic.flushed, (unsigned long long)traffic.posted);
	print_events(&traffic);
	endpoint_close(&traffic.endpoint);
	device_close(&traffic.device);
	printf("closed after %llu messages\n", (unsigned long long)traffic.completed);
	return traffic.status == IBV_WC_SUCCESS ? 0 : EXIT_COMPLETION_ERROR;
}
