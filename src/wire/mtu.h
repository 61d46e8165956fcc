/* SPDX-License-Identifier: Apache-2.0 */
/* MTU codes and bytes (vol 1, chapter 7). */
#ifndef SOFTIB_WIRE_MTU_H
#define SOFTIB_WIRE_MTU_H

#include <stdint.h>

enum mtu_code { MTU_256 = 1, MTU_512, MTU_1024, MTU_2048, MTU_4096 };

enum { MTU_BYTES_MAX = 4096, PACKET_HEADER_BYTES_MAX = 124, PACKET_BYTES_MAX = 4096 + 124 + 2 };

/* 0 for a reserved code. */
static inline uint32_t mtu_bytes(unsigned code)
{
	return code >= MTU_256 && code <= MTU_4096 ? 128u << code : 0;
}

#endif
