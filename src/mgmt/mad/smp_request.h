/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and responses of subnet management: requests by directed route, responses that return
 * the way the request came (management 2.1, 2.2). */
#ifndef SOFTIB_MGMT_MAD_SMP_REQUEST_H
#define SOFTIB_MGMT_MAD_SMP_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/mad/mad_message.h"

/* The output port at each node, the requester's own first. Without hops it leads to the requester's
 * own node. */
struct directed_route {
	uint8_t hop_count;
	uint8_t ports[MAD_HOPS_MAX];
};

/* false: the route has more hops than an SMP can carry. */
MUST_USE bool directed_route_extend(const struct directed_route *route, uint8_t port_number,
				    struct directed_route *ret_route);

struct smp_request {
	enum mad_method method;
	uint16_t attribute_id;
	uint32_t attribute_modifier;
	uint64_t mkey;
};

/* The attribute's data are zero until the caller fills them in. mad_transactions_send() sets the
 * transaction id. */
void smp_request_make(const struct smp_request *request, const struct directed_route *route,
		      struct mad_message *ret_message);

/* Makes header, paths and address of the response to a Get or Set. The data are those of the
 * request until the caller replaces them. */
void smp_answer_make(const struct mad_message *request, uint16_t status,
		     struct mad_message *ret_answer);

#endif
