/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of the fields of a node's attributes (management 2.5). */
#include "mgmt/agents/node_field_limits.h"

#include "net/link/lane_tables.h"
#include "net/node/node.h"
#include "wire/pkey.h"

enum { MTU_CODE_MAX = 5 };

/* Fields that index or bound something else have a range. A maximum below the minimum means that
 * the field is fixed. */
static const struct field_limit {
	const struct attribute_layout *layout;
	uint16_t offset;
	uint64_t minimum, maximum;
} limits[] = {
#define LIMIT(type, field, minimum, maximum)                                                       \
	{                                                                                          \
		&type##_layout, offsetof(struct type, field), minimum, maximum                     \
	}
	LIMIT(node_info, node_type, 1, 0),
	LIMIT(node_info, node_guid, 1, UINT64_MAX),
	LIMIT(switch_info, linear_fdb_cap, 0, LFT_ENTRIES),
	LIMIT(switch_info, multicast_fdb_cap, 0, MFT_ENTRIES),
	LIMIT(switch_info, linear_fdb_top, 0, LFT_ENTRIES - 1),
	LIMIT(port_info, lid, 0, LID_UNICAST_LAST),
	LIMIT(port_info, master_sm_lid, 0, LID_UNICAST_LAST),
	LIMIT(port_info, port_state, PORT_DOWN, PORT_ACTIVE),
	LIMIT(port_info, physical_state, PHYSICAL_SLEEP, PHYSICAL_DISABLED),
	LIMIT(port_info, link_down_default_state, PHYSICAL_SLEEP, PHYSICAL_POLLING),
	LIMIT(port_info, neighbor_mtu, 1, MTU_CODE_MAX),
	LIMIT(port_info, mtu_cap, 1, MTU_CODE_MAX),
	LIMIT(port_info, vl_cap, 1, VL_CODE_MAX),
	LIMIT(port_info, operational_vls, 1, VL_CODE_MAX),
	LIMIT(port_info, vl_arbitration_high_cap, 0, VL_ARBITRATION_ENTRIES),
	LIMIT(port_info, vl_arbitration_low_cap, 0, VL_ARBITRATION_ENTRIES),
	LIMIT(port_info, guid_cap, 0, GUIDS_DEFAULT),
	/* Training determines the active width and speed, from the values that both ends enable. */
	LIMIT(port_info, link_width_active, 1, 0),
	LIMIT(port_info, link_speed_active, 1, 0),
	LIMIT(port_info, link_speed_ext_active, 1, 0),
	LIMIT(port_info, link_speed_ext2_active, 1, 0),
	/* The active FEC mode follows from the port's speeds. */
	LIMIT(port_info_extended, fec_mode_active, 1, 0),
	LIMIT(port_info_extended, fdr_fec_supported, 1, 0),
	LIMIT(port_info_extended, edr_fec_supported, 1, 0),
	LIMIT(port_info_extended, hdr_fec_supported, 1, 0),
	LIMIT(port_info_extended, ndr_fec_supported, 1, 0),
#undef LIMIT
};

static const struct field_limit *find_limit(const struct attribute_layout *layout, uint16_t offset)
{
	for (size_t i = 0; i < ARRAY_COUNT(limits); i++) {
		if (limits[i].layout == layout && limits[i].offset == offset)
			return &limits[i];
	}
	return NULL;
}

enum node_set_result node_field_check_limit(const struct node_attribute *attribute,
					    const struct attribute_field *field, uint64_t value,
					    uint64_t *ret_max)
{
	const struct field_limit *limit = find_limit(attribute->layout, field->struct_offset);
	uint64_t maximum = field->bit_count < 64 ? (1ull << field->bit_count) - 1 : UINT64_MAX;
	uint64_t minimum = 0;

	if (limit && limit->maximum < limit->minimum)
		return NODE_SET_FIXED;
	if (limit) {
		minimum = limit->minimum;
		maximum = limit->maximum;
	}
	if (value >= minimum && value <= maximum)
		return NODE_SET_OK;
	*ret_max = maximum;
	return NODE_SET_OUT_OF_RANGE;
}
