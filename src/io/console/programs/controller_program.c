/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softib-console-controller: I/O controllers with a console each, in slots of this host's adapter
 * (management 6.3). A driver finds the queue pair by service ID resolution (SIDR), and exchanges
 * datagrams with it.
 */
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
#include "io/console/programs/console_sessions.h"
#include "runtime/io_controller.h"

enum { BACKLOG = 64, EVENTS_PER_TURN = 64 };

struct program {
	struct console_port port;
	struct console_sessions sessions;
	struct rdma_event_channel *channel;
	struct console_controller controllers[IO_SLOTS_MAX];
	struct rdma_cm_id *listeners[IO_SLOTS_MAX];
	unsigned slots[IO_SLOTS_MAX];
	unsigned slot_first; /* 0: any that is free */
	unsigned slot_count;
};

static volatile sig_atomic_t is_asked_to_end;

static void ask_to_end(int signal_number)
{
	(void)signal_number;
	is_asked_to_end = 1;
}

/* Resolves the service ID at this port to our queue pair. 0 or -errno. */
static int listen_to(struct program *program, const struct console_controller *controller,
		     struct rdma_cm_id **ret_listener)
{
	struct sockaddr_ib address = {.sib_family = AF_IB,
				      .sib_pkey = htobe16(0xffff),
				      .sib_sid = htobe64(controller->service_id),
				      .sib_sid_mask = htobe64(UINT64_MAX)};
	struct rdma_addrinfo info = {.ai_flags = RAI_PASSIVE,
				     .ai_family = AF_IB,
				     .ai_qp_type = IBV_QPT_UD,
				     .ai_port_space = RDMA_PS_IB,
				     .ai_src_len = sizeof(address),
				     .ai_src_addr = (struct sockaddr *)&address};
	struct rdma_cm_id *id;

	memcpy(&address.sib_addr, &program->port.gid, sizeof(address.sib_addr));
	if (rdma_create_ep(&id, &info, NULL, NULL) != 0)
		return -errno;
	id->context = (void *)controller;
	if (rdma_migrate_id(id, program->channel) != 0 || rdma_listen(id, BACKLOG) != 0) {
		int error = errno;

		rdma_destroy_id(id);
		return -error;
	}
	*ret_listener = id;
	return 0;
}

static int plug(struct console_controller *controller)
{
	struct io_service_entry service = {.id = controller->service_id};
	const struct io_controller_description description = {
		.slot = controller->slot,
		.profile = {.vendor_id = CONSOLE_VENDOR_ID,
			    .device_id = CONSOLE_DEVICE_ID,
			    .subsystem_vendor_id = CONSOLE_VENDOR_ID,
			    .subsystem_id = CONSOLE_DEVICE_ID,
			    .io_class = CONSOLE_IO_CLASS,
			    .io_subclass = CONSOLE_IO_SUBCLASS,
			    .protocol = CONSOLE_PROTOCOL,
			    .protocol_version = CONSOLE_PROTOCOL_VERSION,
			    .send_message_queue_depth = CONSOLE_RECEIVES,
			    .send_message_size = CONSOLE_FRAME_BYTES_MAX,
			    .controller_op_capability_mask =
				    IO_CAPABILITY_SEND_TO | IO_CAPABILITY_SEND_FROM},
		.id_string = CONSOLE_ID_STRING,
		.services = &service,
		.service_count = 1,
	};

	memcpy(service.name, controller->service_name, sizeof(controller->service_name));
	return io_controller_plug(&description, &controller->slot, &controller->guid);
}

/* Listens first, so that a controller that is seen can be reached. */
static int start_controller(struct program *program, unsigned index, unsigned slot)
{
	struct console_controller *controller = &program->controllers[index];
	int error;

	*controller = (struct console_controller){
		.slot = slot,
		.service_id = CONSOLE_SERVICE_ID_FIRST + slot,
		.plugged_at = console_clock(),
	};
	snprintf(controller->service_name, sizeof(controller->service_name), "%s%u",
		 CONSOLE_SERVICE_PREFIX, slot);
	error = listen_to(program, controller, &program->listeners[index]);
	if (error)
		return error;
	error = plug(controller);
	if (error) {
		rdma_destroy_id(program->listeners[index]);
		return error;
	}
	program->slots[index] = slot;
	return 0;
}

/* Fills slot_count slots from slot_first on, or any that are free. */
static int start_controllers(struct program *program)
{
	unsigned slot = program->slot_first ? program->slot_first : 1;

	for (unsigned index = 0; index < program->slot_count; slot++) {
		int error = slot <= IO_SLOTS_MAX ? start_controller(program, index, slot) : -EINVAL;

		if (!error)
			index++;
		/* Somebody else's slot: of its controller, or of one that is about to be plugged.
		 */
		else if (program->slot_first || (error != -EBUSY && error != -EADDRINUSE)) {
			fprintf(stderr, "softib-console-controller: slot %u: %s\n", slot,
				strerror(-error));
			return error;
		}
	}
	return 0;
}

static void answer_request(struct program *program, time_ns now, struct rdma_cm_event *event)
{
	struct console_frame greeting = {.version = CONSOLE_PROTOCOL_VERSION};
	uint8_t bytes[CONSOLE_HEADER_BYTES];
	struct rdma_conn_param parameters = {.qp_num = program->port.qp->qp_num,
					     .private_data = bytes,
					     .private_data_len = sizeof(bytes)};
	int error = console_sessions_open(&program->sessions, now, event->listen_id->context,
					  &greeting.session);

	console_frame_encode(&greeting, bytes);
	/* A peer that is gone, and a session that it never uses, ends by itself. */
	if (error ? rdma_reject(event->id, NULL, 0) : rdma_accept(event->id, &parameters))
		fprintf(stderr, "softib-console-controller: no answer to a driver: %s\n",
			strerror(errno));
}

/* false: the connection manager is gone. */
static bool take_events(struct program *program, time_ns now)
{
	struct rdma_cm_event *event;

	for (unsigned count = 0; count < EVENTS_PER_TURN; count++) {
		if (rdma_get_cm_event(program->channel, &event) != 0)
			return errno == EAGAIN || errno == EINTR;

		struct rdma_cm_id *id = event->id;
		bool is_request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;

		if (is_request)
			answer_request(program, now, event);
		rdma_ack_cm_event(event);
		/* The answer is all there is to a service that is resolved. */
		if (is_request)
			rdma_destroy_id(id);
	}
	return true;
}

static void sleep_until(const struct program *program, time_ns now, time_ns deadline,
			const sigset_t *signals)
{
	struct pollfd files[2 + 2 * CONSOLE_SESSIONS_MAX] = {
		{.fd = program->channel->fd, .events = POLLIN},
		{.fd = program->port.channel->fd, .events = POLLIN},
	};
	struct timespec wait = {0};
	unsigned count = 2;

	for (unsigned i = 0; i < program->sessions.count; i++) {
		const struct console_session *session = program->sessions.sessions[i];

		if (!session->command.pid)
			continue;
		if (session->link.written.byte_count < CONSOLE_BUFFER_BYTES)
			files[count++] =
				(struct pollfd){.fd = session->command.output, .events = POLLIN};
		if (session->command.unwritten_bytes)
			files[count++] =
				(struct pollfd){.fd = session->command.input, .events = POLLOUT};
	}
	if (deadline > now && deadline != TIME_NEVER) {
		wait.tv_sec = (time_t)((deadline - now) / SECONDS(1));
		wait.tv_nsec = (long)((deadline - now) % SECONDS(1));
	}
	ppoll(files, count, deadline == TIME_NEVER ? NULL : &wait, signals);
}

static int serve(struct program *program, const sigset_t *signals)
{
	while (!is_asked_to_end) {
		time_ns now = console_clock();

		console_port_arm(&program->port);
		if (!take_events(program, now)) {
			fprintf(stderr, "softib-console-controller: the fabric is gone\n");
			return EXIT_FAILURE;
		}
		/* A frame may have made more to do, so sleep only after a turn without one. */
		if (!console_sessions_run(&program->sessions, now))
			sleep_until(program, now, console_sessions_deadline(&program->sessions),
				    signals);
	}
	return EXIT_SUCCESS;
}

static int run(struct program *program)
{
	const struct sigaction action = {.sa_handler = ask_to_end};
	sigset_t signals, waiting;
	int error = console_port_open(&program->port);

	if (error)
		return EXIT_FAILURE;
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, &waiting);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	program->channel = rdma_create_event_channel();
	if (!program->channel || fcntl(program->channel->fd, F_SETFL, O_NONBLOCK) != 0) {
		perror("softib-console-controller");
		return EXIT_FAILURE;
	}
	program->sessions.port = &program->port;
	program->sessions.slots = program->slots;
	program->sessions.slot_count = program->slot_count;
	if (start_controllers(program) != 0)
		return EXIT_FAILURE;
	for (unsigned i = 0; i < program->slot_count; i++)
		printf("slot %u: %s, service ID 0x%016llx\n", program->controllers[i].slot,
		       program->controllers[i].service_name,
		       (unsigned long long)program->controllers[i].service_id);
	/* softib io add waits for this line. */
	printf("ready: %u console controllers from slot %u\n", program->slot_count,
	       program->controllers[0].slot);
	fflush(stdout);

	int code = serve(program, &waiting);

	console_sessions_close(&program->sessions);
	return code;
}

static const char usage[] =
	"Usage: softib-console-controller [OPTION]... [-- COMMAND [ARGUMENT]...]\n"
	"Plugs console controllers into slots of this host's adapter, and runs COMMAND (default:\n"
	"a small console of its own) for each driver that connects to one.\n"
	"\n"
	"  --slot N      the first slot (default: the first free one)\n"
	"  --count N     how many controllers (default: 1)\n"
	"  -h, --help    this text\n";

static bool read_number(const char *text, unsigned *ret_number)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	*ret_number = (unsigned)number;
	return *text && !*end && number >= 1 && number <= IO_SLOTS_MAX;
}

int main(int argument_count, char **arguments)
{
	static const struct option options[] = {
		{"slot", required_argument, NULL, 's'},
		{"count", required_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	static struct program program = {.slot_count = 1};
	int option;

	while ((option = getopt_long(argument_count, arguments, "+h", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		}
		if (option == '?' || !read_number(optarg, option == 's' ? &program.slot_first
									: &program.slot_count)) {
			fprintf(stderr, "softib-console-controller: a slot and a count are numbers "
					"from 1 to 255; see --help\n");
			return 2;
		}
	}
	if (optind < argument_count)
		program.sessions.command = arguments + optind;
	return run(&program);
}
