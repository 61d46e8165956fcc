/* SPDX-License-Identifier: Apache-2.0 */
/* Our attribute tables against libibmad's: it must read the same values from what we encode, field
 * by field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <infiniband/mad.h>
#include <string.h>
#include "base/attributes.h"
#include "base/random.h"
#include "wire/class_port_info.h"
#include "wire/notice.h"
#include "wire/performance.h"
#include "wire/subnet_attributes.h"

/* libibmad's number for each of our fields, by name. */
struct pair {
	const char *ours;
	enum MAD_FIELDS theirs;
};

static const struct pair node_info_pairs[] = {
	{"base_version", IB_NODE_BASE_VERS_F},
	{"class_version", IB_NODE_CLASS_VERS_F},
	{"node_type", IB_NODE_TYPE_F},
	{"port_count", IB_NODE_NPORTS_F},
	{"system_image_guid", IB_NODE_SYSTEM_GUID_F},
	{"node_guid", IB_NODE_GUID_F},
	{"port_guid", IB_NODE_PORT_GUID_F},
	{"partition_cap", IB_NODE_PARTITION_CAP_F},
	{"device_id", IB_NODE_DEVID_F},
	{"revision", IB_NODE_REVISION_F},
	{"local_port_number", IB_NODE_LOCAL_PORT_F},
	{"vendor_id", IB_NODE_VENDORID_F},
};

static const struct pair switch_info_pairs[] = {
	{"linear_fdb_cap", IB_SW_LINEAR_FDB_CAP_F},
	{"random_fdb_cap", IB_SW_RANDOM_FDB_CAP_F},
	{"multicast_fdb_cap", IB_SW_MCAST_FDB_CAP_F},
	{"linear_fdb_top", IB_SW_LINEAR_FDB_TOP_F},
	{"default_port", IB_SW_DEF_PORT_F},
	{"default_multicast_primary_port", IB_SW_DEF_MCAST_PRIM_F},
	{"default_multicast_not_primary_port", IB_SW_DEF_MCAST_NOT_PRIM_F},
	{"life_time_value", IB_SW_LIFE_TIME_F},
	{"port_state_change", IB_SW_STATE_CHANGE_F},
	{"optimized_sl_to_vl", IB_SW_OPT_SLTOVL_MAPPING_F},
	{"lids_per_port", IB_SW_LIDS_PER_PORT_F},
	{"partition_enforcement_cap", IB_SW_PARTITION_ENFORCE_CAP_F},
	{"inbound_enforcement_cap", IB_SW_PARTITION_ENF_INB_F},
	{"outbound_enforcement_cap", IB_SW_PARTITION_ENF_OUTB_F},
	{"filter_raw_inbound_cap", IB_SW_FILTER_RAW_INB_F},
	{"filter_raw_outbound_cap", IB_SW_FILTER_RAW_OUTB_F},
	{"enhanced_port_0", IB_SW_ENHANCED_PORT0_F},
	{"multicast_fdb_top", IB_SW_MCAST_FDB_TOP_F},
};

static const struct pair port_info_pairs[] = {
	{"mkey", IB_PORT_MKEY_F},
	{"gid_prefix", IB_PORT_GID_PREFIX_F},
	{"lid", IB_PORT_LID_F},
	{"master_sm_lid", IB_PORT_SMLID_F},
	{"capability_mask", IB_PORT_CAPMASK_F},
	{"diag_code", IB_PORT_DIAG_F},
	{"mkey_lease_period", IB_PORT_MKEY_LEASE_F},
	{"local_port_number", IB_PORT_LOCAL_PORT_F},
	{"link_width_enabled", IB_PORT_LINK_WIDTH_ENABLED_F},
	{"link_width_supported", IB_PORT_LINK_WIDTH_SUPPORTED_F},
	{"link_width_active", IB_PORT_LINK_WIDTH_ACTIVE_F},
	{"link_speed_supported", IB_PORT_LINK_SPEED_SUPPORTED_F},
	{"port_state", IB_PORT_STATE_F},
	{"physical_state", IB_PORT_PHYS_STATE_F},
	{"link_down_default_state", IB_PORT_LINK_DOWN_DEF_F},
	{"mkey_protect_bits", IB_PORT_MKEY_PROT_BITS_F},
	{"lmc", IB_PORT_LMC_F},
	{"link_speed_active", IB_PORT_LINK_SPEED_ACTIVE_F},
	{"link_speed_enabled", IB_PORT_LINK_SPEED_ENABLED_F},
	{"neighbor_mtu", IB_PORT_NEIGHBOR_MTU_F},
	{"master_sm_sl", IB_PORT_SMSL_F},
	{"vl_cap", IB_PORT_VL_CAP_F},
	{"init_type", IB_PORT_INIT_TYPE_F},
	{"vl_high_limit", IB_PORT_VL_HIGH_LIMIT_F},
	{"vl_arbitration_high_cap", IB_PORT_VL_ARBITRATION_HIGH_CAP_F},
	{"vl_arbitration_low_cap", IB_PORT_VL_ARBITRATION_LOW_CAP_F},
	{"init_type_reply", IB_PORT_INIT_TYPE_REPLY_F},
	{"mtu_cap", IB_PORT_MTU_CAP_F},
	{"vl_stall_count", IB_PORT_VL_STALL_COUNT_F},
	{"hoq_life", IB_PORT_HOQ_LIFE_F},
	{"operational_vls", IB_PORT_OPER_VLS_F},
	{"partition_enforcement_inbound", IB_PORT_PART_EN_INB_F},
	{"partition_enforcement_outbound", IB_PORT_PART_EN_OUTB_F},
	{"filter_raw_inbound", IB_PORT_FILTER_RAW_INB_F},
	{"filter_raw_outbound", IB_PORT_FILTER_RAW_OUTB_F},
	{"mkey_violations", IB_PORT_MKEY_VIOL_F},
	{"pkey_violations", IB_PORT_PKEY_VIOL_F},
	{"qkey_violations", IB_PORT_QKEY_VIOL_F},
	{"guid_cap", IB_PORT_GUID_CAP_F},
	{"client_reregister", IB_PORT_CLIENT_REREG_F},
	{"multicast_pkey_trap_suppression", IB_PORT_MCAST_PKEY_SUPR_ENAB_F},
	{"subnet_timeout", IB_PORT_SUBN_TIMEOUT_F},
	{"resp_time_value", IB_PORT_RESP_TIME_VAL_F},
	{"local_phy_errors", IB_PORT_LOCAL_PHYS_ERR_F},
	{"overrun_errors", IB_PORT_OVERRUN_ERR_F},
	{"max_credit_hint", IB_PORT_MAX_CREDIT_HINT_F},
	{"link_round_trip_latency", IB_PORT_LINK_ROUND_TRIP_F},
	{"capability_mask2", IB_PORT_CAPMASK2_F},
	{"link_speed_ext_active", IB_PORT_LINK_SPEED_EXT_ACTIVE_F},
	{"link_speed_ext_supported", IB_PORT_LINK_SPEED_EXT_SUPPORTED_F},
	{"link_speed_ext_enabled", IB_PORT_LINK_SPEED_EXT_ENABLED_F},
};

static const struct pair port_info_extended_pairs[] = {
	{"capability_mask", IB_PORT_EXT_CAPMASK_F},
	{"fec_mode_active", IB_PORT_EXT_FEC_MODE_ACTIVE_F},
	{"fdr_fec_supported", IB_PORT_EXT_FDR_FEC_MODE_SUPPORTED_F},
	{"fdr_fec_enabled", IB_PORT_EXT_FDR_FEC_MODE_ENABLED_F},
	{"edr_fec_supported", IB_PORT_EXT_EDR_FEC_MODE_SUPPORTED_F},
	{"edr_fec_enabled", IB_PORT_EXT_EDR_FEC_MODE_ENABLED_F},
};

static const struct pair sm_info_pairs[] = {
	{"guid", IB_SMINFO_GUID_F},	 {"sm_key", IB_SMINFO_KEY_F},
	{"act_count", IB_SMINFO_ACT_F},	 {"priority", IB_SMINFO_PRIO_F},
	{"sm_state", IB_SMINFO_STATE_F},
};

static const struct pair port_counters_pairs[] = {
	{"port_select", IB_PC_PORT_SELECT_F},
	{"counter_select", IB_PC_COUNTER_SELECT_F},
	{"symbol_error", IB_PC_ERR_SYM_F},
	{"link_error_recovery", IB_PC_LINK_RECOVERS_F},
	{"link_downed", IB_PC_LINK_DOWNED_F},
	{"rcv_errors", IB_PC_ERR_RCV_F},
	{"rcv_remote_physical_errors", IB_PC_ERR_PHYSRCV_F},
	{"rcv_switch_relay_errors", IB_PC_ERR_SWITCH_REL_F},
	{"xmit_discards", IB_PC_XMT_DISCARDS_F},
	{"xmit_constraint_errors", IB_PC_ERR_XMTCONSTR_F},
	{"rcv_constraint_errors", IB_PC_ERR_RCVCONSTR_F},
	{"counter_select2", IB_PC_COUNTER_SELECT2_F},
	{"local_link_integrity_errors", IB_PC_ERR_LOCALINTEG_F},
	{"excessive_buffer_overrun_errors", IB_PC_ERR_EXCESS_OVR_F},
	{"vl15_dropped", IB_PC_VL15_DROPPED_F},
	{"xmit_data", IB_PC_XMT_BYTES_F},
	{"rcv_data", IB_PC_RCV_BYTES_F},
	{"xmit_packets", IB_PC_XMT_PKTS_F},
	{"rcv_packets", IB_PC_RCV_PKTS_F},
	{"xmit_wait", IB_PC_XMT_WAIT_F},
};

static const struct pair port_counters_extended_pairs[] = {
	{"port_select", IB_PC_EXT_PORT_SELECT_F},
	{"counter_select", IB_PC_EXT_COUNTER_SELECT_F},
	{"counter_select2", IB_PC_EXT_COUNTER_SELECT2_F},
	{"xmit_data", IB_PC_EXT_XMT_BYTES_F},
	{"rcv_data", IB_PC_EXT_RCV_BYTES_F},
	{"xmit_packets", IB_PC_EXT_XMT_PKTS_F},
	{"rcv_packets", IB_PC_EXT_RCV_PKTS_F},
	{"unicast_xmit_packets", IB_PC_EXT_XMT_UPKTS_F},
	{"unicast_rcv_packets", IB_PC_EXT_RCV_UPKTS_F},
	{"multicast_xmit_packets", IB_PC_EXT_XMT_MPKTS_F},
	{"multicast_rcv_packets", IB_PC_EXT_RCV_MPKTS_F},
	{"symbol_error", IB_PC_EXT_ERR_SYM_F},
	{"link_error_recovery", IB_PC_EXT_LINK_RECOVERS_F},
	{"link_downed", IB_PC_EXT_LINK_DOWNED_F},
	{"rcv_errors", IB_PC_EXT_ERR_RCV_F},
	{"rcv_remote_physical_errors", IB_PC_EXT_ERR_PHYSRCV_F},
	{"rcv_switch_relay_errors", IB_PC_EXT_ERR_SWITCH_REL_F},
	{"xmit_discards", IB_PC_EXT_XMT_DISCARDS_F},
	{"xmit_constraint_errors", IB_PC_EXT_ERR_XMTCONSTR_F},
	{"rcv_constraint_errors", IB_PC_EXT_ERR_RCVCONSTR_F},
	{"local_link_integrity_errors", IB_PC_EXT_ERR_LOCALINTEG_F},
	{"excessive_buffer_overrun_errors", IB_PC_EXT_ERR_EXCESS_OVR_F},
	{"vl15_dropped", IB_PC_EXT_VL15_DROPPED_F},
	{"xmit_wait", IB_PC_EXT_XMT_WAIT_F},
	{"qp1_dropped", IB_PC_EXT_QP1_DROP_F},
};

static const struct pair port_rcv_error_details_pairs[] = {
	{"port_select", IB_PC_PORT_SELECT_F},
	{"counter_select", IB_PC_COUNTER_SELECT_F},
	{"local_physical_errors", IB_PC_RCV_LOCAL_PHY_ERR_F},
	{"malformed_packet_errors", IB_PC_RCV_MALFORMED_PKT_ERR_F},
	{"buffer_overrun_errors", IB_PC_RCV_BUF_OVR_ERR_F},
	{"dlid_mapping_errors", IB_PC_RCV_DLID_MAP_ERR_F},
	{"vl_mapping_errors", IB_PC_RCV_VL_MAP_ERR_F},
	{"looping_errors", IB_PC_RCV_LOOPING_ERR_F},
};

static const struct pair port_xmit_discard_details_pairs[] = {
	{"port_select", IB_PC_PORT_SELECT_F},
	{"counter_select", IB_PC_COUNTER_SELECT_F},
	{"inactive_discards", IB_PC_XMT_INACT_DISC_F},
	{"neighbor_mtu_discards", IB_PC_XMT_NEIGH_MTU_DISC_F},
	{"switch_lifetime_discards", IB_PC_XMT_SW_LIFE_DISC_F},
	{"switch_hoq_discards", IB_PC_XMT_SW_HOL_DISC_F},
};

static const struct pair port_data_by_sl_pairs[] = {
	{"port_select", IB_PC_PORT_SELECT_F}, {"counter_select", IB_PC_COUNTER_SELECT_F},
	{"sl0", IB_PC_XMT_DATA_SL0_F},	      {"sl1", IB_PC_XMT_DATA_SL1_F},
	{"sl2", IB_PC_XMT_DATA_SL2_F},	      {"sl3", IB_PC_XMT_DATA_SL3_F},
	{"sl4", IB_PC_XMT_DATA_SL4_F},	      {"sl5", IB_PC_XMT_DATA_SL5_F},
	{"sl6", IB_PC_XMT_DATA_SL6_F},	      {"sl7", IB_PC_XMT_DATA_SL7_F},
	{"sl8", IB_PC_XMT_DATA_SL8_F},	      {"sl9", IB_PC_XMT_DATA_SL9_F},
	{"sl10", IB_PC_XMT_DATA_SL10_F},      {"sl11", IB_PC_XMT_DATA_SL11_F},
	{"sl12", IB_PC_XMT_DATA_SL12_F},      {"sl13", IB_PC_XMT_DATA_SL13_F},
	{"sl14", IB_PC_XMT_DATA_SL14_F},      {"sl15", IB_PC_XMT_DATA_SL15_F},
};

/* All fields but the masks after the first, which libibmad reads as one. */
static const struct pair port_samples_control_pairs[] = {
	{"op_code", IB_PSC_OPCODE_F},
	{"port_select", IB_PSC_PORT_SELECT_F},
	{"tick", IB_PSC_TICK_F},
	{"counter_width", IB_PSC_COUNTER_WIDTH_F},
	{"counter_mask0", IB_PSC_COUNTER_MASK0_F},
	{"sample_mechanisms", IB_PSC_SAMPLE_MECHS_F},
	{"sample_status", IB_PSC_SAMPLE_STATUS_F},
	{"option_mask", IB_PSC_OPTION_MASK_F},
	{"vendor_mask", IB_PSC_VENDOR_MASK_F},
	{"sample_start", IB_PSC_SAMPLE_START_F},
	{"sample_interval", IB_PSC_SAMPLE_INTVL_F},
	{"tag", IB_PSC_TAG_F},
	{"counter_select0", IB_PSC_COUNTER_SEL0_F},
	{"counter_select14", IB_PSC_COUNTER_SEL14_F},
	{"samples_only_option_mask", IB_PSC_SAMPLES_ONLY_OPT_MASK_F},
};

static const struct pair class_port_info_pairs[] = {
	{"base_version", IB_CPI_BASEVER_F},
	{"class_version", IB_CPI_CLASSVER_F},
	{"capability_mask", IB_CPI_CAPMASK_F},
	{"capability_mask2", IB_CPI_CAPMASK2_F},
	{"resp_time_value", IB_CPI_RESP_TIME_VALUE_F},
	{"redirect_traffic_class", IB_CPI_REDIRECT_TC_F},
	{"redirect_sl", IB_CPI_REDIRECT_SL_F},
	{"redirect_flow_label", IB_CPI_REDIRECT_FL_F},
	{"redirect_lid", IB_CPI_REDIRECT_LID_F},
	{"redirect_pkey", IB_CPI_REDIRECT_PKEY_F},
	{"redirect_qpn", IB_CPI_REDIRECT_QP_F},
	{"redirect_qkey", IB_CPI_REDIRECT_QKEY_F},
	{"trap_traffic_class", IB_CPI_TRAP_TC_F},
	{"trap_sl", IB_CPI_TRAP_SL_F},
	{"trap_flow_label", IB_CPI_TRAP_FL_F},
	{"trap_lid", IB_CPI_TRAP_LID_F},
	{"trap_pkey", IB_CPI_TRAP_PKEY_F},
	{"trap_hop_limit", IB_CPI_TRAP_HL_F},
	{"trap_qpn", IB_CPI_TRAP_QP_F},
	{"trap_qkey", IB_CPI_TRAP_QKEY_F},
};

static const struct pair notice_header_pairs[] = {
	{"is_generic", IB_NOTICE_IS_GENERIC_F},
	{"type", IB_NOTICE_TYPE_F},
	{"producer_type", IB_NOTICE_PRODUCER_F},
	{"trap_number", IB_NOTICE_TRAP_NUMBER_F},
	{"issuer_lid", IB_NOTICE_ISSUER_LID_F},
	{"toggle", IB_NOTICE_TOGGLE_F},
	{"count", IB_NOTICE_COUNT_F},
};

static const struct attribute_field *field_named(const struct attribute_layout *layout,
						 const char *name)
{
	for (size_t i = 0; i < layout->field_count; i++)
		if (!strcmp(layout->fields[i].name, name))
			return &layout->fields[i];
	return NULL;
}

/* One field at a time, so that a field which is too wide in either table shows. */
static void expect_agreement(const struct attribute_layout *layout, const struct pair *pairs,
			     size_t pair_count, uint64_t seed)
{
	struct random random = random_seeded(seed);
	uint64_t attribute[64];
	/* libibmad counts bits inside 32-bit words and may read the whole last word. */
	uint8_t bytes[256 + 8];

	for (size_t i = 0; i < pair_count; i++) {
		const struct attribute_field *field = field_named(layout, pairs[i].ours);

		assert_non_null(field);
		for (unsigned round = 0; round < 20; round++) {
			uint64_t mask = field->bit_count == 64 ? UINT64_MAX
							       : (1ull << field->bit_count) - 1;
			uint64_t value = round == 0 ? mask : random_next(&random) & mask;
			uint64_t theirs = 0;

			memset(attribute, round == 1 ? 0xff : 0, sizeof(attribute));
			attribute_field_set(field, value, attribute);
			memset(bytes, 0, sizeof(bytes));
			attribute_encode(layout, attribute, bytes);
			if (field->bit_count > 32)
				theirs = mad_get_field64(bytes, 0, pairs[i].theirs);
			else
				theirs = mad_get_field(bytes, 0, pairs[i].theirs);
			if (theirs != value)
				print_error("%s.%s (libibmad: %s)\n", layout->name, field->name,
					    mad_field_name(pairs[i].theirs));
			assert_int_equal(theirs, value);
		}
	}
}

#define EXPECT_AGREEMENT(attribute, seed)                                                          \
	expect_agreement(&attribute##_layout, attribute##_pairs, ARRAY_COUNT(attribute##_pairs),   \
			 seed)

static void test_libibmad_reads_our_subnet_attributes(void **state)
{
	(void)state;
	EXPECT_AGREEMENT(node_info, 30);
	EXPECT_AGREEMENT(switch_info, 31);
	EXPECT_AGREEMENT(port_info, 32);
	EXPECT_AGREEMENT(sm_info, 33);
	EXPECT_AGREEMENT(notice_header, 34);
	EXPECT_AGREEMENT(port_info_extended, 42);
	/* All but the four fields of HDR and NDR, which this libibmad reads from the wrong half of
	 * their words: it shows EDR's modes as those of HDR. */
	assert_int_equal(ARRAY_COUNT(port_info_extended_pairs) + 4,
			 port_info_extended_layout.field_count);
	/* All but the three fields of XDR, which this libibmad does not have. */
	assert_int_equal(ARRAY_COUNT(port_info_pairs) + 3, port_info_layout.field_count);
	assert_int_equal(ARRAY_COUNT(node_info_pairs), node_info_layout.field_count);
	assert_int_equal(ARRAY_COUNT(switch_info_pairs), switch_info_layout.field_count);
	assert_int_equal(ARRAY_COUNT(sm_info_pairs), sm_info_layout.field_count);
}

static void test_libibmad_reads_our_general_attributes(void **state)
{
	(void)state;
	EXPECT_AGREEMENT(port_counters, 35);
	EXPECT_AGREEMENT(port_counters_extended, 36);
	EXPECT_AGREEMENT(class_port_info, 37);
	EXPECT_AGREEMENT(port_rcv_error_details, 38);
	EXPECT_AGREEMENT(port_xmit_discard_details, 39);
	EXPECT_AGREEMENT(port_data_by_sl, 40);
	EXPECT_AGREEMENT(port_samples_control, 41);
	/* All but QP1Dropped, which libibmad 5.3 reads from the offset of VL15Dropped. */
	assert_int_equal(ARRAY_COUNT(port_counters_pairs) + 1, port_counters_layout.field_count);
	assert_int_equal(ARRAY_COUNT(port_counters_extended_pairs),
			 port_counters_extended_layout.field_count);
	/* All but the two GIDs, which are arrays there and two halves here. */
	assert_int_equal(ARRAY_COUNT(class_port_info_pairs) + 4,
			 class_port_info_layout.field_count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libibmad_reads_our_subnet_attributes),
		cmocka_unit_test(test_libibmad_reads_our_general_attributes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
