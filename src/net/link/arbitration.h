/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the data VL of a port that sends next: two tables of weighted entries and the limit of
 * high priority (vol 1, chapter 7, VL arbitration and prioritization; transport 8.2).
 */
#ifndef SOFTIB_NET_LINK_ARBITRATION_H
#define SOFTIB_NET_LINK_ARBITRATION_H

#include <stdbool.h>
#include <stdint.h>

struct port;

enum arbitration_table { TABLE_LOW, TABLE_HIGH, TABLE_COUNT };

struct vl_arbiter {
	uint8_t entry[TABLE_COUNT];  /* the present entry of each table */
	uint8_t lane[TABLE_COUNT];   /* its VL; VL_MANAGEMENT: not known yet */
	uint8_t weight[TABLE_COUNT]; /* its weight */
	bool has_read_tables;	     /* lanes and lone_lanes are valid, up to entry_caps */
	uint8_t entry_caps[TABLE_COUNT];
	uint16_t lanes[TABLE_COUNT];	  /* a bit per VL that has any weight */
	uint16_t lone_lanes[TABLE_COUNT]; /* the VLs that have one entry only */
	int32_t left[TABLE_COUNT];	  /* bytes that the present entry may still send */
	int32_t high_left; /* bytes that high priority may send until low priority has its turn */
};

struct arbitration {
	int vl; /* negative: none can send */
	enum arbitration_table table;
};

/* ready: a bit per VL that has a frame and the credits for it. */
struct arbitration port_arbitrate(struct port *port, uint16_t ready);

/* Changes one entry of a table. */
void port_arbitration_set(struct port *port, enum arbitration_table table, unsigned entry,
			  uint8_t vl, uint8_t weight);

/* The chosen frame takes this many blocks of 64 bytes. */
void port_arbitration_charge(struct port *port, enum arbitration_table table, uint32_t blocks);

#endif
