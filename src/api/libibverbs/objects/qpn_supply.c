/* SPDX-License-Identifier: Apache-2.0 */
/* More QPNs for a process that has used up its own. */
#include "api/libibverbs/objects/qpn_supply.h"

#include <errno.h>
#include "runtime/adapter.h"

/* Other threads may use up a block before this thread's next try. */
enum { TRIES_MAX = 16 };

bool qpn_supply_refilled(struct adapter *adapter, unsigned *tries, int *error)
{
	while (*error == -EAGAIN && *tries < TRIES_MAX) {
		(*tries)++;
		*error = adapter_more_qpns(adapter);
		if (!*error)
			return true;
	}
	if (*error == -EAGAIN)
		*error = -ENOMEM;
	return false;
}
