/* SPDX-License-Identifier: Apache-2.0 */
/* The device management agent of a node: its I/O unit, controllers, service entries and self-tests
 * (management 6.3). The class has no key of its own. */
#include "mgmt/agents/gs_agent.h"

#include <string.h>
#include "mgmt/agents/class_notices.h"
#include "mgmt/agents/class_port_infos.h"
#include "mgmt/agents/io_unit.h"

/* IsTrapSupported and IsGetSetNoticeSupported of ClassPortInfo. */
enum { CAPABILITIES = 1 << 0 | 1 << 1 };

static enum mad_status class_port_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	return class_port_info_show(request, CAPABILITIES, ret_data);
}

static enum mad_status class_port_info_set(const struct gs_request *request, uint8_t *ret_data)
{
	return class_port_info_change(request, CAPABILITIES, ret_data);
}

static struct io_unit *unit_of(const struct gs_request *request)
{
	return io_unit_find(request->environment->memory, request->node);
}

static enum mad_status io_unit_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	const struct io_unit *unit = unit_of(request);
	const struct io_unit_info info = {
		.change_id = unit ? unit->change_id : 0,
		.max_controllers = io_unit_slot_count(request->environment->memory, request->node),
		.diag_device_id = 1,
	};

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	io_unit_info_encode(&info, ret_data);
	memset(ret_data + IO_CONTROLLER_LIST_OFFSET, IO_SLOT_NONE << 4 | IO_SLOT_NONE,
	       IO_CONTROLLER_LIST_BYTES);
	for (unsigned slot = 1; slot <= info.max_controllers; slot++)
		io_slot_state_put(ret_data, slot,
				  io_unit_powered(unit, slot) ? IO_SLOT_HAS_CONTROLLER
							      : IO_SLOT_EMPTY);
	return MAD_STATUS_OK;
}

/* A slot that the unit does not have is a wrong modifier; an empty one does not respond. */
static enum mad_status find_controller(const struct gs_request *request, uint32_t slot,
				       struct io_controller **ret_controller)
{
	if (slot < 1 || slot > io_unit_slot_count(request->environment->memory, request->node))
		return MAD_STATUS_BAD_FIELD;
	*ret_controller = io_unit_powered(unit_of(request), slot);
	return *ret_controller ? MAD_STATUS_OK : (enum mad_status)DEVICE_STATUS_NO_RESPONSE;
}

/* After a self-test that failed, a controller shows nothing but its DiagCode. */
static enum mad_status find_working(const struct gs_request *request, uint32_t slot,
				    struct io_controller **ret_controller)
{
	enum mad_status status = find_controller(request, slot, ret_controller);

	if (status == MAD_STATUS_OK && (*ret_controller)->test.diag_code != DIAG_CODE_PASSED)
		return (enum mad_status)DEVICE_STATUS_CONTROLLER_FAILURE;
	return status;
}

static enum mad_status profile_get(const struct gs_request *request, uint8_t *ret_data)
{
	struct io_controller *controller;
	enum mad_status status =
		find_working(request, request->header.attribute_modifier, &controller);

	if (status != MAD_STATUS_OK)
		return status;
	io_controller_profile_encode(&controller->profile, ret_data);
	memcpy(ret_data + IO_ID_STRING_OFFSET, controller->id_string,
	       strnlen(controller->id_string, IO_ID_STRING_BYTES));
	return MAD_STATUS_OK;
}

static enum mad_status service_entries_get(const struct gs_request *request, uint8_t *ret_data)
{
	struct io_controller *controller;
	struct io_service_range range;
	enum mad_status status;

	if (!io_service_range_decode(request->header.attribute_modifier, &range))
		return MAD_STATUS_BAD_FIELD;
	status = find_working(request, range.slot, &controller);
	if (status != MAD_STATUS_OK)
		return status;
	if (range.last >= controller->profile.service_entries)
		return (enum mad_status)DEVICE_STATUS_NO_SERVICE_ENTRIES;
	for (unsigned i = 0; i <= (unsigned)(range.last - range.first); i++)
		io_service_entry_encode(&controller->services[range.first + i],
					ret_data + (size_t)i * IO_SERVICE_ENTRY_BYTES);
	return MAD_STATUS_OK;
}

/* Slot 0 is the whole unit. Its controllers are tested in parallel, so it takes as long as one. */
static enum mad_status diagnostic_timeout_get(const struct gs_request *request, uint8_t *ret_data)
{
	static const struct diagnostic_timeout timeout = {.max_diag_time_ms = IO_TEST_TIME_MAX_MS};
	struct io_controller *controller;
	uint32_t slot = request->header.attribute_modifier;
	enum mad_status status = slot ? find_controller(request, slot, &controller) : MAD_STATUS_OK;

	if (status == MAD_STATUS_OK)
		diagnostic_timeout_encode(&timeout, ret_data);
	return status;
}

static enum mad_status find_test(const struct gs_request *request, struct io_diagnostics **ret_test)
{
	struct io_controller *controller;
	enum mad_status status =
		find_controller(request, request->header.attribute_modifier, &controller);

	if (status == MAD_STATUS_OK)
		*ret_test = &controller->test;
	return status;
}

static enum mad_status prepare_to_test_get(const struct gs_request *request, uint8_t *ret_data)
{
	struct io_diagnostics *test;
	enum mad_status status = find_test(request, &test);

	(void)ret_data;
	return status == MAD_STATUS_OK ? io_diagnostics_is_prepared(test) : status;
}

/* Wakes the unit when the test's state ends. */
static void schedule(const struct gs_request *request, const struct io_diagnostics *test)
{
	struct agent_memory *memory = request->environment->memory;

	memory->io_units_due_at = time_earlier(memory->io_units_due_at, test->due_at);
}

static enum mad_status prepare_to_test_set(const struct gs_request *request, uint8_t *ret_data)
{
	struct io_diagnostics *test;
	enum mad_status status = find_test(request, &test);

	(void)ret_data;
	if (status != MAD_STATUS_OK)
		return status;
	status = io_diagnostics_prepare(test, request->now);
	schedule(request, test);
	return status;
}

static enum mad_status start_test(const struct gs_request *request, enum io_test_state once_or_loop)
{
	struct io_diagnostics *test;
	enum mad_status status = find_test(request, &test);

	if (status != MAD_STATUS_OK)
		return status;
	status = io_diagnostics_start(test, request->now, once_or_loop);
	schedule(request, test);
	return status;
}

static enum mad_status test_once_set(const struct gs_request *request, uint8_t *ret_data)
{
	(void)ret_data;
	return start_test(request, IO_TEST_ONCE);
}

static enum mad_status test_loop_set(const struct gs_request *request, uint8_t *ret_data)
{
	(void)ret_data;
	return start_test(request, IO_TEST_LOOP);
}

static enum mad_status diag_code_get(const struct gs_request *request, uint8_t *ret_data)
{
	struct io_diagnostics *test;
	struct diag_code code = {0};
	enum mad_status status = find_test(request, &test);

	if (status == MAD_STATUS_OK)
		status = io_diagnostics_code(test, &code.diag_code);
	if (status == MAD_STATUS_OK)
		diag_code_encode(&code, ret_data);
	return status;
}

static const struct gs_attribute device_rows[] = {
	{ATTRIBUTE_CLASS_PORT_INFO, class_port_info_get, class_port_info_set},
	{ATTRIBUTE_NOTICE, class_notice_get, class_notice_set},
	{ATTRIBUTE_IO_UNIT_INFO, io_unit_info_get, NULL},
	{ATTRIBUTE_IO_CONTROLLER_PROFILE, profile_get, NULL},
	{ATTRIBUTE_SERVICE_ENTRIES, service_entries_get, NULL},
	{ATTRIBUTE_DIAGNOSTIC_TIMEOUT, diagnostic_timeout_get, NULL},
	{ATTRIBUTE_PREPARE_TO_TEST, prepare_to_test_get, prepare_to_test_set},
	{ATTRIBUTE_TEST_DEVICE_ONCE, NULL, test_once_set},
	{ATTRIBUTE_TEST_DEVICE_LOOP, NULL, test_loop_set},
	{ATTRIBUTE_DIAG_CODE, diag_code_get, NULL},
};
const struct gs_attributes device_attributes = {device_rows, ARRAY_COUNT(device_rows)};
