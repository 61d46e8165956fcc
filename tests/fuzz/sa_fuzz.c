/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: MADs of any content into subnet administration. Answers are well-formed MADs to the
 * requester, the state stays bounded, and a normal request is still answered afterwards. */
#include "fuzz/fuzz.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/subnet/service_registry.h"
#include "mgmt/subnet/subscriptions.h"
#include "unit/mgmt/sa/sa_fixture.h"
#include "wire/rmpp.h"

/* The first bytes choose values that a random MAD would hardly ever have. */
enum { CHOICE_BYTES = 12, INPUTS_PER_SUBNET = 512, ANSWERS_MAX = 4096, GROUPS_MAX = 16384 };

static const uint8_t methods[] = {
	MAD_GET,    MAD_SET,	MAD_GET_TABLE,	    MAD_GET_MULTI, MAD_GET_TRACE_TABLE,
	MAD_DELETE, MAD_REPORT, MAD_REPORT_RESPONSE};

static const uint16_t attributes[] = {0x01, 0x02, 0x03, 0x11, 0x12, 0x13, 0x14, 0x15,
				      0x17, 0x18, 0x20, 0x30, 0x31, 0x33, 0x35, 0x36,
				      0x38, 0x39, 0x3a, 0x3b, 0xf3, 0x16, 0x19, 0x77};

static struct sa_fixture fixture;
static unsigned input_count;

static void restart(void)
{
	if (input_count++ % INPUTS_PER_SUBNET)
		return;
	if (fixture.sa)
		sa_fixture_stop(&fixture);
	sa_fixture_start(&fixture);
}

/* Puts GIDs and LIDs of the subnet where records have them. */
static void make_plausible(uint8_t choice, struct mad_message *message)
{
	struct gid gid = fixture_gid(&fixture, 1 + (choice & 3));
	uint8_t *data = message->bytes + SA_DATA_OFFSET;

	if (choice & 0x10)
		memcpy(data + 8, gid.bytes, sizeof(gid.bytes));
	if (choice & 0x20)
		memcpy(data + 16, gid.bytes, sizeof(gid.bytes));
	if (choice & 0x40)
		memcpy(data + 24, gid.bytes, sizeof(gid.bytes));
	if (choice & 0x80)
		put_be16(data, 1 + (choice & 7));
}

static struct mad_message make(const uint8_t *bytes, size_t byte_count)
{
	const struct sa_question question = {
		.host = bytes[0] & 3,
		.method = (enum mad_method)methods[bytes[1] % sizeof(methods)],
		.attribute_id = attributes[bytes[2] % ARRAY_COUNT(attributes)],
		.components = get_be64(bytes + 3),
		.sm_key = bytes[0] & 0x10 ? FIXTURE_SM_KEY : 0,
	};
	struct mad_message message = fixture_message(&fixture, &question);
	size_t data_bytes = byte_count - CHOICE_BYTES;

	memcpy(message.bytes + SA_DATA_OFFSET, bytes + CHOICE_BYTES,
	       data_bytes < SA_DATA_BYTES ? data_bytes : SA_DATA_BYTES);
	make_plausible(bytes[11], &message);
	/* Some are RMPP, some have a random RMPP header. */
	if (bytes[0] & 0x20 && data_bytes >= RMPP_HEADER_BYTES)
		memcpy(message.bytes + RMPP_OFFSET, bytes + CHOICE_BYTES, RMPP_HEADER_BYTES);
	if ((bytes[0] & 0xc0) == 0xc0)
		memcpy(message.bytes, bytes, byte_count < MAD_BYTES ? byte_count : MAD_BYTES);
	return message;
}

static void take_answers(void)
{
	struct mad_message answer;
	unsigned answer_count = 0;

	while (fixture_next_message(&fixture, &answer)) {
		MUST_HOLD(++answer_count < ANSWERS_MAX);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	const struct sa_question plain = {
		.host = 1, .method = MAD_GET, .attribute_id = SA_CLASS_PORT_INFO};
	struct mad_message message;
	struct sa_status status;

	if (byte_count < CHOICE_BYTES)
		return 0;
	restart();
	message = make(bytes, byte_count);
	sa_receive(fixture.sa, fixture.now, &message);
	take_answers();
	fixture.now += MILLISECONDS(1) * bytes[10];
	take_answers();
	sa_status(fixture.sa, &status);
	MUST_HOLD(status.group_count <= GROUPS_MAX);
	MUST_HOLD(status.service_count <= SERVICES_MAX);
	MUST_HOLD(status.subscription_count <= SUBSCRIPTIONS_MAX);
	fixture.changed_count = 0;

	message = fixture_message(&fixture, &plain);
	sa_receive(fixture.sa, fixture.now, &message);
	for (bool was_answered = false; !was_answered;) {
		MUST_HOLD(fixture_next_message(&fixture, &message));
		was_answered = message.bytes[1] == MAD_CLASS_SUBNET_ADMINISTRATION &&
			       message.bytes[3] == MAD_GET_RESPONSE &&
			       get_be16(message.bytes + 16) == SA_CLASS_PORT_INFO;
	}
	return 0;
}
