/* SPDX-License-Identifier: Apache-2.0 */
/* Reliable datagram domains (vol 1, chapter 10). */
#include "net/hca/rdd.h"

#include <errno.h>
#include <stdlib.h>
#include "net/hca/hca.h"

int rdd_alloc(struct hca *hca, struct rdd **ret_rdd)
{
	if (hca->rdd_count == hca->limits.rdd_count_max)
		return -ENOMEM;

	struct rdd *rdd = calloc(1, sizeof(*rdd));

	if (!rdd)
		return -ENOMEM;
	rdd->hca = hca;
	rdd->handle = hca->next_handle++;
	hca->rdd_count++;
	*ret_rdd = rdd;
	return 0;
}

int rdd_dealloc(struct rdd *rdd)
{
	if (rdd->users)
		return -EBUSY;
	rdd->hca->rdd_count--;
	free(rdd);
	return 0;
}
