/* SPDX-License-Identifier: Apache-2.0 */
/* Address handles (vol 1, chapter 11; transport 7.5). */
#include "net/hca/hca.h"

#include <errno.h>
#include <stdlib.h>
#include "wire/pkey.h"
#include "wire/smp_tables.h"

enum { FLOW_LABEL_BITS = 20 };

static bool vector_is_valid(const struct hca *hca, const struct address_vector *vector)
{
	if (vector->port_number == 0 || vector->port_number > hca->port_count)
		return false;

	const struct port_view *port = hca->port_views[vector->port_number - 1];

	/* Path bits above the LMC do not count: ibacm puts the low bits of its whole LID there. */
	if (vector->dlid == 0 || vector->sl >= SL_COUNT)
		return false;
	/* A multicast packet always carries a GRH (transport 7.5). */
	if (lid_is_multicast(vector->dlid) && !vector->is_global)
		return false;
	return !vector->is_global ||
	       (vector->sgid_index < port->gid_count && vector->flow_label >> FLOW_LABEL_BITS == 0);
}

int ah_create(struct hca *hca, struct protection_domain *pd, const struct address_vector *vector,
	      struct ah **ret_ah)
{
	if (!vector_is_valid(hca, vector))
		return -EINVAL;
	if (hca->ah_count == hca->limits.ah_count_max)
		return -ENOMEM;

	struct ah *ah = calloc(1, sizeof(*ah));

	if (!ah)
		return -ENOMEM;
	*ah = (struct ah){
		.vector = *vector,
		.pd = pd,
		.hca = hca,
		.handle = hca->next_handle++,
	};
	pd->users++;
	hca->ah_count++;
	*ret_ah = ah;
	return 0;
}

void ah_destroy(struct ah *ah)
{
	ah->pd->users--;
	ah->hca->ah_count--;
	free(ah);
}
