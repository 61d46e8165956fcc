/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one I/O unit with device management: IOUnitInfo, the profile and service entries of every
 * controller, and IOUnitInfo again (management 6.3). If ChangeID is another one then, it reads
 * again. The unit is a peer: nothing that it says is believed beyond what it shows.
 *
 *	while (unit_reader_next(reader, &request)) send it
 *	unit_reader_receive(reader, request.detail, answer)    NULL: there was no response
 */
#ifndef SOFTIB_MGMT_DEVICE_UNIT_READER_H
#define SOFTIB_MGMT_DEVICE_UNIT_READER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "wire/device_management.h"

enum { UNIT_READER_ROUNDS_MAX = 4 };

struct mad_message;

enum io_controller_state {
	IO_CONTROLLER_WORKS,
	IO_CONTROLLER_FAILED, /* its self-test failed: diag_code */
	IO_CONTROLLER_ABSENT, /* the unit lists it, but its slot does not respond */
	IO_CONTROLLER_SILENT, /* the unit did not respond to a request about it */
	IO_CONTROLLER_REFUSED,
};

struct io_found_controller {
	struct list wanting_link; /* in the reader, while requests about it are to be sent */
	uint8_t slot;
	enum io_controller_state state;
	uint16_t diag_code;
	struct io_controller_profile profile;
	char id_string[IO_ID_STRING_BYTES + 1];
	struct io_service_entry *services; /* those that are well formed and occur once */
	unsigned service_count;
	unsigned bad_service_count; /* entries that are malformed, missing or repeat another one */
	unsigned next_service;	    /* the first that was not asked for yet */
};

enum unit_reader_state {
	UNIT_READER_BEGINS,
	UNIT_READER_AWAITS_INFO,
	UNIT_READER_READS,
	UNIT_READER_CHECKS, /* whether ChangeID is still the same */
	UNIT_READER_AWAITS_CHECK,
	UNIT_READER_DONE,
	UNIT_READER_SILENT,   /* no response */
	UNIT_READER_REFUSED,  /* the unit refused IOUnitInfo, or answered nonsense */
	UNIT_READER_UNSTEADY, /* the unit changed in every round; the last one is shown */
};

struct unit_reader {
	enum unit_reader_state state;
	unsigned round;
	unsigned under_way; /* requests */
	struct io_unit_info info;
	uint8_t info_data[IO_UNIT_INFO_TOTAL_BYTES];
	struct io_found_controller *controllers;
	unsigned controller_count;
	unsigned next_controller; /* the first whose profile was not asked for yet */
	bool lists_impossible_slots;
	struct list wanting;	 /* controllers with requests to send */
	unsigned *services_left; /* how many more services may be kept */
};

struct unit_request {
	uint16_t attribute_id;
	uint32_t attribute_modifier;
	uint32_t detail; /* for unit_reader_receive() */
};

/* services_left is shared between readers. */
void unit_reader_init(struct unit_reader *reader, unsigned *services_left);
void unit_reader_release(struct unit_reader *reader);

/* false: nothing to send now. */
MUST_USE bool unit_reader_next(struct unit_reader *reader, struct unit_request *ret_request);
bool unit_reader_has_next(const struct unit_reader *reader);
void unit_reader_receive(struct unit_reader *reader, uint32_t detail,
			 const struct mad_message *answer);
bool unit_reader_is_done(const struct unit_reader *reader);

#endif
