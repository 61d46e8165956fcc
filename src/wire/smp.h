/* SPDX-License-Identifier: Apache-2.0 */
/* Subnet management packets: the fields of a 256-byte MAD that only SMPs have (vol 1, chapter 14;
 * management 2.1). */
#ifndef SOFTIB_WIRE_SMP_H
#define SOFTIB_WIRE_SMP_H

#include <stdint.h>
#include "base/bytes.h"
#include "wire/mad.h"

enum { SMP_PATH_BYTES = 64, SMP_CLASS_VERSION = 1, MAD_BASE_VERSION = 1 };

/* Writes the header and zeros after it. A directed-route SMP gets permissive DrSLID and DrDLID. */
void smp_start(const struct mad_header *header, uint8_t ret_smp[static MAD_BYTES]);

/* Sets the output ports of a pure directed route: ports[0] is the requester's own port. The header
 * has been written with hop_count = port_count, which is at most MAD_HOPS_MAX. */
void smp_set_route(const uint8_t *ports, unsigned port_count, uint8_t ret_smp[static MAD_BYTES]);

static inline uint64_t smp_mkey(const uint8_t smp[static MAD_BYTES])
{
	return get_be64(smp + SMP_MKEY_OFFSET);
}

static inline void smp_set_mkey(uint64_t mkey, uint8_t ret_smp[static MAD_BYTES])
{
	put_be64(ret_smp + SMP_MKEY_OFFSET, mkey);
}

static inline uint16_t smp_dr_slid(const uint8_t smp[static MAD_BYTES])
{
	return get_be16(smp + SMP_DR_SLID_OFFSET);
}

static inline void smp_set_dr_slid(uint16_t lid, uint8_t ret_smp[static MAD_BYTES])
{
	put_be16(ret_smp + SMP_DR_SLID_OFFSET, lid);
}

static inline uint16_t smp_dr_dlid(const uint8_t smp[static MAD_BYTES])
{
	return get_be16(smp + SMP_DR_DLID_OFFSET);
}

static inline void smp_set_dr_dlid(uint16_t lid, uint8_t ret_smp[static MAD_BYTES])
{
	put_be16(ret_smp + SMP_DR_DLID_OFFSET, lid);
}

/* SMP_DATA_BYTES of attribute. */
static inline uint8_t *smp_data(uint8_t smp[static MAD_BYTES])
{
	return smp + SMP_DATA_OFFSET;
}

/* SMP_PATH_BYTES port numbers each; entry 0 is not used. */
static inline uint8_t *smp_initial_path(uint8_t smp[static MAD_BYTES])
{
	return smp + SMP_INITIAL_PATH_OFFSET;
}

static inline uint8_t *smp_return_path(uint8_t smp[static MAD_BYTES])
{
	return smp + SMP_RETURN_PATH_OFFSET;
}

#endif
