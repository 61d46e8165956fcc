/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: the bytes that an SRP initiator and an SRP target get from each other. */
#include "fuzz/fuzz.h"

#include <string.h>
#include "io/srp/initiator.h"
#include "io/srp/login.h"

/* What a target reads: the login, and units of its initiators. */
static void as_target(const uint8_t *bytes, size_t byte_count)
{
	static const struct srp_login_terms terms = {.request_limit = 32, .it_iu_bytes_max = 1092};
	struct srp_login_req req;
	struct srp_login_rsp rsp;
	struct srp_login_rej rej;
	struct srp_data_buffer buffers[2];
	struct srp_cmd cmd;

	if (srp_login_judge(&terms, bytes, byte_count, &req, &rsp, &rej))
		MUST_HOLD(byte_count >= SRP_LOGIN_REQ_BYTES && req.it_iu_bytes <= 1092);
	if (byte_count < SRP_CMD_BYTES)
		return;
	srp_cmd_decode(bytes, &cmd);
	if (srp_data_buffers_decode(&cmd, bytes, byte_count, &buffers[0], &buffers[1]) !=
	    SRP_BUFFERS_GOOD)
		return;
	for (unsigned way = 0; way < 2; way++) {
		uint64_t total = 0;

		MUST_HOLD(buffers[way].segment_count <= SRP_SEGMENTS_MAX);
		for (uint32_t i = 0; i < buffers[way].segment_count; i++)
			total += buffers[way].segments[i].byte_count;
		MUST_HOLD(total == buffers[way].byte_count);
	}
	MUST_HOLD(!buffers[0].byte_count || !buffers[1].byte_count);
}

/* What an initiator reads, with a request outstanding. */
static void as_initiator(const uint8_t *bytes, size_t byte_count)
{
	const struct srp_request request = {.lun = 0};
	struct srp_initiator initiator;
	struct srp_arrival arrival;
	uint8_t unit[SRP_CMD_BYTES_MAX];
	uint8_t abort[SRP_TSK_MGMT_BYTES];
	uint8_t login[SRP_LOGIN_RSP_BYTES];
	uint32_t reason, slot;

	if (srp_initiator_logged_in(&initiator, bytes, byte_count, &reason))
		MUST_HOLD(srp_initiator_may_send(&initiator));
	srp_login_rsp_encode(&(struct srp_login_rsp){.opcode = SRP_LOGIN_RSP,
						     .request_limit_delta = 3,
						     .it_iu_bytes_max = 64},
			     login);
	MUST_HOLD(srp_initiator_logged_in(&initiator, login, sizeof(login), &reason));
	srp_initiator_command(&initiator, &request, 1, unit, &slot);
	/* Half of the inputs meet an ABORT TASK under way. */
	if (byte_count & 1)
		MUST_HOLD(srp_initiator_expire(&initiator, 1, 1, abort) == SRP_EXPIRY_ABORT);
	srp_initiator_receive(&initiator, bytes, byte_count, &arrival);
	if (arrival.kind == SRP_ARRIVAL_ABORTED)
		MUST_HOLD(arrival.slot == slot);
	if (arrival.kind == SRP_ARRIVAL_RESPONSE)
		MUST_HOLD(arrival.slot == slot &&
			  arrival.response.sense_byte_count <= SRP_SENSE_BYTES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static const uint8_t opcodes[] = {SRP_LOGIN_REQ, SRP_CMD,      SRP_LOGIN_RSP, SRP_LOGIN_REJ,
					  SRP_RSP,	 SRP_CRED_REQ, SRP_AER_REQ,   SRP_T_LOGOUT};
	uint8_t known[SRP_CMD_BYTES_MAX];

	as_target(bytes, byte_count);
	as_initiator(bytes, byte_count);
	if (!byte_count)
		return 0;
	/* With the right first byte, and with a CDB of the usual length and known formats. */
	if (byte_count > sizeof(known))
		byte_count = sizeof(known);
	memcpy(known, bytes, byte_count);
	known[0] = opcodes[bytes[0] % sizeof(opcodes)];
	if (byte_count > 32) {
		known[5] = (uint8_t)(bytes[5] % 3 << 4 | bytes[6] % 3);
		known[31] = 0;
	}
	as_target(known, byte_count);
	as_initiator(known, byte_count);
	return 0;
}
