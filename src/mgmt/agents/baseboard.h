/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual baseboard of a node: power, VPD, sensors, attention LED, and the B_Keys of its ports
 * (management 6.2). A node has none until something asks for it, so a large fabric costs nothing.
 */
#ifndef SOFTIB_MGMT_AGENTS_BASEBOARD_H
#define SOFTIB_MGMT_AGENTS_BASEBOARD_H

#include "mgmt/agents/agents.h"
#include "mgmt/agents/baseboard_vpd.h"
#include "mgmt/agents/class_key.h"
#include "mgmt/agents/sensors.h"

/* From a command that switches power to its effect, so that the answer leaves before the links
 * fall. */
#define POWER_DELAY MILLISECONDS(100)
/* How long a reset leaves the node without power. */
#define RESET_TIME SECONDS(1)

struct baseboard {
	struct node *node;
	struct vpd vpds[VPD_COUNT]; /* module, chassis */
	struct sensor sensors[SENSOR_COUNT];
	uint8_t module_power; /* enum baseboard_power, as commanded */
	uint8_t unit_power;
	uint8_t attention;	 /* enum module_attention */
	bool bus_is_hung;	 /* IB-ML: until ResetIBML */
	enum node_power power;	 /* the present one */
	time_ns power_due_at;	 /* when the commanded power acts; TIME_NEVER: it does */
	time_ns wake_at;	 /* switches on by itself; TIME_NEVER: does not */
	struct class_key keys[]; /* [port number]: B_Keys; a switch has [0] only */
};

/* The node's baseboard. baseboard_find(): NULL if nothing asked for it yet. baseboard_of(): makes
 * it; NULL: no memory. */
struct baseboard *baseboard_find(const struct agent_memory *memory, const struct node *node);
struct baseboard *baseboard_of(struct agent_memory *memory, struct node *node);

struct class_key *baseboard_key(struct baseboard *baseboard, const struct port *port);

/* The VPD with this device selector. NULL: none. */
struct vpd *baseboard_vpd(struct baseboard *baseboard, uint8_t selector);

struct module_status baseboard_status_of(const struct baseboard *baseboard);

/* Switches module and unit. OFF and ON act after POWER_DELAY. Off: wake_after is the time until the
 * baseboard switches both on again, TIME_NEVER: it does not. */
void baseboard_set_module_power(struct baseboard *baseboard, time_ns now,
				enum baseboard_power power, time_ns wake_after);
void baseboard_set_unit_power(struct baseboard *baseboard, time_ns now, enum baseboard_power power,
			      time_ns wake_after);

/* Call it after anything may have changed the power or a sensor: sets the timer, and sends trap 260
 * for every sensor whose level is another one than the last trap told. */
void baseboard_changed(const struct agent_environment *environment, struct baseboard *baseboard,
		       time_ns now);

/* Carries out the power changes that are due. */
void baseboards_run(const struct agent_environment *environment, time_ns now);
/* Drops the baseboard of the node. NULL: of every node. */
void baseboards_forget(struct agent_memory *memory, const struct node *node);

#endif
