/* SPDX-License-Identifier: Apache-2.0 */
/* Nue: routing on the channel dependency graph, for any graph and any number of lanes. */
#ifndef SOFTIB_MGMT_ROUTING_NUE_H
#define SOFTIB_MGMT_ROUTING_NUE_H

#include "base/attributes.h"
#include "mgmt/routing/engine.h"

/*
 * Free of credit loops with the lanes there are, one is enough: paths are as short and as evenly
 * spread as the lanes allow. Refuses no graph. -ENOMEM.
 */
MUST_USE int nue_route(struct routing_graph *graph, const struct routing_hints *hints);

#endif
