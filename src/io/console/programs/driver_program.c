/* SPDX-License-Identifier: Apache-2.0 */
/* softib-console: the driver of a console controller. It resolves the service ID at the
 * controller's port, and copies its input to the controller and the controller's output to its own.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <infiniband/ib.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "io/console/console_link.h"
#include "io/console/programs/console_port.h"

struct driver {
	struct console_port port;
	struct console_link link;
	struct ibv_ah *ah;
	uint32_t qpn, qkey;
	bool has_ended; /* our input */
};

static int fail(const char *what, int error)
{
	fprintf(stderr, "softib-console: %s: %s\n", what, strerror(error));
	return EXIT_FAILURE;
}

/* Why a SIDR_REP has no queue pair (management 7.2). */
static const char *status_text(int status)
{
	static const char *const texts[] = {
		[1] = "the port does not know the service ID", [2] = "the controller refuses",
		[3] = "the port has no queue pair left",       [4] = "the service is elsewhere",
		[5] = "the port speaks another version",
	};

	return status > 0 && status < (int)ARRAY_COUNT(texts) ? texts[status] : "no answer";
}

/* SIDR: the service's queue pair, its Q_Key and the number of our session. 0 or an errno value. */
static int resolve(struct driver *driver, const struct in6_addr *gid, uint64_t service_id)
{
	struct sockaddr_ib address = {.sib_family = AF_IB,
				      .sib_pkey = htobe16(0xffff),
				      .sib_sid = htobe64(service_id),
				      .sib_sid_mask = htobe64(UINT64_MAX)};
	struct rdma_addrinfo info = {.ai_family = AF_IB,
				     .ai_qp_type = IBV_QPT_UD,
				     .ai_port_space = RDMA_PS_IB,
				     .ai_dst_len = sizeof(address),
				     .ai_dst_addr = (struct sockaddr *)&address};
	struct rdma_conn_param parameters = {.qp_num = driver->port.qp->qp_num};
	struct console_frame greeting;
	struct rdma_cm_id *id;
	int error = EPROTO;

	memcpy(&address.sib_addr, gid, sizeof(address.sib_addr));
	if (rdma_create_ep(&id, &info, NULL, NULL) != 0)
		return errno;
	if (rdma_connect(id, &parameters) != 0) {
		error = ECONNREFUSED;
		fprintf(stderr, "softib-console: %s\n",
			status_text(id->event ? id->event->status : 0));
	} else {
		const struct rdma_ud_param *reply = &id->event->param.ud;
		struct ibv_ah_attr attributes = reply->ah_attr;

		/* The private data may be padded to the message's whole length. */
		if (reply->private_data_len >= CONSOLE_HEADER_BYTES &&
		    console_frame_read(reply->private_data, CONSOLE_HEADER_BYTES, &greeting)) {
			driver->qpn = reply->qp_num;
			driver->qkey = reply->qkey;
			driver->ah = ibv_create_ah(driver->port.pd, &attributes);
			error = driver->ah ? 0 : errno;
			console_link_init(&driver->link, console_clock(), greeting.session);
		}
	}
	rdma_destroy_ep(id);
	return error;
}

static void take_input(struct driver *driver)
{
	char text[CONSOLE_TEXT_BYTES_MAX];
	size_t room = CONSOLE_BUFFER_BYTES - driver->link.written.byte_count;
	ssize_t count = read(STDIN_FILENO, text, room < sizeof(text) ? room : sizeof(text));

	if (count > 0)
		console_link_write(&driver->link, text, (size_t)count);
	else if (count == 0 || (errno != EINTR && errno != EAGAIN))
		driver->has_ended = true;
	if (driver->has_ended)
		console_link_end(&driver->link);
}

/* false: nobody reads our output. */
static bool give_output(struct driver *driver)
{
	char text[CONSOLE_BUFFER_BYTES];
	size_t byte_count = console_link_read(&driver->link, sizeof(text), text);

	for (size_t done = 0; done < byte_count;) {
		ssize_t count = write(STDOUT_FILENO, text + done, byte_count - done);

		if (count < 0 && errno != EINTR)
			return false;
		done += count > 0 ? (size_t)count : 0;
	}
	return true;
}

static bool exchange_frames(struct driver *driver, time_ns now)
{
	struct console_arrival arrival;
	uint8_t bytes[CONSOLE_FRAME_BYTES_MAX];
	size_t byte_count;
	bool has_come = false;

	while (console_port_receive(&driver->port, &arrival)) {
		if (arrival.completion.src_qp == driver->qpn)
			console_link_receive(&driver->link, now, arrival.bytes, arrival.byte_count);
		console_port_give_back(&driver->port, &arrival);
		has_come = true;
	}
	while ((byte_count = console_link_transmit(&driver->link, now, bytes)))
		console_port_send(&driver->port, driver->ah, driver->qpn, driver->qkey, bytes,
				  byte_count);
	return has_come;
}

static void sleep_until(struct driver *driver, time_ns now, time_ns deadline)
{
	bool has_room = driver->link.written.byte_count < CONSOLE_BUFFER_BYTES;
	struct pollfd files[] = {
		{.fd = driver->port.channel->fd, .events = POLLIN},
		{.fd = driver->has_ended || !has_room ? -1 : STDIN_FILENO, .events = POLLIN},
	};
	time_ns wait = deadline > now ? deadline - now : 0;

	if (poll(files, 2, (int)(wait / MILLISECONDS(1)) + 1) > 0 && files[1].revents)
		take_input(driver);
}

static int talk(struct driver *driver)
{
	while (!console_link_is_done(&driver->link)) {
		time_ns now = console_clock();

		console_port_arm(&driver->port);

		bool has_come = exchange_frames(driver, now);

		if (!give_output(driver))
			return fail("standard output", errno);
		if (driver->link.is_dead)
			return fail("the controller", ETIMEDOUT);
		if (!has_come)
			sleep_until(driver, now, console_link_deadline(&driver->link));
	}
	return EXIT_SUCCESS;
}

static const char usage[] =
	"Usage: softib-console --dgid GID --service-id ID\n"
	"Connects standard input and output to the console controller with this service ID at the\n"
	"port with this GID (32 hexadecimal digits, or as an IPv6 address). softib io scan shows\n"
	"both, and softib io attach calls this program.\n";

/* Hexadecimal digits without colons, or an IPv6 address. */
static bool read_gid(const char *text, struct in6_addr *ret_gid)
{
	char groups[INET6_ADDRSTRLEN];
	size_t length = 0;

	if (strspn(text, "0123456789abcdefABCDEF") != 32 || text[32])
		return inet_pton(AF_INET6, text, ret_gid) == 1;
	for (unsigned i = 0; i < 32; i++) {
		if (i && i % 4 == 0)
			groups[length++] = ':';
		groups[length++] = text[i];
	}
	groups[length] = '\0';
	return inet_pton(AF_INET6, groups, ret_gid) == 1;
}

static bool read_id(const char *text, uint64_t *ret_id)
{
	char *end;

	errno = 0;
	*ret_id = strtoull(text, &end, 0);
	return *text && !*end && !errno && *ret_id;
}

int main(int argument_count, char **arguments)
{
	static const struct option options[] = {
		{"dgid", required_argument, NULL, 'g'},
		{"service-id", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	static struct driver driver;
	struct in6_addr gid;
	uint64_t service_id = 0;
	bool has_gid = false, is_right = true;
	int option, error;

	while ((option = getopt_long(argument_count, arguments, "h", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		}
		if (option == 'g')
			is_right &= has_gid = read_gid(optarg, &gid);
		else
			is_right &= option == 's' && read_id(optarg, &service_id);
	}
	if (!is_right || !has_gid || !service_id || optind < argument_count) {
		fputs(usage, stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	if (console_port_open(&driver.port) != 0)
		return EXIT_FAILURE;
	error = resolve(&driver, &gid, service_id);
	if (error)
		return fail("the service ID was not resolved", error);
	return talk(&driver);
}
