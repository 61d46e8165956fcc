/* SPDX-License-Identifier: Apache-2.0 */
/* What stands around a PDU in an SNMP message of versions 1 and 2c. */
#include "mgmt/snmp/snmp_envelope.h"

#include <string.h>

enum {
	LENGTH_IS_LONG = 0x80,
	LENGTH_OCTETS_MAX = 4,
	TAG_NUMBER_IS_LONG = 0x1f,
	VERSION_BYTES = 3, /* INTEGER of one octet */
};

bool ber_element_read(const uint8_t *bytes, size_t byte_count, struct ber_element *ret_element)
{
	size_t content_bytes = 0;

	if (byte_count < 2 || (bytes[0] & TAG_NUMBER_IS_LONG) == TAG_NUMBER_IS_LONG)
		return false;
	if (!(bytes[1] & LENGTH_IS_LONG)) {
		*ret_element = (struct ber_element){bytes[0], 2, bytes[1]};
		return true;
	}

	size_t octets = bytes[1] & (LENGTH_IS_LONG - 1);

	if (octets == 0 || octets > LENGTH_OCTETS_MAX || byte_count < 2 + octets)
		return false;
	for (size_t i = 0; i < octets; i++)
		content_bytes = content_bytes << 8 | bytes[2 + i];
	*ret_element = (struct ber_element){bytes[0], 2 + octets, content_bytes};
	return true;
}

bool ber_element_enter(const uint8_t **bytes, size_t *byte_count, uint8_t tag,
		       size_t *ret_content_bytes)
{
	struct ber_element element;

	if (!ber_element_read(*bytes, *byte_count, &element) || element.tag != tag ||
	    element.content_bytes > *byte_count - element.header_bytes)
		return false;
	*bytes += element.header_bytes;
	*byte_count -= element.header_bytes;
	*ret_content_bytes = element.content_bytes;
	return true;
}

static bool read_version(const uint8_t **bytes, size_t *byte_count, unsigned *ret_version)
{
	size_t content_bytes;

	if (!ber_element_enter(bytes, byte_count, BER_INTEGER, &content_bytes) ||
	    content_bytes != 1)
		return false;
	*ret_version = **bytes;
	*bytes += 1;
	*byte_count -= 1;
	return true;
}

bool snmp_envelope_read(const uint8_t *message, size_t byte_count,
			struct snmp_envelope *ret_envelope)
{
	struct snmp_envelope envelope = {0};
	struct ber_element pdu;
	size_t content_bytes;

	if (!ber_element_enter(&message, &byte_count, BER_SEQUENCE, &content_bytes) ||
	    content_bytes != byte_count || !read_version(&message, &byte_count, &envelope.version))
		return false;
	if (envelope.version == SNMP_VERSION_NUMBER_3) {
		*ret_envelope = envelope;
		return true;
	}
	if (envelope.version > SNMP_VERSION_NUMBER_2C ||
	    !ber_element_enter(&message, &byte_count, BER_OCTET_STRING, &content_bytes))
		return false;
	envelope.community = message;
	envelope.community_bytes = content_bytes;
	envelope.pdu = message + content_bytes;
	envelope.pdu_bytes = byte_count - content_bytes;
	if (!ber_element_read(envelope.pdu, envelope.pdu_bytes, &pdu) || pdu.tag < SNMP_PDU_FIRST ||
	    pdu.tag > SNMP_PDU_LAST || pdu.header_bytes + pdu.content_bytes != envelope.pdu_bytes)
		return false;
	*ret_envelope = envelope;
	return true;
}

static size_t length_octets(size_t length)
{
	if (length < LENGTH_IS_LONG)
		return 1;
	return length <= 0xff ? 2 : length <= 0xffff ? 3 : 4;
}

static uint8_t *write_header(uint8_t *bytes, uint8_t tag, size_t length)
{
	size_t octets = length_octets(length);

	*bytes++ = tag;
	if (octets == 1) {
		*bytes++ = (uint8_t)length;
		return bytes;
	}
	*bytes++ = (uint8_t)(LENGTH_IS_LONG | (octets - 1));
	for (size_t i = octets - 1; i > 0; i--)
		*bytes++ = (uint8_t)(length >> 8 * (i - 1));
	return bytes;
}

size_t snmp_envelope_write(const struct snmp_envelope *envelope, size_t bytes_max,
			   uint8_t *ret_message)
{
	if (envelope->community_bytes > bytes_max || envelope->pdu_bytes > bytes_max)
		return 0;

	size_t content_bytes = VERSION_BYTES + 1 + length_octets(envelope->community_bytes) +
			       envelope->community_bytes + envelope->pdu_bytes;
	size_t total_bytes = 1 + length_octets(content_bytes) + content_bytes;
	uint8_t *next = ret_message;

	if (total_bytes > bytes_max)
		return 0;
	next = write_header(next, BER_SEQUENCE, content_bytes);
	next = write_header(next, BER_INTEGER, 1);
	*next++ = (uint8_t)envelope->version;
	next = write_header(next, BER_OCTET_STRING, envelope->community_bytes);
	memcpy(next, envelope->community, envelope->community_bytes);
	memcpy(next + envelope->community_bytes, envelope->pdu, envelope->pdu_bytes);
	return total_bytes;
}
