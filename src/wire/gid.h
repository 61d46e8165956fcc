/* SPDX-License-Identifier: Apache-2.0 */
/* Global identifiers and GUIDs (vol 1, chapter 4). */
#ifndef SOFTIB_WIRE_GID_H
#define SOFTIB_WIRE_GID_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "base/bytes.h"

struct gid {
	uint8_t bytes[16];
};

#define GID_PREFIX_LINK_LOCAL 0xfe80000000000000u

static inline struct gid gid_from(uint64_t prefix, uint64_t guid)
{
	struct gid gid;

	put_be64(gid.bytes, prefix);
	put_be64(gid.bytes + 8, guid);
	return gid;
}

static inline bool gid_equal(const struct gid *a, const struct gid *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static inline bool gid_is_multicast(const struct gid *gid)
{
	return gid->bytes[0] == 0xff;
}

static inline uint64_t gid_prefix(const struct gid *gid)
{
	return get_be64(gid->bytes);
}

static inline uint64_t gid_guid(const struct gid *gid)
{
	return get_be64(gid->bytes + 8);
}

#endif
