/* SPDX-License-Identifier: Apache-2.0 */
/* Responses to requests: methods, status, tables by RMPP (management 4.1, 4.2, 1.8). */
#include "mgmt/sa/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/sa/remote_tables.h"
#include "mgmt/sa/request.h"
#include "wire/smp.h"

/* NULL: too many responses wait, in total or for this requester. */
static struct mad_message *outbox_place(struct sa *sa, const struct mad_address *address)
{
	if (sa->outbox_count == SA_OUTBOX_MESSAGES ||
	    sa->outbox_by_lid[address->lid] >= SA_OUTBOX_PER_LID) {
		sa->dropped_count++;
		return NULL;
	}

	unsigned index = (sa->outbox_first + sa->outbox_count) % SA_OUTBOX_MESSAGES;

	sa->outbox_count++;
	sa->outbox_by_lid[address->lid]++;
	sa->outbox[index].address = *address;
	return &sa->outbox[index];
}

unsigned answers_transmit(struct sa *sa, unsigned messages_max, struct mad_message ret_messages[])
{
	unsigned count = 0;

	while (count < messages_max && sa->outbox_count) {
		const struct mad_message *message = &sa->outbox[sa->outbox_first];

		ret_messages[count++] = *message;
		sa->outbox_by_lid[message->address.lid]--;
		sa->outbox_first = (sa->outbox_first + 1) % SA_OUTBOX_MESSAGES;
		sa->outbox_count--;
	}
	return count;
}

/* Set is answered by GetResp, GetTraceTable by GetTableResp (management 1.3). */
static uint8_t answer_method(uint8_t method)
{
	switch (method) {
	case MAD_SET:
		return MAD_GET_RESPONSE;
	case MAD_GET_TRACE_TABLE:
		return MAD_GET_TABLE_RESPONSE;
	default:
		return method | MAD_RESPONSE;
	}
}

void answers_refuse(struct sa *sa, const struct mad_message *request, uint16_t status)
{
	struct mad_message *answer = outbox_place(sa, &request->address);
	struct mad_header header;

	if (!answer || !mad_header_decode(request->bytes, sizeof(request->bytes), &header))
		return;
	memcpy(answer->bytes, request->bytes, sizeof(answer->bytes));
	header.method = answer_method(header.method);
	header.status = status;
	mad_header_encode(&header, answer->bytes);
}

/* The MAD up to its data. The SM_Key is never sent back (management 4.1). */
static void encode_head(const struct sa_request *request, uint16_t status, size_t stride,
			uint8_t *ret_bytes)
{
	struct mad_header header = request->header;
	const struct sa_header sa_header = {
		.attribute_offset = (uint16_t)(stride / SA_RECORD_UNIT),
		.component_mask = request->sa_header.component_mask,
	};

	/* Responses to GetMulti carry the attribute PathRecord (management 4.6). */
	if (header.attribute_id == SA_MULTI_PATH_RECORD)
		header.attribute_id = SA_PATH_RECORD;
	header.method = answer_method(header.method);
	header.status = status;
	memset(ret_bytes, 0, SA_DATA_OFFSET);
	mad_header_encode(&header, ret_bytes);
	sa_header_encode(&sa_header, ret_bytes + SA_HEADER_OFFSET);
}

/* A single MAD: an error, or the requested record. */
static void send_plain(struct sa *sa, const struct sa_request *request, uint16_t status)
{
	struct mad_message *answer = outbox_place(sa, &request->address);

	if (!answer)
		return;
	encode_head(request, status, 0, answer->bytes);
	memset(answer->bytes + SA_DATA_OFFSET, 0, SA_DATA_BYTES);
	if (sa->records.count)
		memcpy(answer->bytes + SA_DATA_OFFSET, sa_records_at(&sa->records, 0),
		       sa->records.stride);
}

/* Another request with this transaction id is a repetition whose response is already being sent. */
static void send_table(struct sa *sa, const struct sa_request *request)
{
	size_t byte_count = SA_DATA_OFFSET + sa->records.count * sa->records.stride;
	struct rmpp_message message = {.address = request->address, .byte_count = byte_count};
	const struct rmpp_send_options options = {.purpose.detail = (uint32_t)byte_count};

	if (sa->table_bytes_in_flight + byte_count > SA_TABLE_BYTES_IN_FLIGHT_MAX) {
		sa->dropped_count++;
		return;
	}
	message.bytes = malloc(byte_count);
	if (!message.bytes) {
		sa->dropped_count++;
		return;
	}
	if (sa->records.count)
		memcpy(message.bytes, sa->records.bytes, byte_count);
	encode_head(request, MAD_STATUS_OK, sa->records.count ? sa->records.stride : 0,
		    message.bytes);

	int error = rmpp_send(&sa->rmpp, &message, &options);

	if (error) {
		sa->dropped_count += error != -EEXIST;
		free(message.bytes);
		return;
	}
	sa->table_bytes_in_flight += byte_count;
}

enum answer_kind { ANSWER_RECORD, ANSWER_TABLE, ANSWER_CHANGE };

struct method_row {
	uint8_t method;
	enum answer_kind kind;
};

static const struct method_row methods[] = {
	{MAD_GET, ANSWER_RECORD},
	{MAD_SET, ANSWER_CHANGE},
	{MAD_GET_TABLE, ANSWER_TABLE},
	{MAD_GET_MULTI, ANSWER_TABLE},
	{MAD_GET_TRACE_TABLE, ANSWER_TABLE},
	{MAD_DELETE, ANSWER_CHANGE},
};

static const struct method_row *find_method(uint8_t method)
{
	for (size_t i = 0; i < ARRAY_COUNT(methods); i++)
		if (methods[i].method == method)
			return &methods[i];
	return NULL;
}

/* NULL: the attribute does not have this method. */
static sa_find_function *find_function(const struct sa_attribute_row *row, uint8_t method)
{
	switch (method) {
	case MAD_GET:
		return row->find;
	case MAD_GET_TABLE:
		return row->has_no_table ? NULL : row->find;
	case MAD_SET:
		return row->set;
	case MAD_DELETE:
		return row->remove;
	case MAD_GET_MULTI:
		return row->find_multi;
	case MAD_GET_TRACE_TABLE:
		return row->trace;
	}
	return NULL;
}

static uint16_t count_status(const struct sa *sa, const struct method_row *method)
{
	if (sa->records.is_too_large)
		return SA_STATUS_NO_RESOURCES;
	if (method->kind == ANSWER_TABLE)
		return MAD_STATUS_OK;
	if (sa->records.count == 0)
		return SA_STATUS_NO_RECORDS;
	return sa->records.count == 1 ? MAD_STATUS_OK : SA_STATUS_TOO_MANY_RECORDS;
}

static uint16_t find_records(struct sa *sa, const struct sa_request *request,
			     const struct method_row *method)
{
	const struct sa_attribute_row *row = sa_attribute_find(request->header.attribute_id);
	sa_find_function *function = row ? find_function(row, request->header.method) : NULL;

	if (!function)
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	/* Of a Get, a second record shows that there are too many. */
	sa_records_begin(&sa->records, row->record_bytes,
			 method->kind == ANSWER_TABLE ? SIZE_MAX : 2);
	return function(sa, request);
}

static void send_answer(struct sa *sa, const struct sa_request *request,
			const struct method_row *method, uint16_t status)
{
	if (status == MAD_STATUS_OK)
		status = count_status(sa, method);
	if (status == MAD_STATUS_OK && method->kind == ANSWER_TABLE) {
		send_table(sa, request);
		return;
	}
	/* Receivers must not rely on the data of an error response (management 1.1). */
	if (status != MAD_STATUS_OK && !sa->records.is_part_of_refusal)
		sa->records.count = 0;
	send_plain(sa, request, status);
}

void answers_complete(struct sa *sa, const struct sa_request *request, uint16_t status)
{
	send_answer(sa, request, find_method(request->header.method), status);
}

void answers_make(struct sa *sa, const struct sa_request *request)
{
	const struct method_row *method = find_method(request->header.method);
	bool is_get = request->header.method == MAD_GET || request->header.method == MAD_GET_TABLE;

	/* One-way methods that the SA does not use. */
	if (request->header.method == MAD_TRAP || request->header.method == MAD_TRAP_REPRESS ||
	    request->header.method == MAD_REPORT || request->header.method == MAD_SEND)
		return;
	if (is_get && remote_tables_has(request->header.attribute_id)) {
		remote_tables_ask(sa, request);
		return;
	}
	sa_records_begin(&sa->records, SA_RECORD_UNIT, 0);
	if (method && method->kind == ANSWER_CHANGE &&
	    request->header.attribute_id == SA_GUID_INFO_RECORD) {
		uint16_t status = sa_change_guids(sa, request);

		if (status != MAD_STATUS_OK)
			send_plain(sa, request, status);
		return;
	}
	if (method)
		send_answer(sa, request, method, find_records(sa, request, method));
	else
		send_plain(sa, request, MAD_STATUS_BAD_METHOD);
}
