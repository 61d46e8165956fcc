/* SPDX-License-Identifier: Apache-2.0 */
/* An SRP initiator that breaks the rules, one at a time: srp_hostile TARGET CASE. Each case ends
 * with the answer that the target owes it. */
#include <endian.h>
#include <infiniband/ib.h>
#include <poll.h>
#include "base/bytes.h"
#include "rdmacm_client.h"
#include "io/nbdkit/srp_connection.h"
#include "io/scsi/cdb.h"
#include "io/scsi/sense.h"

enum { TIMEOUT_MS = 20000 };

static struct srp_target_text target;
static struct srp_connection connection;
static struct srp_initiator initiator;
static uint8_t memory[1 << 16];
static struct ibv_mr *region;
static const char *problem;

static int open_connection(const struct srp_target_text *text)
{
	return srp_connection_open(&connection, text, memory, sizeof(memory), TIMEOUT_MS,
				   &initiator, &problem);
}

static void log_in(void)
{
	CHECK(open_connection(&target) == 0);
	region = connection.data;
}

/* Sends the unit and waits for one. False: the target ended the connection. */
static bool exchange(const uint8_t *unit, size_t byte_count, struct srp_response *ret_response)
{
	struct srp_received received[CONNECTION_ARRIVALS];

	CHECK(srp_connection_send(&connection, unit, byte_count) == 0);

	int count;

	while ((count = srp_connection_poll(&connection, received)) == 0)
		continue;
	if (count < 0)
		return false;
	CHECK(srp_response_decode(connection.received[received[0].index], received[0].byte_count,
				  ret_response));
	CHECK(srp_connection_repost(&connection, received[0].index) == 0);
	return true;
}

static void expect_sense(const uint8_t *unit, size_t byte_count, enum scsi_sense_code code)
{
	struct srp_response response;
	struct scsi_sense sense;

	CHECK(exchange(unit, byte_count, &response));
	CHECK(response.rsp.status == SCSI_CHECK_CONDITION);
	CHECK(scsi_sense_decode(response.sense, response.sense_byte_count, &sense));
	CHECK(sense.key == SCSI_ILLEGAL_REQUEST && sense.code == code);
}

/* A command whose extent and buffer the caller chooses. */
static size_t command(enum scsi_operation_code operation, struct scsi_extent extent,
		      struct srp_segment data, uint8_t *ret_unit)
{
	struct srp_request request = {
		.direction = operation == SCSI_READ_16 ? SRP_DATA_IN : SRP_DATA_OUT, .data = data};
	uint32_t slot;

	scsi_extent_encode(operation, &extent, request.cdb);
	return srp_initiator_command(&initiator, &request, TIME_NEVER, ret_unit, &slot);
}

static struct srp_segment own(uint32_t byte_count)
{
	return (struct srp_segment){(uintptr_t)memory, region->rkey, byte_count};
}

static void try_lengths(void)
{
	uint8_t unit[SRP_CMD_BYTES_MAX];
	size_t byte_count;

	log_in();
	byte_count = command(SCSI_READ_16, (struct scsi_extent){0, 2, 0}, own(1023), unit);
	expect_sense(unit, byte_count, SCSI_INVALID_FIELD_IN_CDB);
	byte_count = command(SCSI_WRITE_16, (struct scsi_extent){0, 2, 0}, own(1023), unit);
	expect_sense(unit, byte_count, SCSI_INVALID_FIELD_IN_CDB);
	byte_count =
		command(SCSI_READ_16, (struct scsi_extent){0, 1u << 24, 0}, own(1u << 31), unit);
	expect_sense(unit, byte_count, SCSI_LBA_OUT_OF_RANGE);
	byte_count = command(SCSI_READ_16, (struct scsi_extent){UINT64_MAX, 1, 0}, own(512), unit);
	expect_sense(unit, byte_count, SCSI_LBA_OUT_OF_RANGE);
}

static void try_tables(void)
{
	uint8_t unit[SRP_CMD_BYTES_MAX];

	log_in();
	command(SCSI_READ_16, (struct scsi_extent){0, 1, 0}, own(512), unit);
	unit[5] = SRP_BUFFER_INDIRECT;
	unit[7] = 1;
	/* 255 descriptors; one that is not in the unit; a format that does not exist. */
	srp_segment_encode(&(struct srp_segment){0, 0, 255 * 16}, unit + SRP_CMD_BYTES);
	put_be32(unit + SRP_CMD_BYTES + 16, 512);
	expect_sense(unit, SRP_CMD_BYTES + 20, SCSI_INVALID_FIELD_IN_CDB);
	srp_segment_encode(&(struct srp_segment){(uintptr_t)memory, region->rkey, 32},
			   unit + SRP_CMD_BYTES);
	expect_sense(unit, SRP_CMD_BYTES + 36, SCSI_INVALID_FIELD_IN_CDB);
	unit[5] = 7;
	expect_sense(unit, SRP_CMD_BYTES + 36, SCSI_INVALID_FIELD_IN_CDB);
}

/* An indirect table as it should be: a read in two parts. */
static void try_indirect(void)
{
	struct srp_response response;
	uint8_t unit[SRP_CMD_BYTES_MAX];

	log_in();
	memset(memory, 0xee, sizeof(memory));
	command(SCSI_READ_16, (struct scsi_extent){0, 2, 0}, own(1024), unit);
	unit[5] = SRP_BUFFER_INDIRECT;
	unit[7] = 2;
	srp_segment_encode(&(struct srp_segment){0, 0, 32}, unit + SRP_CMD_BYTES);
	put_be32(unit + SRP_CMD_BYTES + 16, 1024);
	srp_segment_encode(&(struct srp_segment){(uintptr_t)memory + 4096, region->rkey, 1000},
			   unit + SRP_CMD_BYTES + 20);
	srp_segment_encode(&(struct srp_segment){(uintptr_t)memory, region->rkey, 24},
			   unit + SRP_CMD_BYTES + 36);
	CHECK(exchange(unit, SRP_CMD_BYTES + 52, &response));
	CHECK(response.rsp.status == SCSI_GOOD);
	CHECK(memory[24] == 0xee && memory[4096 + 1000] == 0xee);
	fwrite(memory + 4096, 1, 1000, stdout);
	fwrite(memory, 1, 24, stdout);
}

/* The target meets a buffer with RDMA READs (a WRITE) or RDMA WRITEs (a READ) that this side's
 * adapter refuses: the connection ends without an answer, and none of our memory has changed. */
static void expect_end(enum scsi_operation_code operation, struct srp_segment buffer)
{
	struct srp_response response;
	uint8_t unit[SRP_CMD_BYTES_MAX];
	size_t byte_count = command(operation, (struct scsi_extent){0, 1, 0}, buffer, unit);

	memset(memory, 0xee, sizeof(memory));
	CHECK(!exchange(unit, byte_count, &response));
	for (size_t i = 0; i < sizeof(memory); i++)
		CHECK(memory[i] == 0xee);
}

/* Buffers beyond the region, a key that was never granted, and that of memory for local use only.
 */
static void try_keys(void)
{
	static const enum scsi_operation_code operations[] = {SCSI_WRITE_16, SCSI_READ_16};

	for (unsigned i = 0; i < ARRAY_COUNT(operations); i++) {
		struct srp_segment outside;

		log_in();
		outside = own(512);
		outside.address += sizeof(memory);
		expect_end(operations[i], outside);
		srp_connection_close(&connection);
		log_in();
		/* Its last byte is outside. */
		outside = own(512);
		outside.address += sizeof(memory) - 511;
		expect_end(operations[i], outside);
		srp_connection_close(&connection);
		log_in();
		outside = own(512);
		outside.rkey ^= 0xff;
		expect_end(operations[i], outside);
		srp_connection_close(&connection);
		log_in();
		outside = (struct srp_segment){(uintptr_t)connection.received,
					       connection.region->rkey, 512};
		expect_end(operations[i], outside);
		srp_connection_close(&connection);
	}
}

/* Not SRP at all: the target disconnects. */
static void try_unit(void)
{
	static const uint8_t garbage[40] = {0x55, 0xaa};
	struct pollfd file;
	struct rdma_cm_event *event;

	log_in();
	file = (struct pollfd){.fd = connection.events->fd, .events = POLLIN};
	CHECK(srp_connection_send(&connection, garbage, sizeof(garbage)) == 0);
	CHECK(poll(&file, 1, TIMEOUT_MS) == 1);
	CHECK(rdma_get_cm_event(connection.events, &event) == 0);
	CHECK(event->event == RDMA_CM_EVENT_DISCONNECTED);
}

static uint8_t manage(uint8_t function, uint64_t lun)
{
	const struct srp_tsk_mgmt request = {
		.opcode = SRP_TSK_MGMT, .tag = 7, .lun = lun, .function = function, .task_tag = 99};
	struct srp_response response;
	uint8_t unit[SRP_TSK_MGMT_BYTES];

	srp_tsk_mgmt_encode(&request, unit);
	CHECK(exchange(unit, sizeof(unit), &response));
	CHECK(response.has_response_code && response.rsp.tag == 7);
	return response.response_code;
}

static void try_tasks(void)
{
	log_in();
	CHECK(manage(SRP_ABORT_TASK, 0) == SRP_RESPONSE_DONE);
	CHECK(manage(SRP_ABORT_TASK_SET, 0) == SRP_RESPONSE_DONE);
	CHECK(manage(SRP_CLEAR_TASK_SET, 0) == SRP_RESPONSE_DONE);
	CHECK(manage(SRP_LOGICAL_UNIT_RESET, 0) == SRP_RESPONSE_DONE);
	CHECK(manage(SRP_LOGICAL_UNIT_RESET, scsi_lun_encode(60)) == SRP_RESPONSE_INVALID_FIELDS);
	CHECK(manage(SRP_CLEAR_ACA, 0) == SRP_RESPONSE_NOT_SUPPORTED);
	CHECK(manage(0x33, 0) == SRP_RESPONSE_NOT_SUPPORTED);
}

/* Logins that are refused, each with SRP's reason. */
static void try_logins(void)
{
	struct srp_target_text wrong = target;

	wrong.ioc_guid ^= 1;
	CHECK(open_connection(&wrong) == -ECONNREFUSED);
	CHECK(strcmp(problem, "no such target port") == 0);
	wrong = target;
	wrong.service_id ^= 1;
	CHECK(open_connection(&wrong) != 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"lengths", try_lengths}, {"tables", try_tables}, {"indirect", try_indirect},
		     {"keys", try_keys},       {"unit", try_unit},     {"tasks", try_tasks},
		     {"logins", try_logins}};

	CHECK(argc == 3 && srp_target_text_read(argv[1], &target, &problem));
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		if (strcmp(cases[i].name, argv[2]) != 0)
			continue;
		cases[i].run();
		return 0;
	}
	return 2;
}
