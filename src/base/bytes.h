/* SPDX-License-Identifier: Apache-2.0 */
/* Big-endian numbers in byte strings. */
#ifndef SOFTIB_BASE_BYTES_H
#define SOFTIB_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint16_t get_be16(const uint8_t *bytes)
{
	uint16_t value;

	memcpy(&value, bytes, sizeof(value));
	return __builtin_bswap16(value);
}

static inline uint32_t get_be24(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];
}

static inline uint32_t get_be32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return __builtin_bswap32(value);
}

static inline uint64_t get_be64(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	return __builtin_bswap64(value);
}

/* For bytes that another process may change: reads them once, so that later uses see the same
 * value. */
static inline uint32_t get_be32_once(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	__asm__ volatile("" : "+r"(value));
	return __builtin_bswap32(value);
}

static inline uint64_t get_be64_once(const uint8_t *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, sizeof(value));
	__asm__ volatile("" : "+r"(value));
	return __builtin_bswap64(value);
}

static inline void put_be16(uint8_t *ret_bytes, uint16_t value)
{
	value = __builtin_bswap16(value);
	memcpy(ret_bytes, &value, sizeof(value));
}

static inline void put_be24(uint8_t *ret_bytes, uint32_t value)
{
	ret_bytes[0] = (uint8_t)(value >> 16);
	ret_bytes[1] = (uint8_t)(value >> 8);
	ret_bytes[2] = (uint8_t)value;
}

static inline void put_be32(uint8_t *ret_bytes, uint32_t value)
{
	value = __builtin_bswap32(value);
	memcpy(ret_bytes, &value, sizeof(value));
}

static inline void put_be64(uint8_t *ret_bytes, uint64_t value)
{
	value = __builtin_bswap64(value);
	memcpy(ret_bytes, &value, sizeof(value));
}

#endif
