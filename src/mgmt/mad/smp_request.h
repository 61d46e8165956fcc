/* SPDX-License-Identifier: Apache-2.0 */
/* Making SMPs: requests by directed route, and the answers that go back the way they came (vol 1,
 * chapter 14). */
#ifndef SOFTIB_MGMT_MAD_SMP_REQUEST_H
#define SOFTIB_MGMT_MAD_SMP_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/mad/mad_message.h"

/* Which port to leave each node by, the requester's own first. No hops: the requester's node
 * itself. */
struct directed_route {
	uint8_t hop_count;
	uint8_t ports[MAD_HOPS_MAX];
};

/* false when the route would have more hops than an SMP can carry. */
MUST_USE bool directed_route_extend(const struct directed_route *route, uint8_t port_number,
				    struct directed_route *ret_route);

struct smp_request {
	enum mad_method method;
	uint16_t attribute_id;
	uint32_t attribute_modifier;
	uint64_t mkey;
};

/* The attribute's data is zero until the caller fills it in. The transaction id is for
 * mad_transactions_send(). */
void smp_request_make(const struct smp_request *request, const struct directed_route *route,
		      struct mad_message *ret_message);

/* Header, paths and address of the answer to a Get or Set; the data are the request's until the
 * caller replaces them. */
void smp_answer_make(const struct mad_message *request, uint16_t status,
		     struct mad_message *ret_answer);

#endif
