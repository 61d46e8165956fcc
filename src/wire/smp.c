/* SPDX-License-Identifier: Apache-2.0 */
/* Subnet management packets (vol 1, chapter 14; management 2.1). */
#include "wire/smp.h"

#include <string.h>
#include "wire/pkey.h"

void smp_start(const struct mad_header *header, uint8_t ret_smp[static MAD_BYTES])
{
	memset(ret_smp, 0, MAD_BYTES);
	mad_header_encode(header, ret_smp);
	if (header->management_class == MAD_CLASS_SUBNET_DIRECTED) {
		smp_set_dr_slid(LID_PERMISSIVE, ret_smp);
		smp_set_dr_dlid(LID_PERMISSIVE, ret_smp);
	}
}

void smp_set_route(const uint8_t *ports, unsigned port_count, uint8_t ret_smp[static MAD_BYTES])
{
	assert(port_count <= MAD_HOPS_MAX);
	memcpy(smp_initial_path(ret_smp) + 1, ports, port_count);
}
