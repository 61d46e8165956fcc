/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion between ibv_ah_attr and struct address_vector. */
#include "api/libibverbs/verbs_address.h"

#include <string.h>

struct address_vector address_from_attr(const struct ibv_ah_attr *attr)
{
	struct address_vector vector = {
		.dlid = attr->dlid,
		.sl = attr->sl,
		.source_path_bits = attr->src_path_bits,
		.static_rate = attr->static_rate,
		.port_number = attr->port_num,
		.is_global = attr->is_global != 0,
	};

	if (!vector.is_global)
		return vector;
	vector.sgid_index = attr->grh.sgid_index;
	vector.hop_limit = attr->grh.hop_limit;
	vector.traffic_class = attr->grh.traffic_class;
	vector.flow_label = attr->grh.flow_label;
	memcpy(vector.dgid.bytes, attr->grh.dgid.raw, sizeof(vector.dgid.bytes));
	return vector;
}

struct ibv_ah_attr address_to_attr(const struct address_vector *vector)
{
	struct ibv_ah_attr attr = {
		.dlid = vector->dlid,
		.sl = vector->sl,
		.src_path_bits = vector->source_path_bits,
		.static_rate = vector->static_rate,
		.port_num = vector->port_number,
		.is_global = vector->is_global,
		.grh.sgid_index = vector->sgid_index,
		.grh.hop_limit = vector->hop_limit,
		.grh.traffic_class = vector->traffic_class,
		.grh.flow_label = vector->flow_label,
	};

	memcpy(attr.grh.dgid.raw, vector->dgid.bytes, sizeof(attr.grh.dgid.raw));
	return attr;
}
