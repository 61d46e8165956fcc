/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CRCs of a frame (vol 1, chapter 7).
 *
 * Inside one machine nothing breaks by itself, so frames travel without them. They are appended where a fault is about to
 * break something or where a packet is to be shown, and from then on every port checks them.
 */
#ifndef SOFTIB_NET_LINK_FRAME_CRC_H
#define SOFTIB_NET_LINK_FRAME_CRC_H

#include <stdint.h>
#include "net/link/frame.h"

enum frame_crc_state { FRAME_CRCS_RIGHT, FRAME_VCRC_WRONG, FRAME_ICRC_WRONG };

/* The frame carries right CRCs from now on. */
void frame_append_crcs(struct frame *frame);

/* The next sender puts a right VCRC behind what it has, whatever that is: lanes and link headers change from hop to hop.
 * The frame carries CRCs. */
void frame_renew_vcrc(struct frame *frame);

/* Of a frame that carries them. The VCRC comes first: who finds it wrong looks no further. */
enum frame_crc_state frame_check_crcs(const struct frame *frame);

/* Flips one bit of what is on the wire, packet, ICRC or VCRC; the number is taken modulo their length. The frame carries
 * CRCs. */
void frame_flip_bit(struct frame *frame, uint64_t bit);

/* Breaks one bit in the memory of the node that sends it: what leaves has a VCRC that fits, and an
 * ICRC that does not. */
void frame_break_inside(struct frame *frame, uint64_t bit);
/* Breaks one bit on the wire: the next port finds a wrong VCRC. */
void frame_break_on_wire(struct frame *frame, uint64_t bit);

#endif
