/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant and variant CRC (vol 1, chapter 7; transport 1.7, 1.8). */
#ifndef SOFTIB_WIRE_CRC_H
#define SOFTIB_WIRE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Over LRH to the last pad byte of a packet as sent, with the variant fields counted as ones.
 * Returns a number; on the wire its least significant byte goes first. */
uint32_t icrc(const uint8_t *bytes, size_t byte_count);

/* Over LRH to ICRC (raw packets: to the end of the payload), or the first four bytes of a link
 * packet. Least significant byte first. */
uint16_t vcrc(const uint8_t *bytes, size_t byte_count);

#endif
