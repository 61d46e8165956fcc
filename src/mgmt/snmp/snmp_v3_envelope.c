/* SPDX-License-Identifier: Apache-2.0 */
/* What a message of SNMP version 3 says in clear of whom it is for (RFC 3412, RFC 3414). */
#include "mgmt/snmp/snmp_v3_envelope.h"

#include "mgmt/snmp/snmp_envelope.h"

enum { SECURITY_MODEL_USER_BASED = 3 };

/* The contents of the element that comes next; the bytes go on behind it. */
static bool take(struct snmp_octets *bytes, uint8_t tag, struct snmp_octets *ret_contents)
{
	size_t content_bytes;

	if (!ber_element_enter(&bytes->bytes, &bytes->byte_count, tag, &content_bytes))
		return false;
	*ret_contents = (struct snmp_octets){bytes->bytes, content_bytes};
	bytes->bytes += content_bytes;
	bytes->byte_count -= content_bytes;
	return true;
}

static bool take_number(struct snmp_octets *bytes, uint8_t *ret_number)
{
	struct snmp_octets number;

	if (!take(bytes, BER_INTEGER, &number) || number.byte_count != 1)
		return false;
	*ret_number = number.bytes[0];
	return true;
}

/* HeaderData: msgID, msgMaxSize, msgFlags, msgSecurityModel. */
static bool read_header(struct snmp_octets header)
{
	struct snmp_octets skipped;
	uint8_t model;

	return take(&header, BER_INTEGER, &skipped) && take(&header, BER_INTEGER, &skipped) &&
	       take(&header, BER_OCTET_STRING, &skipped) && take_number(&header, &model) &&
	       model == SECURITY_MODEL_USER_BASED;
}

static bool read_context(struct snmp_octets *rest, struct snmp_v3_envelope *envelope)
{
	struct snmp_octets scoped_pdu;

	envelope->is_encrypted = rest->byte_count && rest->bytes[0] == BER_OCTET_STRING;
	if (envelope->is_encrypted)
		return take(rest, BER_OCTET_STRING, &scoped_pdu);
	return take(rest, BER_SEQUENCE, &scoped_pdu) &&
	       take(&scoped_pdu, BER_OCTET_STRING, &envelope->context_engine_id) &&
	       take(&scoped_pdu, BER_OCTET_STRING, &envelope->context_name);
}

bool snmp_v3_envelope_read(const uint8_t *message, size_t byte_count,
			   struct snmp_v3_envelope *ret_envelope)
{
	struct snmp_octets whole = {message, byte_count}, fields, header, security, parameters;
	struct snmp_v3_envelope envelope = {0};
	uint8_t version;

	/* msgSecurityParameters are a sequence in an OCTET STRING (RFC 3414 2.4). */
	if (!take(&whole, BER_SEQUENCE, &fields) || whole.byte_count ||
	    !take_number(&fields, &version) || version != SNMP_VERSION_NUMBER_3 ||
	    !take(&fields, BER_SEQUENCE, &header) || !read_header(header) ||
	    !take(&fields, BER_OCTET_STRING, &security) ||
	    !take(&security, BER_SEQUENCE, &parameters) ||
	    !take(&parameters, BER_OCTET_STRING, &envelope.engine_id) ||
	    !read_context(&fields, &envelope) || fields.byte_count)
		return false;
	*ret_envelope = envelope;
	return true;
}
