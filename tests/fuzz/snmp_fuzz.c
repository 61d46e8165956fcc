/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: SNMP tunnelling. Any sequence of segments: what is put together has the length that
 * its first bytes say, and the number of unfinished messages stays bounded. Any bytes as a message:
 * an envelope that is read is written again as it was, apart from the form of its lengths; what is
 * read of version 3 lies within the message. */
#include "fuzz/fuzz.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/snmp/snmp_envelope.h"
#include "mgmt/snmp/snmp_segments.h"
#include "mgmt/snmp/snmp_v3_envelope.h"

enum { RECORD_BYTES = 16, WRITTEN_BYTES = 4096 };

/* Sixteen bytes make one MAD: few senders and small numbers, so that the MADs relate. */
static struct mad_message make(const uint8_t *record)
{
	struct mad_message mad = {.address = {.lid = (uint16_t)(1 + (record[0] & 1)), .qpn = 1}};
	bool is_community = (record[1] & 3) == 0;

	mad.bytes[0] = 1;
	mad.bytes[1] = MAD_CLASS_SNMP;
	mad.bytes[2] = 1;
	mad.bytes[3] = MAD_SEND;
	mad.bytes[15] = record[2] & 1;
	mad.bytes[17] = is_community ? ATTRIBUTE_COMMUNITY_INFO : ATTRIBUTE_PDU_INFO;
	mad.bytes[23] = record[3] & 8 ? record[3] : 0;
	mad.bytes[60] = record[4] & 1 ? SNMP_DATA_BYTES : record[5];
	mad.bytes[61] = is_community ? 0 : record[6] & 7;
	memcpy(mad.bytes + SNMP_DATA_OFFSET, record + 7, RECORD_BYTES - 7);
	return mad;
}

static void check(const struct snmp_message *message)
{
	struct ber_element element;

	assert(message->byte_count <= SNMP_MESSAGE_BYTES_MAX);
	assert(ber_element_read(message->bytes, message->byte_count, &element));
	assert(element.header_bytes + element.content_bytes == message->byte_count);
}

static void check_envelope(const uint8_t *bytes, size_t byte_count)
{
	struct snmp_envelope envelope, again;
	uint8_t written[WRITTEN_BYTES];
	size_t written_bytes;

	if (!snmp_envelope_read(bytes, byte_count, &envelope) || !envelope.pdu)
		return;
	written_bytes = snmp_envelope_write(&envelope, sizeof(written), written);
	if (!written_bytes)
		return;
	assert(written_bytes <= byte_count);
	assert(snmp_envelope_read(written, written_bytes, &again));
	assert(again.pdu_bytes == envelope.pdu_bytes);
	assert(memcmp(again.pdu, envelope.pdu, envelope.pdu_bytes) == 0);
}

static void check_octets(const struct snmp_octets *octets, const uint8_t *bytes, size_t byte_count)
{
	assert(octets->byte_count == 0 ||
	       (octets->bytes >= bytes && octets->byte_count <= byte_count &&
		octets->bytes + octets->byte_count <= bytes + byte_count));
}

static void check_v3_envelope(const uint8_t *bytes, size_t byte_count)
{
	struct snmp_v3_envelope envelope;

	if (!snmp_v3_envelope_read(bytes, byte_count, &envelope))
		return;
	check_octets(&envelope.engine_id, bytes, byte_count);
	check_octets(&envelope.context_engine_id, bytes, byte_count);
	check_octets(&envelope.context_name, bytes, byte_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	struct snmp_reassembly reassembly;
	struct snmp_message message;
	time_ns now = 0;

	check_envelope(bytes, byte_count);
	check_v3_envelope(bytes, byte_count);
	snmp_reassembly_init(&reassembly);
	for (size_t at = 0; at + RECORD_BYTES <= byte_count; at += RECORD_BYTES) {
		struct mad_message mad = make(bytes + at);

		now += MILLISECONDS(bytes[at + 1]);
		if (snmp_reassembly_receive(&reassembly, now, NULL, &mad, &message)) {
			check(&message);
			free(message.bytes);
		}
		assert(reassembly.partial_count <= 2 * SNMP_PARTIAL_PER_SENDER);
		assert(reassembly.finished_count <= 2 * SNMP_FINISHED_PER_SENDER);
	}
	snmp_reassembly_expire(&reassembly, now + SNMP_REASSEMBLY_TIME);
	assert(reassembly.partial_count == 0 && reassembly.finished_count == 0);
	snmp_reassembly_release(&reassembly);
	return 0;
}
