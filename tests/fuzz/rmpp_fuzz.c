/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: RMPP. Any sequence of segments and acknowledgements into an agent that sends and
 * receives: memory and the number of transfers stay bounded, and timeouts end every transfer. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include "mgmt/mad/rmpp_engine.h"

enum { RECORD_BYTES = 8, TRANSFERS_MAX = 4, BYTES_MAX = 4096 };

static void start_sending(struct rmpp *rmpp)
{
	const struct rmpp_send_options options = {0};
	struct rmpp_message message = {
		.address = {.lid = 1}, .bytes = calloc(1, 1000), .byte_count = 1000};

	if (!message.bytes)
		return;
	message.bytes[0] = 1;
	message.bytes[1] = MAD_CLASS_SUBNET_ADMINISTRATION;
	message.bytes[3] = MAD_GET_TABLE_RESPONSE;
	if (rmpp_send(rmpp, &message, &options) != 0)
		free(message.bytes);
}

/* Eight bytes make one MAD: few peers and small numbers, so that the MADs relate to each other. */
static struct mad_message make(const uint8_t *record)
{
	const struct rmpp_header header = {
		.version = record[0] & 15 ? 1 : record[0],
		.type = record[1] & 7,
		.flags = record[2] & 7,
		.status = record[3] & 1 ? record[3] : 0,
		.segment_number = record[4],
		.length_or_last = record[5],
	};
	struct mad_message message = {.address = {.lid = 1 + (record[6] & 1)}};

	message.bytes[0] = 1;
	message.bytes[1] = MAD_CLASS_SUBNET_ADMINISTRATION;
	message.bytes[3] = record[6] & 2 ? MAD_GET_TABLE : MAD_GET_TABLE_RESPONSE;
	message.bytes[15] = record[7] & 3;
	rmpp_header_encode(&header, message.bytes);
	return message;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	const struct rmpp_options options = {.transfers_max = TRANSFERS_MAX,
					     .byte_count_max = BYTES_MAX};
	struct mad_message out[8];
	struct rmpp_message received;
	struct rmpp_result result;
	struct rmpp rmpp;
	time_ns now = 0;

	if (rmpp_init(&rmpp, &options) != 0)
		return 0;
	start_sending(&rmpp);
	for (; byte_count >= RECORD_BYTES; bytes += RECORD_BYTES, byte_count -= RECORD_BYTES) {
		struct mad_message message = make(bytes);

		now += MILLISECONDS(bytes[7]);
		if (rmpp_receive(&rmpp, now, &message, &received)) {
			MUST_HOLD(received.byte_count >= 56 && received.byte_count <= BYTES_MAX);
			free(received.bytes);
		}
		(void)rmpp_transmit(&rmpp, now, bytes[7] & 7, out);
		MUST_HOLD(rmpp.transfer_count <= TRANSFERS_MAX);
		MUST_HOLD(rmpp.received_bytes <= 4 * BYTES_MAX);
		if (bytes[6] & 4)
			start_sending(&rmpp);
		while (bytes[6] & 8 && rmpp_take_result(&rmpp, &result))
			continue;
	}
	for (unsigned i = 0; i < 1000 && rmpp_deadline(&rmpp) != TIME_NEVER; i++) {
		if (rmpp_deadline(&rmpp) > now)
			now = rmpp_deadline(&rmpp);
		(void)rmpp_transmit(&rmpp, now, 8, out);
		while (rmpp_take_result(&rmpp, &result))
			continue;
	}
	MUST_HOLD(rmpp.transfer_count == 0);
	MUST_HOLD(rmpp.received_bytes == 0);
	rmpp_release(&rmpp);
	return 0;
}
