/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a message of SNMP version 3 says in clear of whom it is for (RFC 3412, RFC 3414): the engine
 * whose keys it uses, and, unless it is encrypted, the context. Nothing is authenticated here.
 */
#ifndef SOFTIB_MGMT_SNMP_SNMP_V3_ENVELOPE_H
#define SOFTIB_MGMT_SNMP_SNMP_V3_ENVELOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"

/* Octets of a message. */
struct snmp_octets {
	const uint8_t *bytes;
	size_t byte_count;
};

struct snmp_v3_envelope {
	struct snmp_octets engine_id; /* msgAuthoritativeEngineID; empty: the sender asks for it */
	bool is_encrypted;	      /* the context is hidden, and empty here */
	struct snmp_octets context_engine_id;
	struct snmp_octets context_name;
};

/* false: no message of version 3 with the user-based security model. */
MUST_USE bool snmp_v3_envelope_read(const uint8_t *message, size_t byte_count,
				    struct snmp_v3_envelope *ret_envelope);

#endif
