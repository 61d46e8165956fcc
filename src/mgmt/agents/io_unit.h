/* SPDX-License-Identifier: Apache-2.0 */
/* The I/O unit of a node: slots, and the controllers that are plugged into them (management 6.3). A
 * target channel adapter always has a unit. Any other adapter has one from its first controller on.
 */
#ifndef SOFTIB_MGMT_AGENTS_IO_UNIT_H
#define SOFTIB_MGMT_AGENTS_IO_UNIT_H

#include "mgmt/agents/agents.h"
#include "mgmt/agents/io_diagnostics.h"
#include "wire/baseboard.h"
#include "wire/device_management.h"

enum { IO_SLOTS_DEFAULT = 16 };

struct io_controller {
	struct io_controller_profile profile;
	char id_string[IO_ID_STRING_BYTES]; /* ended by a zero */
	struct io_service_entry *services;  /* profile.service_entries of them */
	const void *owner;		    /* whose end pulls the controller; NULL: nobody's */
	uint8_t power;			    /* enum baseboard_power */
	struct io_diagnostics test;
};

struct io_unit {
	struct node *node;
	uint16_t change_id;
	uint8_t slot_count;				     /* MaxControllers */
	struct io_controller *controllers[IO_SLOTS_MAX + 1]; /* [slot]; NULL: empty */
	unsigned controller_count;
	/* Notices about changes keep the minimum distance (management 5.3). */
	time_ns notice_due_at;
	bool has_untold_change;
};

/* NULL: the node has none yet. */
struct io_unit *io_unit_find(const struct agent_memory *memory, const struct node *node);
/* MaxControllers of the node: of its unit, or of the one that it would get. */
uint8_t io_unit_slot_count(const struct agent_memory *memory, const struct node *node);

/* Gives the node's unit so many slots. -EINVAL: not an adapter, none or more than IO_SLOTS_MAX;
 * -EBUSY: a controller is in a slot beyond; -ENOMEM. */
MUST_USE int io_unit_set_slots(const struct agent_environment *environment, struct node *node,
			       time_ns now, unsigned slot_count);

/* Plugs a copy of the controller. Slot 0: the first free one. GUID 0: made of the node's GUID and
 * the slot. -EINVAL: not an adapter, no such slot, a name or ID string without end or with bytes
 * that are not printable, two services with one name; -EBUSY: the slot is taken; -ENOSPC: no slot
 * is free; -EEXIST: the GUID is taken; -EADDRINUSE: a service ID of the unit occurs twice, so that
 * a connection would reach the wrong controller; -ENOMEM. */
MUST_USE int io_unit_plug(const struct agent_environment *environment, struct node *node,
			  time_ns now, const struct io_controller *controller, unsigned slot,
			  unsigned *ret_slot);
/* -ENOENT: there is no controller in this slot. */
MUST_USE int io_unit_pull(const struct agent_environment *environment, struct node *node,
			  time_ns now, unsigned slot);
/* Pulls every controller of this owner. */
void io_units_pull_owned(const struct agent_environment *environment, time_ns now,
			 const void *owner);

/* The controller in this slot; NULL: none. */
struct io_controller *io_unit_controller(const struct io_unit *unit, unsigned slot);
/* The same; NULL also where the controller is switched off: device management sees an empty slot.
 */
struct io_controller *io_unit_powered(const struct io_unit *unit, unsigned slot);

/* Switches a controller (SetIOCPMControl, management 6.2). Off: its slot shows as empty, which is a
 * change of the unit, its self-test ends, and nobody can connect to its services. -ENOENT: there is
 * no controller in this slot. */
MUST_USE int io_unit_set_power(struct agent_memory *memory, const struct node *node, time_ns now,
			       unsigned slot, enum baseboard_power power);
/* Whether the service is one of a controller that is switched off. */
bool io_unit_lacks_power_for(const struct agent_memory *memory, const struct node *node,
			     uint64_t service_id);

/* Runs self-tests and sends notices that are due. */
void io_units_run(struct agent_memory *memory, time_ns now);
void io_units_forget(struct agent_memory *memory, const struct node *node);

#endif
