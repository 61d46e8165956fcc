/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and responses of subnet management (management 2.1). */
#include "mgmt/mad/smp_request.h"

#include <string.h>
#include "wire/pkey.h"
#include "wire/smp.h"

bool directed_route_extend(const struct directed_route *route, uint8_t port_number,
			   struct directed_route *ret_route)
{
	if (route->hop_count >= MAD_HOPS_MAX)
		return false;
	*ret_route = *route;
	ret_route->ports[ret_route->hop_count++] = port_number;
	return true;
}

void smp_request_make(const struct smp_request *request, const struct directed_route *route,
		      struct mad_message *ret_message)
{
	const struct mad_header header = {
		.base_version = MAD_BASE_VERSION,
		.management_class = MAD_CLASS_SUBNET_DIRECTED,
		.class_version = SMP_CLASS_VERSION,
		.method = (uint8_t)request->method,
		.hop_count = route->hop_count,
		.attribute_id = request->attribute_id,
		.attribute_modifier = request->attribute_modifier,
	};

	ret_message->address = (struct mad_address){
		.lid = LID_PERMISSIVE, .qpn = QPN_SMI, .pkey = PKEY_DEFAULT_FULL};
	smp_start(&header, ret_message->bytes);
	smp_set_route(route->ports, route->hop_count, ret_message->bytes);
	smp_set_mkey(request->mkey, ret_message->bytes);
}

void smp_answer_make(const struct mad_message *request, uint16_t status,
		     struct mad_message *ret_answer)
{
	bool is_directed = request->bytes[1] == MAD_CLASS_SUBNET_DIRECTED;

	*ret_answer = *request;
	/* GetResp answers both Get and Set. */
	ret_answer->bytes[MAD_METHOD_OFFSET] =
		request->bytes[MAD_METHOD_OFFSET] == MAD_SET
			? MAD_GET_RESPONSE
			: (uint8_t)(request->bytes[MAD_METHOD_OFFSET] | MAD_RESPONSE);
	put_be16(ret_answer->bytes + MAD_STATUS_OFFSET,
		 (uint16_t)(is_directed ? status | MAD_STATUS_DIRECTION : status));
	/* If the last part of the route was LID routed, the response is LID routed to where that
	 * part started (management 2.2). Otherwise the return path leads back. */
	if (is_directed && smp_dr_dlid(request->bytes) == LID_PERMISSIVE)
		ret_answer->address.lid = LID_PERMISSIVE;
}
