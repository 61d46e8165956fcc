/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the self-test of an I/O controller (management 6.3). */
#include "mgmt/device/diagnostics_client.h"

#include "base/bytes.h"
#include "wire/device_management.h"
#include "wire/smp.h"

/* Between two requests for the state of a test. */
#define POLL_INTERVAL MILLISECONDS(20)
/* A test may take so much longer than the controller says: it runs on a busy machine. */
#define TIME_GRACE SECONDS(5)

enum { TEST_TIME_MAX_MS = 3600 * 1000 };

static const struct {
	uint8_t method;
	uint16_t attribute_id;
	enum diagnostics_client_state next;
} steps[] = {
	[DIAGNOSTICS_TIMEOUT] = {MAD_GET, ATTRIBUTE_DIAGNOSTIC_TIMEOUT, DIAGNOSTICS_PREPARE},
	[DIAGNOSTICS_PREPARE] = {MAD_SET, ATTRIBUTE_PREPARE_TO_TEST, DIAGNOSTICS_AWAIT_PREPARED},
	[DIAGNOSTICS_AWAIT_PREPARED] = {MAD_GET, ATTRIBUTE_PREPARE_TO_TEST, DIAGNOSTICS_START},
	[DIAGNOSTICS_START] = {MAD_SET, ATTRIBUTE_TEST_DEVICE_ONCE, DIAGNOSTICS_AWAIT_CODE},
	[DIAGNOSTICS_AWAIT_CODE] = {MAD_GET, ATTRIBUTE_DIAG_CODE, DIAGNOSTICS_DONE},
};

int diagnostics_client_init(struct diagnostics_client *test,
			    const struct class_client_options *options,
			    const struct mad_address *address, uint8_t slot)
{
	*test = (struct diagnostics_client){.address = *address,
					    .slot = slot,
					    .give_up_at = TIME_NEVER,
					    .phase_time = TIME_GRACE};
	return class_client_init(&test->client, options);
}

void diagnostics_client_release(struct diagnostics_client *test)
{
	class_client_release(&test->client);
}

bool diagnostics_client_is_done(const struct diagnostics_client *test)
{
	return test->state >= DIAGNOSTICS_DONE;
}

static void enter(struct diagnostics_client *test, enum diagnostics_client_state state, time_ns now)
{
	test->state = state;
	test->ask_at = now;
	test->give_up_at = now + test->phase_time;
}

static void read_time(struct diagnostics_client *test, const uint8_t *data)
{
	struct diagnostic_timeout timeout;

	diagnostic_timeout_decode(data, &timeout);
	if (timeout.max_diag_time_ms > TEST_TIME_MAX_MS)
		timeout.max_diag_time_ms = TEST_TIME_MAX_MS;
	test->phase_time = MILLISECONDS(timeout.max_diag_time_ms) + TIME_GRACE;
}

static void take_answer(struct diagnostics_client *test, time_ns now,
			const struct mad_message *answer)
{
	const uint8_t *data = answer->bytes + DEVICE_DATA_OFFSET;
	struct diag_code code;

	test->is_asked = false;
	test->status = get_be16(answer->bytes + MAD_STATUS_OFFSET);
	if (test->status == MAD_STATUS_BUSY) {
		if (now >= test->give_up_at)
			test->state = DIAGNOSTICS_TOO_LONG;
		test->ask_at = now + POLL_INTERVAL;
		return;
	}
	if (test->status != MAD_STATUS_OK) {
		test->state = DIAGNOSTICS_REFUSED;
		return;
	}
	if (test->state == DIAGNOSTICS_TIMEOUT)
		read_time(test, data);
	if (test->state == DIAGNOSTICS_AWAIT_CODE) {
		diag_code_decode(data, &code);
		test->diag_code = code.diag_code;
	}
	enter(test, steps[test->state].next, now);
}

static void take_results(struct diagnostics_client *test, time_ns now)
{
	struct class_client_result result;

	while (class_client_take_result(&test->client, &result)) {
		if (result.outcome == CLASS_CLIENT_ANSWERED)
			take_answer(test, now, &result.message);
		else
			test->state = DIAGNOSTICS_SILENT;
	}
}

void diagnostics_client_receive(struct diagnostics_client *test, time_ns now,
				const struct mad_message *message)
{
	class_client_receive(&test->client, now, message);
	take_results(test, now);
}

static void ask(struct diagnostics_client *test, time_ns now)
{
	struct mad_message message = {.address = test->address};

	if (diagnostics_client_is_done(test) || test->is_asked || now < test->ask_at)
		return;

	const struct mad_header header = {
		.base_version = MAD_BASE_VERSION,
		.management_class = MAD_CLASS_DEVICE,
		.class_version = DEVICE_CLASS_VERSION,
		.method = steps[test->state].method,
		.attribute_id = steps[test->state].attribute_id,
		.attribute_modifier = test->slot,
	};

	mad_header_encode(&header, message.bytes);
	/* Without memory it is sent in the next turn. */
	test->is_asked = class_client_ask(&test->client, &message, (struct mad_purpose){0}) == 0;
}

unsigned diagnostics_client_transmit(struct diagnostics_client *test, time_ns now,
				     unsigned messages_max, struct mad_message ret_messages[])
{
	unsigned count;

	ask(test, now);
	count = class_client_transmit(&test->client, now, messages_max, ret_messages);
	take_results(test, now);
	return count;
}

time_ns diagnostics_client_deadline(const struct diagnostics_client *test)
{
	if (diagnostics_client_is_done(test))
		return TIME_NEVER;
	return test->is_asked ? class_client_deadline(&test->client) : test->ask_at;
}
