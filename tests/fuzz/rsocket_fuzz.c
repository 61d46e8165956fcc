/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: the bytes that a peer sends to an rsocket, as greeting, notices and headers of
 * datagrams. */
#include "fuzz/fuzz.h"

#include <string.h>
#include "api/librdmacm/rsocket/rsocket_records.h"

static void greet(const uint8_t *bytes, size_t byte_count)
{
	uint8_t again[RSOCKET_GREETING_BYTES];
	struct rsocket_greeting greeting;

	if (!rsocket_greeting_decode(bytes, byte_count, &greeting))
		return;
	MUST_HOLD(byte_count >= RSOCKET_GREETING_BYTES);
	MUST_HOLD(greeting.ring_bytes > 0 && greeting.ring_bytes <= RSOCKET_NOTICE_VALUE_MAX);
	MUST_HOLD(greeting.receive_count > 2 * RSOCKET_CONTROL_RESERVE);
	rsocket_greeting_encode(&greeting, again);
	MUST_HOLD(memcmp(again, bytes, sizeof(again)) == 0);
}

static void notice(const uint8_t *bytes, size_t byte_count)
{
	for (size_t at = 0; at + sizeof(uint32_t) <= byte_count; at += sizeof(uint32_t)) {
		uint32_t immediate, value;

		memcpy(&immediate, bytes + at, sizeof(immediate));

		enum rsocket_notice kind = rsocket_notice_decode(immediate, &value);

		MUST_HOLD(kind <= NOTICE_UNKNOWN && value <= RSOCKET_NOTICE_VALUE_MAX);
		MUST_HOLD(rsocket_notice_encode(kind, value) == immediate);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const uint8_t magic[] = {'r', 's', '0', '1'};
	uint8_t known[RSOCKET_GREETING_BYTES] = {0};
	struct sockaddr_storage source;

	greet(bytes, byte_count);
	/* With the first four bytes right, which random bytes hardly ever are. */
	memcpy(known, magic, sizeof(magic));
	if (byte_count > sizeof(known) - sizeof(magic))
		byte_count = sizeof(known) - sizeof(magic);
	if (byte_count)
		memcpy(known + sizeof(magic), bytes, byte_count);
	greet(known, sizeof(known));
	notice(bytes, byte_count);
	if (rsocket_datagram_header_decode(bytes, byte_count, &source))
		MUST_HOLD(source.ss_family == AF_INET || source.ss_family == AF_INET6);
	return 0;
}
