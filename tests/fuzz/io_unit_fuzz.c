/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: an I/O unit that answers device management with anything. Reading it ends after a
 * bounded number of requests, keeps no more than it may, and every text that it keeps is printable.
 *
 * The input is a sequence of answers: a byte that chooses the kind of answer, then a length and as
 * many bytes of data. After the input the unit is silent.
 */
#include "fuzz/fuzz.h"

#include <string.h>
#include "base/bytes.h"
#include "mgmt/device/io_drivers.h"
#include "mgmt/mad/mad_message.h"

enum { REQUESTS_MAX = 4 * (2 + 255 * (1 + 64 + 1)), SERVICES_MAX = 512, UNDER_WAY_MAX = 64 };

static const uint16_t statuses[] = {0,
				    0,
				    0,
				    0,
				    DEVICE_STATUS_NO_RESPONSE,
				    DEVICE_STATUS_NO_SERVICE_ENTRIES,
				    DEVICE_STATUS_CONTROLLER_FAILURE,
				    MAD_STATUS_BUSY};

static const uint8_t *input, *input_end;

/* Whether there is an answer. */
static bool next_answer(struct mad_message *ret_answer)
{
	size_t data_bytes;

	if (input_end - input < 2)
		return false;
	memset(ret_answer, 0, sizeof(*ret_answer));
	put_be16(ret_answer->bytes + MAD_STATUS_OFFSET,
		 statuses[input[0] % (sizeof(statuses) / sizeof(statuses[0]))]);
	/* Some data are repeated all over the attribute, so that few bytes make a full unit. */
	data_bytes = input[1] % (DEVICE_DATA_BYTES + 1);
	if (data_bytes > (size_t)(input_end - input) - 2)
		data_bytes = (size_t)(input_end - input) - 2;
	for (unsigned i = 0; data_bytes && i < DEVICE_DATA_BYTES; i++)
		if (i < data_bytes || input[0] & 0x80)
			ret_answer->bytes[DEVICE_DATA_OFFSET + i] = input[2 + i % data_bytes];
	input += 2 + data_bytes;
	return true;
}

static void check_text(const char *text, size_t room)
{
	MUST_HOLD(strnlen(text, room) < room);
	for (; *text; text++)
		MUST_HOLD(*text >= ' ' && *text <= '~');
}

static void check(const struct unit_reader *reader)
{
	unsigned kept = 0;

	MUST_HOLD(reader->controller_count <= reader->info.max_controllers);
	for (unsigned i = 0; i < reader->controller_count; i++) {
		const struct io_found_controller *controller = &reader->controllers[i];

		MUST_HOLD(controller->slot >= 1);
		MUST_HOLD(i == 0 || controller->slot > controller[-1].slot);
		check_text(controller->id_string, sizeof(controller->id_string));
		for (unsigned s = 0; s < controller->service_count; s++)
			check_text(controller->services[s].name,
				   sizeof(controller->services[s].name));
		MUST_HOLD(controller->service_count + controller->bad_service_count <=
			  controller->profile.service_entries);
		kept += controller->service_count;
		(void)io_driver_name(io_driver_for(controller));
	}
	MUST_HOLD(kept + *reader->services_left == SERVICES_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	struct unit_request requests[UNDER_WAY_MAX];
	unsigned services_left = SERVICES_MAX, request_count = 0;
	struct unit_reader reader;

	input = bytes;
	input_end = bytes + byte_count;
	unit_reader_init(&reader, &services_left);
	while (!unit_reader_is_done(&reader)) {
		unsigned count = 0;

		while (count < UNDER_WAY_MAX && unit_reader_next(&reader, &requests[count]))
			count++;
		MUST_HOLD(count > 0);
		request_count += count;
		MUST_HOLD(request_count <= REQUESTS_MAX);
		while (count) {
			struct mad_message answer;
			bool is_there = next_answer(&answer);

			unit_reader_receive(&reader, requests[--count].detail,
					    is_there ? &answer : NULL);
		}
	}
	check(&reader);
	unit_reader_release(&reader);
	MUST_HOLD(services_left == SERVICES_MAX);
	return 0;
}
