/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of small SENDs: see runs.h. */
#include "runtime/fast/burst.h"

#include <string.h>
#include "base/bytes.h"
#include "wire/opcode.h"

enum { PSN_OFFSET = LRH_BYTES + BTH_PSN_OFFSET };

static uint32_t headers_of(const uint8_t *bytes)
{
	bool is_datagram = opcode_transport(bytes[LRH_BYTES]) == TRANSPORT_UD;

	return LRH_BYTES + BTH_BYTES + (is_datagram ? DETH_BYTES : 0);
}

static const struct ring_record *keep_model(struct run_in *run, const struct ring_record *record)
{
	run->payload_bytes = 0;
	run->seen = NULL;
	if (record->byte_count < LRH_BYTES + BTH_BYTES || record->byte_count > sizeof(run->bytes))
		return record;
	memcpy(run->bytes, record->body, record->byte_count);
	__asm__ volatile("" : : "r"(run->bytes) : "memory"); /* no second look at the ring */
	run->model = *record;
	run->model.kind = RECORD_PACKET;
	run->model.body = run->bytes;
	run->psn_word = get_be32(run->bytes + PSN_OFFSET);
	run->repeats = 0;
	if (record->byte_count > headers_of(run->bytes))
		run->payload_bytes = record->byte_count - headers_of(run->bytes);
	return &run->model;
}

static const struct ring_record *repeat(struct run_in *run, const struct ring_record *record)
{
	if (!run->payload_bytes || run->payload_bytes > record->byte_count)
		return record;
	put_be32(run->bytes + PSN_OFFSET, (run->psn_word & 0xff000000u) | run_next_psn(run).value);
	run->repeats++;
	memcpy(run->bytes + run->model.byte_count - run->payload_bytes, record->body,
	       run->payload_bytes);
	return &run->model;
}

const struct ring_record *run_read(struct run_in *run, const struct ring_record *record)
{
	return record->kind == RECORD_MODEL ? keep_model(run, record) : repeat(run, record);
}
