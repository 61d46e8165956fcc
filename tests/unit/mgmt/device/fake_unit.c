/* SPDX-License-Identifier: Apache-2.0 */
/* An I/O unit for tests. */
#include "fake_unit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"

void fake_unit_init(struct fake_unit *unit, uint8_t max_controllers)
{
	*unit = (struct fake_unit){.max_controllers = max_controllers, .change_id = 1};
	for (unsigned slot = 1; slot <= IO_SLOTS_MAX; slot++)
		unit->slot_states[slot] = slot <= max_controllers ? IO_SLOT_EMPTY : IO_SLOT_NONE;
}

void fake_unit_plug(struct fake_unit *unit, unsigned slot, uint8_t service_count)
{
	unit->slot_states[slot] = IO_SLOT_HAS_CONTROLLER;
	unit->controllers[slot] = (struct fake_controller){
		.is_there = true, .services_told = service_count, .services_there = service_count};
	unit->change_id++;
}

static uint16_t show_info(const struct fake_unit *unit, uint8_t *data)
{
	const struct io_unit_info info = {.change_id = unit->change_id,
					  .max_controllers = unit->max_controllers};

	io_unit_info_encode(&info, data);
	for (unsigned slot = 1; slot <= IO_SLOTS_MAX; slot++)
		io_slot_state_put(data, slot, (enum io_slot_state)unit->slot_states[slot]);
	return unit->info_status;
}

static uint16_t show_profile(const struct fake_controller *controller, unsigned slot, uint8_t *data)
{
	struct io_controller_profile profile = {.guid = 0xc000 + slot,
						.service_entries = controller->services_told};

	if (controller->is_storage) {
		profile.io_class = 0x0100;
		profile.io_subclass = 0x609e;
		profile.protocol = 0x0108;
		profile.protocol_version = 1;
	}
	io_controller_profile_encode(&profile, data);
	snprintf((char *)data + IO_ID_STRING_OFFSET, IO_ID_STRING_BYTES, "controller %u", slot);
	return controller->status;
}

static uint16_t show_services(const struct fake_controller *controller, unsigned slot,
			      const struct io_service_range *range, uint8_t *data)
{
	if (range->last >= controller->services_there)
		return DEVICE_STATUS_NO_SERVICE_ENTRIES;
	for (unsigned i = range->first; i <= range->last; i++, data += IO_SERVICE_ENTRY_BYTES) {
		struct io_service_entry entry = {.id = slot << 8 |
						       (controller->repeats_services ? 0 : i)};

		snprintf(entry.name, sizeof(entry.name), "%s%016x",
			 controller->is_storage ? "SRP.T10:" : "service", i);
		io_service_entry_encode(&entry, data);
		if (controller->has_endless_names)
			memset(data, 'n', IO_SERVICE_NAME_BYTES);
	}
	return controller->status;
}

static uint16_t show(const struct fake_unit *unit, const struct mad_header *header, uint8_t *data)
{
	struct io_service_range range = {.slot = (uint8_t)header->attribute_modifier};

	if (header->attribute_id == ATTRIBUTE_IO_UNIT_INFO)
		return show_info(unit, data);
	if (header->attribute_id == ATTRIBUTE_SERVICE_ENTRIES)
		assert_true(io_service_range_decode(header->attribute_modifier, &range));

	const struct fake_controller *controller = &unit->controllers[range.slot];

	if (!controller->is_there)
		return DEVICE_STATUS_NO_RESPONSE;
	switch (header->attribute_id) {
	case ATTRIBUTE_IO_CONTROLLER_PROFILE:
		return show_profile(controller, range.slot, data);
	case ATTRIBUTE_SERVICE_ENTRIES:
		return show_services(controller, range.slot, &range, data);
	case ATTRIBUTE_DIAG_CODE:
		put_be16(data, 0x4321);
		return MAD_STATUS_OK;
	default:
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	}
}

void fake_unit_answer(struct fake_unit *unit, const struct mad_message *request,
		      struct mad_message *ret_answer)
{
	struct mad_header header;

	*ret_answer = *request;
	assert_true(mad_header_decode(request->bytes, MAD_BYTES, &header));
	assert_int_equal(header.management_class, MAD_CLASS_DEVICE);
	memset(ret_answer->bytes + DEVICE_DATA_OFFSET, 0, DEVICE_DATA_BYTES);
	if (unit->redirect) {
		header.attribute_id = ATTRIBUTE_CLASS_PORT_INFO;
		header.status = MAD_STATUS_REDIRECT;
		class_port_info_encode(unit->redirect, ret_answer->bytes + DEVICE_DATA_OFFSET);
	} else {
		header.status = show(unit, &header, ret_answer->bytes + DEVICE_DATA_OFFSET);
	}
	header.method = MAD_GET_RESPONSE;
	mad_header_encode(&header, ret_answer->bytes);
	unit->request_count++;
	if (unit->changes_after && unit->request_count % unit->changes_after == 0)
		unit->change_id++;
}
