/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one I/O unit with device management (management 6.3). */
#include "mgmt/device/unit_reader.h"

#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "mgmt/mad/mad_message.h"

/* A detail is the kind of the request, the index of the controller and the first service entry. */
enum request_kind { REQUEST_INFO, REQUEST_PROFILE, REQUEST_SERVICES, REQUEST_DIAG, REQUEST_CHECK };

static uint32_t detail_make(enum request_kind kind, unsigned index, unsigned first)
{
	return (uint32_t)kind << 16 | index << 8 | first;
}

void unit_reader_init(struct unit_reader *reader, unsigned *services_left)
{
	*reader = (struct unit_reader){.state = UNIT_READER_BEGINS, .services_left = services_left};
	list_init(&reader->wanting);
}

static void forget_controllers(struct unit_reader *reader)
{
	for (unsigned i = 0; i < reader->controller_count; i++) {
		*reader->services_left += reader->controllers[i].service_count;
		free(reader->controllers[i].services);
	}
	free(reader->controllers);
	reader->controllers = NULL;
	reader->controller_count = 0;
	reader->next_controller = 0;
	list_init(&reader->wanting);
}

void unit_reader_release(struct unit_reader *reader)
{
	forget_controllers(reader);
}

bool unit_reader_is_done(const struct unit_reader *reader)
{
	return reader->state >= UNIT_READER_DONE;
}

bool unit_reader_has_next(const struct unit_reader *reader)
{
	switch (reader->state) {
	case UNIT_READER_BEGINS:
	case UNIT_READER_CHECKS:
		return true;
	case UNIT_READER_READS:
		return !list_is_empty(&reader->wanting) ||
		       reader->next_controller < reader->controller_count;
	case UNIT_READER_AWAITS_INFO:
	case UNIT_READER_AWAITS_CHECK:
	case UNIT_READER_DONE:
	case UNIT_READER_SILENT:
	case UNIT_READER_REFUSED:
	case UNIT_READER_UNSTEADY:
		break;
	}
	return false;
}

static struct unit_request ask_services(struct unit_reader *reader,
					struct io_found_controller *controller)
{
	unsigned first = controller->next_service;
	unsigned last = first + IO_SERVICES_PER_MAD - 1;
	struct io_service_range range = {.slot = controller->slot, .first = (uint8_t)first};

	if (last >= controller->profile.service_entries)
		last = controller->profile.service_entries - 1u;
	range.last = (uint8_t)last;
	controller->next_service = last + 1;
	if (controller->next_service >= controller->profile.service_entries)
		list_remove(&controller->wanting_link);
	return (struct unit_request){
		.attribute_id = ATTRIBUTE_SERVICE_ENTRIES,
		.attribute_modifier = io_service_range_encode(&range),
		.detail = detail_make(REQUEST_SERVICES,
				      (unsigned)(controller - reader->controllers), first),
	};
}

static struct unit_request ask_about(struct unit_reader *reader)
{
	struct list *link = list_first(&reader->wanting);
	struct io_found_controller *controller;

	if (!link) {
		unsigned index = reader->next_controller++;

		return (struct unit_request){
			.attribute_id = ATTRIBUTE_IO_CONTROLLER_PROFILE,
			.attribute_modifier = reader->controllers[index].slot,
			.detail = detail_make(REQUEST_PROFILE, index, 0),
		};
	}
	controller = container_of(link, struct io_found_controller, wanting_link);
	if (controller->state == IO_CONTROLLER_WORKS)
		return ask_services(reader, controller);
	list_remove(link);
	return (struct unit_request){
		.attribute_id = ATTRIBUTE_DIAG_CODE,
		.attribute_modifier = controller->slot,
		.detail =
			detail_make(REQUEST_DIAG, (unsigned)(controller - reader->controllers), 0),
	};
}

bool unit_reader_next(struct unit_reader *reader, struct unit_request *ret_request)
{
	bool begins = reader->state == UNIT_READER_BEGINS;

	if (!unit_reader_has_next(reader))
		return false;
	if (begins || reader->state == UNIT_READER_CHECKS) {
		reader->state = begins ? UNIT_READER_AWAITS_INFO : UNIT_READER_AWAITS_CHECK;
		*ret_request = (struct unit_request){
			.attribute_id = ATTRIBUTE_IO_UNIT_INFO,
			.detail = detail_make(begins ? REQUEST_INFO : REQUEST_CHECK, 0, 0),
		};
	} else {
		*ret_request = ask_about(reader);
	}
	reader->under_way++;
	return true;
}

/* The slots that exist and have a controller. */
static bool slot_has_controller(const struct unit_reader *reader, unsigned slot)
{
	return slot <= reader->info.max_controllers &&
	       io_slot_state_get(reader->info_data, slot) == IO_SLOT_HAS_CONTROLLER;
}

static bool slot_is_impossible(const struct unit_reader *reader, unsigned slot)
{
	unsigned state = io_slot_state_get(reader->info_data, slot);

	if (slot > reader->info.max_controllers)
		return state == IO_SLOT_HAS_CONTROLLER;
	return state != IO_SLOT_EMPTY && state != IO_SLOT_HAS_CONTROLLER && state != IO_SLOT_NONE;
}

static void begin_round(struct unit_reader *reader, const uint8_t *data)
{
	unsigned count = 0;

	forget_controllers(reader);
	reader->round++;
	memcpy(reader->info_data, data, sizeof(reader->info_data));
	io_unit_info_decode(data, &reader->info);
	reader->lists_impossible_slots = false;
	for (unsigned slot = 1; slot <= IO_SLOTS_MAX; slot++) {
		count += slot_has_controller(reader, slot);
		reader->lists_impossible_slots |= slot_is_impossible(reader, slot);
	}
	reader->state = UNIT_READER_DONE;
	if (!count)
		return;
	reader->controllers = calloc(count, sizeof(reader->controllers[0]));
	if (!reader->controllers) {
		reader->state = UNIT_READER_REFUSED;
		return;
	}
	for (unsigned slot = 1; slot <= IO_SLOTS_MAX; slot++) {
		if (!slot_has_controller(reader, slot))
			continue;
		list_init(&reader->controllers[reader->controller_count].wanting_link);
		reader->controllers[reader->controller_count++].slot = (uint8_t)slot;
	}
	reader->state = UNIT_READER_READS;
}

static uint16_t status_of(const struct mad_message *answer)
{
	return get_be16(answer->bytes + MAD_STATUS_OFFSET);
}

static const uint8_t *data_of(const struct mad_message *answer)
{
	return answer->bytes + DEVICE_DATA_OFFSET;
}

/* Whether the response shows the attribute. If not, says why in the controller's state. */
static bool is_shown(struct io_found_controller *controller, const struct mad_message *answer)
{
	if (!answer)
		controller->state = IO_CONTROLLER_SILENT;
	else if (status_of(answer) == DEVICE_STATUS_NO_RESPONSE)
		controller->state = IO_CONTROLLER_ABSENT;
	else if (status_of(answer) == DEVICE_STATUS_CONTROLLER_FAILURE)
		controller->state = IO_CONTROLLER_FAILED;
	else if (status_of(answer) != MAD_STATUS_OK)
		controller->state = IO_CONTROLLER_REFUSED;
	else
		return true;
	return false;
}

static void take_profile(struct unit_reader *reader, struct io_found_controller *controller,
			 const struct mad_message *answer)
{
	if (is_shown(controller, answer)) {
		io_controller_profile_decode(data_of(answer), &controller->profile);
		io_text_decode(data_of(answer) + IO_ID_STRING_OFFSET, IO_ID_STRING_BYTES,
			       controller->id_string);
		if (controller->profile.service_entries)
			list_append(&reader->wanting, &controller->wanting_link);
	} else if (controller->state == IO_CONTROLLER_FAILED) {
		list_append(&reader->wanting, &controller->wanting_link);
	}
}

static bool has_service(const struct io_found_controller *controller,
			const struct io_service_entry *entry)
{
	for (unsigned i = 0; i < controller->service_count; i++) {
		if (controller->services[i].id == entry->id ||
		    strcmp(controller->services[i].name, entry->name) == 0)
			return true;
	}
	return false;
}

static void keep_service(struct unit_reader *reader, struct io_found_controller *controller,
			 const uint8_t *bytes)
{
	struct io_service_entry entry;
	struct io_service_entry *larger;

	if (!io_service_entry_decode(bytes, &entry) || !entry.name[0] ||
	    has_service(controller, &entry) || !*reader->services_left) {
		controller->bad_service_count++;
		return;
	}
	larger = realloc(controller->services, (controller->service_count + 1) * sizeof(*larger));
	if (!larger) {
		controller->bad_service_count++;
		return;
	}
	controller->services = larger;
	controller->services[controller->service_count++] = entry;
	--*reader->services_left;
}

static void take_services(struct unit_reader *reader, struct io_found_controller *controller,
			  unsigned first, const struct mad_message *answer)
{
	unsigned count = controller->profile.service_entries - first;

	if (count > IO_SERVICES_PER_MAD)
		count = IO_SERVICES_PER_MAD;
	/* The profile counted entries that the controller does not have. */
	if (answer && (status_of(answer) == DEVICE_STATUS_NO_SERVICE_ENTRIES ||
		       status_of(answer) == MAD_STATUS_BAD_FIELD)) {
		controller->bad_service_count += count;
		return;
	}
	if (!is_shown(controller, answer)) {
		list_remove(&controller->wanting_link);
		if (controller->state == IO_CONTROLLER_FAILED)
			list_append(&reader->wanting, &controller->wanting_link);
		return;
	}
	for (unsigned i = 0; i < count; i++)
		keep_service(reader, controller,
			     data_of(answer) + (size_t)i * IO_SERVICE_ENTRY_BYTES);
}

static void take_diag_code(struct io_found_controller *controller, const struct mad_message *answer)
{
	struct diag_code code;

	if (!answer || status_of(answer) != MAD_STATUS_OK)
		return;
	diag_code_decode(data_of(answer), &code);
	controller->diag_code = code.diag_code;
}

/* The unit is read when the last IOUnitInfo equals the first one. */
static void take_info(struct unit_reader *reader, enum request_kind kind,
		      const struct mad_message *answer)
{
	if (!answer)
		reader->state = UNIT_READER_SILENT;
	else if (status_of(answer) != MAD_STATUS_OK)
		reader->state = UNIT_READER_REFUSED;
	else if (kind == REQUEST_INFO)
		begin_round(reader, data_of(answer));
	else if (memcmp(reader->info_data, data_of(answer), sizeof(reader->info_data)) == 0)
		reader->state = UNIT_READER_DONE;
	else if (reader->round == UNIT_READER_ROUNDS_MAX)
		reader->state = UNIT_READER_UNSTEADY;
	else
		begin_round(reader, data_of(answer));
}

void unit_reader_receive(struct unit_reader *reader, uint32_t detail,
			 const struct mad_message *answer)
{
	enum request_kind kind = (enum request_kind)(detail >> 16);
	unsigned index = detail >> 8 & 0xff;
	struct io_found_controller *controller =
		index < reader->controller_count ? &reader->controllers[index] : NULL;

	reader->under_way--;
	if (kind == REQUEST_INFO || kind == REQUEST_CHECK)
		take_info(reader, kind, answer);
	else if (kind == REQUEST_PROFILE)
		take_profile(reader, controller, answer);
	else if (kind == REQUEST_SERVICES)
		take_services(reader, controller, detail & 0xff, answer);
	else
		take_diag_code(controller, answer);
	if (reader->state == UNIT_READER_READS && !reader->under_way &&
	    !unit_reader_has_next(reader))
		reader->state = UNIT_READER_CHECKS;
}
