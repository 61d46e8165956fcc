/* SPDX-License-Identifier: Apache-2.0 */
/* Global identifiers and GUIDs (vol 1, chapter 4; transport 10.1, 10.2). */
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

/* Scope and signature of a multicast GID, which say for which networks it is (vol 1, chapter 4; RFC
 * 4391; transport 10.2). */
enum {
	MGID_SCOPE_LINK_LOCAL = 2,
	MGID_SIGNATURE_IPV4 = 0x401b,
	MGID_SIGNATURE_IPV6 = 0x601b,
	MGID_SIGNATURE_SA = 0xa01b, /* chosen by the SA */
};

static inline uint16_t mgid_signature(const struct gid *mgid)
{
	return get_be16(mgid->bytes + 2);
}

static inline bool mgid_is_ip(const struct gid *mgid)
{
	return mgid_signature(mgid) == MGID_SIGNATURE_IPV4 ||
	       mgid_signature(mgid) == MGID_SIGNATURE_IPV6;
}

static inline uint64_t gid_prefix(const struct gid *gid)
{
	return get_be64(gid->bytes);
}

static inline uint64_t gid_guid(const struct gid *gid)
{
	return get_be64(gid->bytes + 8);
}

/* The factor is 2^64 divided by the golden ratio. */
static inline uint64_t gid_hash(const struct gid *gid)
{
	return gid_prefix(gid) * 0x9e3779b97f4a7c15u ^ gid_guid(gid);
}

#endif
