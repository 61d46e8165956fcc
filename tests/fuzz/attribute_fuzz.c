/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: every attribute table and table block. Decoding what was encoded gives the same
 * bytes again. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>
#include "base/attributes.h"
#include "wire/class_port_info.h"
#include "wire/notice.h"
#include "wire/performance.h"
#include "wire/smp_tables.h"
#include "wire/subnet_attributes.h"
#include "wire/vendor_softib.h"

static const struct attribute_layout *const layouts[] = {
	&node_info_layout,
	&switch_info_layout,
	&port_info_layout,
	&sm_info_layout,
	&port_counters_layout,
	&port_counters_extended_layout,
	&class_port_info_layout,
	&notice_header_layout,
	&link_state_details_layout,
	&port_error_details_layout,
	&local_change_details_layout,
	&bad_mkey_details_layout,
	&system_image_details_layout,
	&bad_key_details_layout,
	&switch_pkey_details_layout,
	&port_rcv_error_details_layout,
	&port_xmit_discard_details_layout,
	&port_data_by_sl_layout,
	&port_samples_control_layout,
	&port_samples_result_layout,
	&port_samples_result_extended_layout,
	&port_op_rcv_counters_layout,
	&port_flow_ctl_counters_layout,
	&port_vl_counters_16_layout,
	&port_vl_counters_32_layout,
	&port_vl_update_errors_layout,
	&port_vl_xmit_time_cong_layout,
	&port_rcv_con_ctrl_layout,
	&port_xmit_con_ctrl_layout,
	&port_extended_speeds_layout,
	&port_extended_speeds_rsfec_layout,
	&node_log_header_layout,
	&node_log_entry_layout,
	&identify_layout,
};

static void check_layout(const struct attribute_layout *layout, const uint8_t *bytes)
{
	uint64_t attribute[64];
	uint8_t once[256];
	uint8_t twice[256];

	attribute_decode(layout, bytes, attribute);
	attribute_encode(layout, attribute, once);
	attribute_decode(layout, once, attribute);
	attribute_encode(layout, attribute, twice);
	MUST_HOLD(memcmp(once, twice, layout->byte_count) == 0);
}

static void check_blocks(const uint8_t bytes[static SMP_DATA_BYTES])
{
	uint16_t words[PKEYS_PER_BLOCK];
	uint64_t guids[GUIDS_PER_BLOCK];
	uint8_t vls[SL_COUNT];
	uint8_t encoded[SMP_DATA_BYTES];

	pkey_block_decode(bytes, words);
	pkey_block_encode(words, encoded);
	MUST_HOLD(memcmp(encoded, bytes, SMP_DATA_BYTES) == 0);
	multicast_forwarding_block_decode(bytes, words);
	multicast_forwarding_block_encode(words, encoded);
	MUST_HOLD(memcmp(encoded, bytes, SMP_DATA_BYTES) == 0);
	guid_block_decode(bytes, guids);
	guid_block_encode(guids, encoded);
	MUST_HOLD(memcmp(encoded, bytes, SMP_DATA_BYTES) == 0);
	sl_to_vl_decode(bytes, vls);
	sl_to_vl_encode(vls, encoded);
	MUST_HOLD(memcmp(encoded, bytes, SL_TO_VL_BYTES) == 0);
}

/* The first byte chooses the table; the rest, with zeros after it, is the attribute. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	if (!byte_count)
		return 0;

	size_t choice = bytes[0] % (ARRAY_COUNT(layouts) + 1);
	size_t attribute_bytes =
		choice < ARRAY_COUNT(layouts) ? layouts[choice]->byte_count : SMP_DATA_BYTES;
	size_t given = byte_count - 1 < attribute_bytes ? byte_count - 1 : attribute_bytes;
	uint8_t *attribute = calloc(1, attribute_bytes);

	if (!attribute)
		return 0;
	memcpy(attribute, bytes + 1, given);
	if (choice < ARRAY_COUNT(layouts))
		check_layout(layouts[choice], attribute);
	else
		check_blocks(attribute);
	free(attribute);
	return 0;
}
