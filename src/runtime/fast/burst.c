/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the records of a burst: see burst.h. */
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

static const struct ring_record *keep_template(struct burst_in *burst,
					       const struct ring_record *record)
{
	burst->payload_bytes = 0;
	if (record->byte_count < LRH_BYTES + BTH_BYTES || record->byte_count > sizeof(burst->bytes))
		return record;
	memcpy(burst->bytes, record->body, record->byte_count);
	__asm__ volatile(""
			 :
			 : "r"(burst->bytes)
			 : "memory"); /* the compiler must not read the ring twice */
	burst->template = *record;
	burst->template.kind = RECORD_PACKET;
	burst->template.body = burst->bytes;
	burst->psn_word = get_be32(burst->bytes + PSN_OFFSET);
	burst->payloads = 0;
	if (record->byte_count > headers_of(burst->bytes))
		burst->payload_bytes = record->byte_count - headers_of(burst->bytes);
	return &burst->template;
}

static const struct ring_record *payload_packet(struct burst_in *burst,
						const struct ring_record *record)
{
	if (!burst->payload_bytes || burst->payload_bytes > record->byte_count)
		return record;
	burst_write_psn(burst, burst_next_psn(burst));
	burst->payloads++;
	memcpy(burst->bytes + burst->template.byte_count - burst->payload_bytes, record->body,
	       burst->payload_bytes);
	return &burst->template;
}

const struct ring_record *burst_read(struct burst_in *burst, const struct ring_record *record)
{
	return record->kind == RECORD_TEMPLATE ? keep_template(burst, record)
					       : payload_packet(burst, record);
}
