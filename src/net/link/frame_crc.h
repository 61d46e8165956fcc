/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CRCs of a frame (vol 1, chapter 7; transport 1.7, 1.8).
 *
 * Inside one machine no bit is lost, so frames travel without CRCs. They are appended where a fault
 * is about to break a bit or a packet is captured, and from then on every port checks them.
 */
#ifndef SOFTIB_NET_LINK_FRAME_CRC_H
#define SOFTIB_NET_LINK_FRAME_CRC_H

#include <stdint.h>
#include "net/link/frame.h"

enum frame_crc_state { FRAME_CRCS_RIGHT, FRAME_VCRC_WRONG, FRAME_ICRC_WRONG };

/* Appends correct CRCs. */
void frame_append_crcs(struct frame *frame);

/* Puts a correct VCRC behind the present bytes and ICRC, right or wrong, because VL and link header
 * change from hop to hop. The frame carries CRCs. */
void frame_renew_vcrc(struct frame *frame);

/* For a frame that carries CRCs. A wrong VCRC is reported first, and the ICRC is not checked
 * then. */
enum frame_crc_state frame_check_crcs(const struct frame *frame);

/* Flips one bit of the packet, ICRC or VCRC; the bit number is taken modulo their length. The frame
 * carries CRCs. Returns the index of the byte. */
uint64_t frame_flip_bit(struct frame *frame, uint64_t bit);

/* Flips one bit in the memory of the sending node: the packet has a correct VCRC and a wrong
 * ICRC. */
void frame_break_inside(struct frame *frame, uint64_t bit);
/* Flips one bit on the wire: the next port finds a wrong VCRC. Returns the index of the byte. */
uint64_t frame_break_on_wire(struct frame *frame, uint64_t bit);

#endif
