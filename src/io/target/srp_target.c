/* SPDX-License-Identifier: Apache-2.0 */
/* softib-srp-target: a storage controller. It runs on a host or target channel adapter of a fabric
 * and serves files as disks by SRP. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <infiniband/verbs.h>
#include "io/target/file_disk.h"
#include "io/target/target_loop.h"
#include "runtime/io_controller.h"

enum { EXIT_USAGE = 2 };

/* Of an I/O controller that speaks SRP (T10 SRP r16a, annex B). */
enum {
	SRP_IO_CLASS = 0x0100,
	SRP_IO_SUBCLASS = 0x609e,
	SRP_PROTOCOL = 0x0108,
	SRP_PROTOCOL_VERSION = 1,
};

struct options {
	uint32_t slot;
	uint64_t ioc_guid; /* 0: made of the node's GUID and the slot, as softibd would */
	bool is_plugged;
	uint32_t disk_count;
	const char *disks[SCSI_DISKS_MAX];
};

static void usage(FILE *file)
{
	fprintf(file, "usage: softib-srp-target --slot N --lun FILE[,ro] [--lun FILE[,ro] ...]\n"
		      "                         [--ioc-guid HEX] [--no-plug]\n"
		      "Serves files as disks by the SCSI RDMA protocol. Run it by\n"
		      "\"softib run -H HOST -- softib-srp-target ...\".\n");
}

static bool read_number(const char *text, int base, uint64_t most, uint64_t *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = strtoull(text, &end, base);
	return *text && *text != '-' && !*end && !errno && *ret_number <= most;
}

static bool take_option(int option, struct options *options)
{
	uint64_t number;

	switch (option) {
	case 's':
		if (!read_number(optarg, 10, IO_SLOTS_MAX, &number) || !number) {
			fprintf(stderr, "softib-srp-target: a slot is a number from 1 to %d\n",
				IO_SLOTS_MAX);
			return false;
		}
		options->slot = (uint32_t)number;
		return true;
	case 'g':
		if (!read_number(optarg, 16, UINT64_MAX, &options->ioc_guid) ||
		    !options->ioc_guid) {
			fprintf(stderr, "softib-srp-target: \"%s\" is not a GUID\n", optarg);
			return false;
		}
		return true;
	case 'l':
		if (options->disk_count == SCSI_DISKS_MAX) {
			fprintf(stderr, "softib-srp-target: at most %d disks\n", SCSI_DISKS_MAX);
			return false;
		}
		options->disks[options->disk_count++] = optarg;
		return true;
	case 'n':
		options->is_plugged = false;
		return true;
	default:
		usage(stderr);
		return false;
	}
}

static bool read_options(int argc, char **argv, struct options *ret_options)
{
	static const struct option names[] = {
		{"slot", required_argument, NULL, 's'},	    {"lun", required_argument, NULL, 'l'},
		{"ioc-guid", required_argument, NULL, 'g'}, {"no-plug", no_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},	    {0}};
	int option;

	*ret_options = (struct options){.is_plugged = true};
	while ((option = getopt_long(argc, argv, "h", names, NULL)) != -1) {
		if (option == 'h') {
			usage(stdout);
			exit(0);
		}
		if (!take_option(option, ret_options))
			return false;
	}
	if (optind != argc || !ret_options->slot || !ret_options->disk_count) {
		usage(stderr);
		return false;
	}
	return true;
}

/* The first adapter's node GUID. */
static bool find_node_guid(uint64_t *ret_guid)
{
	int count;
	struct ibv_device **devices = ibv_get_device_list(&count);

	if (!devices || !count) {
		fprintf(stderr, "softib-srp-target: there is no adapter; "
				"run it by \"softib run -H HOST -- ...\"\n");
		ibv_free_device_list(devices);
		return false;
	}
	*ret_guid = be64toh(ibv_get_device_guid(devices[0]));
	ibv_free_device_list(devices);
	return true;
}

/* A locally assigned NAA name (type 3): 52 bits of the controller's GUID, and the disk's number. */
static uint64_t disk_identifier(uint64_t ioc_guid, uint32_t index)
{
	return (uint64_t)3 << 60 | (ioc_guid << 8 & 0x0fffffffffffff00) | index;
}

static bool open_disks(const struct options *options, struct scsi_target *scsi)
{
	for (uint32_t index = 0; index < options->disk_count; index++) {
		int error = file_disk_open(options->disks[index],
					   disk_identifier(options->ioc_guid, index),
					   &scsi->disks[index]);

		if (error) {
			fprintf(stderr, "softib-srp-target: %s: %s\n", options->disks[index],
				error == -ENODATA ? "shorter than a block" : strerror(-error));
			return false;
		}
		scsi->disk_count++;
	}
	return true;
}

/* Shows the controller to device management (SRP annex B: the class, and the name of the service).
 */
static int plug(const struct options *options)
{
	struct io_service_entry service = {.id = options->ioc_guid};
	const struct io_controller_description description = {
		.slot = options->slot,
		.profile = {.guid = options->ioc_guid,
			    .device_version = 1,
			    .io_class = SRP_IO_CLASS,
			    .io_subclass = SRP_IO_SUBCLASS,
			    .protocol = SRP_PROTOCOL,
			    .protocol_version = SRP_PROTOCOL_VERSION,
			    .send_message_queue_depth = TARGET_REQUEST_LIMIT,
			    .rdma_read_queue_depth = 16,
			    .send_message_size = SRP_CMD_BYTES_MAX,
			    .rdma_transfer_size = SCSI_TRANSFER_BYTES_MAX,
			    .controller_op_capability_mask =
				    IO_CAPABILITY_SEND_TO | IO_CAPABILITY_SEND_FROM |
				    IO_CAPABILITY_READ_FROM | IO_CAPABILITY_WRITE_FROM},
		.id_string = "softib SRP target",
		.services = &service,
		.service_count = 1,
	};
	unsigned slot;
	uint64_t guid;

	snprintf(service.name, sizeof(service.name), "SRP.T10:%016" PRIx64, options->ioc_guid);
	return io_controller_plug(&description, &slot, &guid);
}

/* Readable when the program is to end. */
static int open_stop_file(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &signals, SFD_CLOEXEC);
}

static int serve(const struct options *options, struct srp_target *target)
{
	struct target_listener listener;
	/* As Linux's target has it: the GUID of the controller is also ID extension and service ID.
	 */
	uint64_t guid = options->ioc_guid;
	int stop_file = open_stop_file();
	int error = target_listener_open(&listener, target, guid, guid, guid);

	if (error || stop_file < 0) {
		fprintf(stderr, "softib-srp-target: service 0x%016" PRIx64 ": %s\n", guid,
			strerror(error ? -error : errno));
		return 1;
	}
	error = options->is_plugged ? plug(options) : 0;
	if (error) {
		fprintf(stderr, "softib-srp-target: slot %" PRIu32 ": %s\n", options->slot,
			strerror(-error));
		target_listener_close(&listener);
		return 1;
	}
	printf("ready slot %" PRIu32 " service 0x%016" PRIx64 "\n", options->slot, guid);
	fflush(stdout);
	error = target_loop_run(&listener, stop_file);
	target_listener_close(&listener);
	close(stop_file);
	if (error)
		fprintf(stderr, "softib-srp-target: %s\n", strerror(-error));
	return error != 0;
}

int main(int argc, char **argv)
{
	struct srp_target *target = calloc(1, sizeof(*target));
	struct options options;
	uint64_t node_guid;

	if (!read_options(argc, argv, &options))
		return EXIT_USAGE;
	if (!target || !find_node_guid(&node_guid))
		return 1;
	if (!options.ioc_guid)
		options.ioc_guid = node_guid ^ UINT64_C(0x10) << 32 ^ (uint64_t)options.slot << 8;
	list_init(&target->channels);
	target->ended_file = eventfd(0, EFD_CLOEXEC);
	if (target->ended_file < 0) {
		perror("softib-srp-target: eventfd");
		return 1;
	}

	int status = open_disks(&options, &target->scsi) ? serve(&options, target) : 1;

	for (uint32_t index = 0; index < target->scsi.disk_count; index++)
		file_disk_close(&target->scsi.disks[index]);
	free(target);
	return status;
}
