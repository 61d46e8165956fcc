/* SPDX-License-Identifier: Apache-2.0 */
/* softib baseboard manage: runs a baseboard manager on a port of a host. softib baseboard watch:
 * subscribes at such a manager and prints its reports. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cli/baseboard_node.h"
#include "cli/fabric_client.h"
#include "cli/subcommand.h"
#include "mgmt/baseboard/baseboard_manager.h"
#include "wire/pkey.h"
#include "wire/sa_mad.h"
#include "wire/smp.h"

enum { SUBSCRIBE_MS = 500, REPORTS_REMEMBERED = 16 };

/* The port's LID and SM are looked up this often: they change when the subnet does. */
#define LOOK_INTERVAL MILLISECONDS(500)

struct manager_run {
	struct baseboard_manager manager;
	struct mad_engine_port port;
	struct baseboard_manager_port place;
	time_ns look_at;
};

static void look(struct manager_run *run, time_ns now)
{
	if (run->look_at > now)
		return;
	run->look_at = now + LOOK_INTERVAL;
	run->place.lid = host_port_lid(&run->port.host);
	host_port_find_sa(&run->port.host, &run->place.sm_lid, &run->place.sm_sl);
	run->place.gid = host_port_gid(&run->port.host);
	baseboard_manager_set_port(&run->manager, &run->place);
}

static void print_sensor_trap(const struct baseboard_trap_details *details, const uint8_t *data)
{
	struct sensor_report report;
	char name[SENSOR_NAME_BYTES];

	if (details->modifier != SOFTIB_VENDOR_ID || details->data_length != SENSOR_REPORT_BYTES) {
		printf(" type %u modifier 0x%06x, %u bytes", details->type, details->modifier,
		       details->data_length);
		return;
	}
	sensor_report_decode(data, &report);
	sensor_name(report.kind, report.number, name);
	printf(" %s %.3f: %s", name, (int32_t)report.value / 1000.0,
	       sensor_level_name(report.level));
}

static void print_notice(const struct notice *notice)
{
	struct baseboard_trap_details board;
	struct bad_bkey_details bad;

	printf("trap %u", notice->header.trap_number);
	if (notice->header.trap_number == TRAP_BAD_BKEY) {
		bad_bkey_details_decode(notice->details, &bad);
		printf(" bad B_Key 0x%016" PRIx64 " from LID %u, method 0x%02x, attribute 0x%04x",
		       bad.bkey, bad.lid, bad.method, bad.attribute_id);
	} else if (notice->header.trap_number == TRAP_BASEBOARD) {
		baseboard_trap_details_decode(notice->details, &board);
		print_sensor_trap(&board, notice->details + BASEBOARD_TRAP_DATA_OFFSET);
	}
	printf(", issuer LID %u\n", notice->header.issuer_lid);
}

static void tell(void *context, const struct baseboard_event *event)
{
	struct manager_run *run = context;

	if (event->port)
		printf("%s LID %u: ", event->port->description, event->port->lid);
	switch (event->kind) {
	case BASEBOARD_PORT_OURS:
		printf("managed\n");
		break;
	case BASEBOARD_PORT_FOREIGN:
		printf("has another manager's key\n");
		break;
	case BASEBOARD_PORT_SILENT:
		printf("does not answer\n");
		break;
	case BASEBOARD_PORT_GONE:
		printf("is gone\n");
		break;
	case BASEBOARD_TRAP:
		print_notice(event->notice);
		break;
	case BASEBOARD_SWEPT:
		if (run->manager.ports.sweep == 1)
			printf("found %u ports\n", run->manager.ports.count);
		break;
	}
	fflush(stdout);
}

static void receive(void *context, time_ns now, const struct mad_message *message)
{
	struct manager_run *run = context;

	baseboard_manager_receive(&run->manager, now, message);
}

static unsigned transmit(void *context, time_ns now, unsigned messages_max,
			 struct mad_message ret_messages[])
{
	struct manager_run *run = context;

	look(run, now);
	return baseboard_manager_transmit(&run->manager, now, messages_max, ret_messages);
}

static time_ns deadline(const void *context)
{
	const struct manager_run *run = context;

	return time_earlier(run->look_at, baseboard_manager_deadline(&run->manager));
}

int baseboard_manage(const struct subcommand *self, const struct baseboard_options *options,
		     int argument_count, char **arguments)
{
	static struct manager_run run;
	const struct mad_agent_options board = {.management_class = MAD_CLASS_BASEBOARD,
						.class_version = BASEBOARD_CLASS_VERSION,
						.methods = {1ull << MAD_TRAP | 1ull << MAD_SET}};
	const struct mad_agent_options administration = {.management_class =
								 MAD_CLASS_SUBNET_ADMINISTRATION,
							 .class_version = SA_CLASS_VERSION};
	const struct mad_engine engine = {
		.context = &run, .receive = receive, .transmit = transmit, .deadline = deadline};
	struct mad_agent_identity identity, sa_identity;
	int error;

	(void)arguments;
	if (argument_count)
		return subcommand_misuse(self, "manage takes options only");
	if (host_port_open("baseboard", options->fabric, options->host, 0, &run.port.host))
		return EXIT_FAILURE;
	error = mad_engine_register(&run.port, &board, &identity);
	if (!error)
		error = mad_engine_register(&run.port, &administration, &sa_identity);
	if (!error) {
		const struct baseboard_manager_options settings = {
			.agent_number = identity.number,
			.sa_agent_number = sa_identity.number,
			.keys = options->keys,
			.lease_period = options->lease_period,
			.protects = options->protects,
			.takes_over = options->takes_over,
			.tell = tell,
			.context = &run,
		};

		error = baseboard_manager_init(&run.manager, &settings);
	}
	if (!error) {
		printf("baseboard manager on %s\n", run.port.host.name);
		fflush(stdout);
		error = mad_engine_run(&run.port, &engine);
		baseboard_manager_release(&run.manager);
	}
	mad_engine_close(&run.port);
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* A subscriber: asks until the manager has its subscription, then acknowledges and prints. */
struct watch_run {
	struct mad_engine_port port;
	struct mad_address manager;
	uint64_t key;
	uint64_t transaction_id;
	bool is_subscribed, is_refused;
	time_ns ask_at;
	unsigned wanted, report_count;
	uint64_t reports[REPORTS_REMEMBERED]; /* transaction ids, to know repeats */
	bool has_answer;
	struct mad_message answer;
};

static void take_report(struct watch_run *run, const struct mad_message *message)
{
	uint64_t transaction_id = get_be64(message->bytes + MAD_TRANSACTION_ID_OFFSET);
	struct notice notice;

	run->answer = *message;
	run->answer.bytes[MAD_METHOD_OFFSET] = MAD_REPORT_RESPONSE;
	run->has_answer = true;
	for (unsigned i = 0; i < REPORTS_REMEMBERED; i++)
		if (run->reports[i] == transaction_id)
			return;
	run->reports[run->report_count % REPORTS_REMEMBERED] = transaction_id;
	notice_decode(message->bytes + BASEBOARD_DATA_OFFSET, &notice);
	print_notice(&notice);
	fflush(stdout);
	run->report_count++;
}

static void watch_receive(void *context, time_ns now, const struct mad_message *message)
{
	struct watch_run *run = context;

	(void)now;
	if (message->bytes[MAD_METHOD_OFFSET] == MAD_REPORT &&
	    message->address.lid == run->manager.lid)
		take_report(run, message);
	else if (message->bytes[MAD_METHOD_OFFSET] == MAD_GET_RESPONSE && !run->is_subscribed &&
		 get_be64(message->bytes + MAD_TRANSACTION_ID_OFFSET) == run->transaction_id) {
		uint16_t status = get_be16(message->bytes + MAD_STATUS_OFFSET);

		run->is_subscribed = status == MAD_STATUS_OK;
		run->is_refused = status != MAD_STATUS_OK && status != MAD_STATUS_BUSY;
		if (run->is_subscribed)
			printf("subscribed at LID %u\n", run->manager.lid);
		fflush(stdout);
	}
}

static unsigned watch_transmit(void *context, time_ns now, unsigned messages_max,
			       struct mad_message ret_messages[])
{
	const struct inform_info info = {.lid_range_begin = INFORM_ANY_LID,
					 .is_generic = INFORM_GENERIC,
					 .subscribe = 1,
					 .type = INFORM_ANY_TYPE,
					 .trap_number = INFORM_ANY_TRAP,
					 .producer_type = INFORM_ANY_PRODUCER};
	struct watch_run *run = context;

	if (!messages_max)
		return 0;
	if (run->has_answer) {
		run->has_answer = false;
		ret_messages[0] = run->answer;
		return 1;
	}
	if (run->is_subscribed || run->ask_at > now)
		return 0;
	run->ask_at = now + MILLISECONDS(SUBSCRIBE_MS);
	baseboard_mad_make(&run->manager, run->key, MAD_SET, ATTRIBUTE_INFORM_INFO, ret_messages);
	put_be64(ret_messages->bytes + MAD_TRANSACTION_ID_OFFSET, run->transaction_id);
	inform_info_encode(&info, ret_messages->bytes + BASEBOARD_DATA_OFFSET);
	return 1;
}

static time_ns watch_deadline(const void *context)
{
	const struct watch_run *run = context;

	if (run->has_answer)
		return 0;
	return run->is_subscribed ? TIME_NEVER : run->ask_at;
}

static bool watch_is_done(void *context, time_ns now)
{
	struct watch_run *run = context;

	(void)now;
	return run->is_refused ||
	       (run->wanted && run->report_count >= run->wanted && !run->has_answer);
}

int baseboard_watch(const struct subcommand *self, const struct baseboard_options *options,
		    int argument_count, char **arguments)
{
	static struct watch_run run;
	const struct mad_agent_options board = {.management_class = MAD_CLASS_BASEBOARD,
						.class_version = BASEBOARD_CLASS_VERSION,
						.methods = {1ull << MAD_REPORT}};
	const struct mad_engine engine = {.context = &run,
					  .receive = watch_receive,
					  .transmit = watch_transmit,
					  .deadline = watch_deadline,
					  .is_done = watch_is_done};
	struct mad_agent_identity identity;
	struct baseboard_node manager;
	int code, error;

	(void)arguments;
	if (argument_count || !options->manager)
		return subcommand_misuse(self, "watch takes --manager NODE");
	code = baseboard_node_find(self, options, options->manager, &manager);
	if (code != EXIT_SUCCESS)
		return code;
	if (host_port_open("baseboard", options->fabric, options->host, 0, &run.port.host))
		return EXIT_FAILURE;
	error = mad_engine_register(&run.port, &board, &identity);
	if (!error) {
		run.manager = (struct mad_address){.lid = manager.lid,
						   .qpn = QPN_GSI,
						   .qkey = QKEY_GSI,
						   .pkey = PKEY_DEFAULT_FULL};
		run.key = bkey_of(&options->keys, manager.port_guid);
		run.transaction_id = (uint64_t)identity.number << 32 | 1;
		run.wanted = options->count;
		error = mad_engine_run(&run.port, &engine);
	}
	if (run.is_refused)
		fprintf(stderr, "softib baseboard: the manager on %s refuses the subscription\n",
			manager.name);
	mad_engine_close(&run.port);
	return error || run.is_refused ? EXIT_FAILURE : EXIT_SUCCESS;
}
