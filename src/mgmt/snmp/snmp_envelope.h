/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands around a PDU in an SNMP message: SEQUENCE { version, community, PDU } of versions 1
 * and 2c (management 6.4). Nothing inside the PDU is read here, and of version 3 nothing but the
 * version; mgmt/snmp/snmp_v3_envelope.h has the rest.
 */
#ifndef SOFTIB_MGMT_SNMP_SNMP_ENVELOPE_H
#define SOFTIB_MGMT_SNMP_SNMP_ENVELOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"

enum { SNMP_VERSION_NUMBER_1 = 0, SNMP_VERSION_NUMBER_2C = 1, SNMP_VERSION_NUMBER_3 = 3 };

enum {
	BER_INTEGER = 0x02,
	BER_OCTET_STRING = 0x04,
	BER_SEQUENCE = 0x30,
	SNMP_PDU_FIRST = 0xa0,
	SNMP_PDU_GET_BULK = 0xa5, /* this one and the next three are not in version 1 */
	SNMP_PDU_LAST = 0xa8,
};

/* Tag and length of an element. The contents may end behind the bytes that are there. */
struct ber_element {
	uint8_t tag;
	size_t header_bytes;
	size_t content_bytes;
};

/* false: too short for tag and length, an indefinite length, or one of more than four bytes. */
MUST_USE bool ber_element_read(const uint8_t *bytes, size_t byte_count,
			       struct ber_element *ret_element);

/* Reads an element of this tag whose contents are all there, and advances behind its header. */
MUST_USE bool ber_element_enter(const uint8_t **bytes, size_t *byte_count, uint8_t tag,
				size_t *ret_content_bytes);

struct snmp_envelope {
	unsigned version;
	/* Versions 1 and 2c. They point into the message. */
	const uint8_t *community;
	size_t community_bytes;
	const uint8_t *pdu;
	size_t pdu_bytes;
};

/* false: not exactly one SNMP message. */
MUST_USE bool snmp_envelope_read(const uint8_t *message, size_t byte_count,
				 struct snmp_envelope *ret_envelope);

/* Writes a message of version 1 or 2c and returns its length; 0: it does not fit. */
MUST_USE size_t snmp_envelope_write(const struct snmp_envelope *envelope, size_t bytes_max,
				    uint8_t *ret_message);

#endif
