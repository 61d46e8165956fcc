/* SPDX-License-Identifier: Apache-2.0 */
/* More QPNs for a process that has used up its own. softibd gives them in blocks. */
#ifndef SOFTIB_API_LIBIBVERBS_OBJECTS_QPN_SUPPLY_H
#define SOFTIB_API_LIBIBVERBS_OBJECTS_QPN_SUPPLY_H

#include <stdbool.h>

struct adapter;

/*
 * Called after a try to create an object with a QPN. Returns true if the try failed with -EAGAIN,
 * for lack of QPNs, and softibd has given more: the caller tries again. After too many tries *error
 * becomes -ENOMEM. *tries is 0 at first. The adapter's lock is held.
 */
bool qpn_supply_refilled(struct adapter *adapter, unsigned *tries, int *error);

#endif
