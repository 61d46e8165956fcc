/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which data lane of a port sends next: two tables of weighted entries and the limit of high
 * priority (vol 1, chapter 7, VL arbitration and prioritization).
 */
#ifndef SOFTIB_NET_LINK_ARBITRATION_H
#define SOFTIB_NET_LINK_ARBITRATION_H

#include <stdint.h>

struct port;

enum arbitration_table { TABLE_LOW, TABLE_HIGH, TABLE_COUNT };

struct vl_arbiter {
	uint8_t entry[TABLE_COUNT]; /* present entry of the table */
	int32_t left[TABLE_COUNT];  /* bytes that it may still send */
	int32_t high_left;	    /* bytes of high priority until low has its turn */
};

struct arbitration {
	int vl; /* negative: none can go */
	enum arbitration_table table;
};

/* ready: a bit per lane that has a frame and the credits for it. */
struct arbitration port_arbitrate(struct port *port, uint16_t ready);

/* The frame that was chosen takes so many blocks of 64 bytes. */
void port_arbitration_charge(struct port *port, enum arbitration_table table, uint32_t blocks);

#endif
