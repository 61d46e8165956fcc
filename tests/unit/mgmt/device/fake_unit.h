/* SPDX-License-Identifier: Apache-2.0 */
/* An I/O unit for tests that answers device management, truthfully or not. */
#ifndef SOFTIB_TESTS_UNIT_MGMT_DEVICE_FAKE_UNIT_H
#define SOFTIB_TESTS_UNIT_MGMT_DEVICE_FAKE_UNIT_H

#include <stdbool.h>
#include "mgmt/mad/mad_message.h"
#include "wire/class_port_info.h"
#include "wire/device_management.h"

struct fake_controller {
	bool is_there;
	uint16_t status;	/* of every response about it but DiagCode */
	uint8_t services_told;	/* in its profile */
	uint8_t services_there; /* that it has */
	bool repeats_services;	/* every service has the ID of the first one */
	bool has_endless_names; /* names without terminator */
	bool is_storage;	/* an SRP target */
};

struct fake_unit {
	uint16_t change_id;
	uint8_t max_controllers;
	uint8_t slot_states[IO_SLOTS_MAX + 1];
	struct fake_controller controllers[IO_SLOTS_MAX + 1];
	uint16_t info_status;
	const struct class_port_info *redirect; /* NULL: it answers itself */
	unsigned changes_after;			/* requests; 0: never changes */
	unsigned request_count;
};

void fake_unit_init(struct fake_unit *unit, uint8_t max_controllers);
/* A truthful controller. Its services have the IDs slot << 8 | index. */
void fake_unit_plug(struct fake_unit *unit, unsigned slot, uint8_t service_count);

void fake_unit_answer(struct fake_unit *unit, const struct mad_message *request,
		      struct mad_message *ret_answer);

#endif
