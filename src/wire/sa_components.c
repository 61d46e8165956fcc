/* SPDX-License-Identifier: Apache-2.0 */
/* Component masks of subnet administration (vol 1, chapter 15; management 4.4). */
#include "wire/sa_components.h"

#include <string.h>
#include "base/attributes.h"
#include "wire/sa_records.h"
#include "wire/subnet_attributes.h"

#define RESERVED_COMPONENT                                                                         \
	{                                                                                          \
		0, 0                                                                               \
	}

/* Rows of an attribute inside a record, at INSIDE_OFFSET bits. */
#define INSIDE_ROW(type, name, offset, bits) {INSIDE_OFFSET + (offset), (bits)},

#define DEFINE_COMPONENTS(name, bytes)                                                             \
	const struct sa_components name##_components = {                                           \
		.rows = name##_rows, .count = ARRAY_COUNT(name##_rows), .byte_count = (bytes)}

#define INSIDE_OFFSET (8 * NODE_RECORD_INFO_OFFSET)

static const struct sa_component node_record_rows[] = {
	{0, 16},
	RESERVED_COMPONENT,
	/* c2 .. c13 */
	NODE_INFO_FIELDS(INSIDE_ROW){8 * NODE_RECORD_DESCRIPTION_OFFSET, 512},
};

DEFINE_COMPONENTS(node_record, NODE_RECORD_BYTES);

/* PortInfo needs rows of its own: reserved fields count too, and some fields were defined in
 * reserved bits later. */
#define PORT_INFO_ROW(offset, bits)                                                                \
	{                                                                                          \
		8 * PORT_INFO_RECORD_INFO_OFFSET + (offset), (bits)                                \
	}

static const struct sa_component port_info_record_rows[] = {
	{0, 16},
	{16, 8},
	RESERVED_COMPONENT,
	PORT_INFO_ROW(0, 64),
	PORT_INFO_ROW(64, 64),
	PORT_INFO_ROW(128, 16),
	PORT_INFO_ROW(144, 16),
	PORT_INFO_ROW(160, 32),
	PORT_INFO_ROW(192, 16),
	PORT_INFO_ROW(208, 16),
	PORT_INFO_ROW(224, 8), /* c10 LocalPortNum */
	PORT_INFO_ROW(232, 8),
	PORT_INFO_ROW(240, 8),
	PORT_INFO_ROW(248, 8),
	PORT_INFO_ROW(256, 4),
	PORT_INFO_ROW(260, 4), /* c15 PortState */
	PORT_INFO_ROW(264, 4),
	PORT_INFO_ROW(268, 4),
	PORT_INFO_ROW(272, 2),
	RESERVED_COMPONENT,
	PORT_INFO_ROW(277, 3), /* c20 LMC */
	PORT_INFO_ROW(280, 4),
	PORT_INFO_ROW(284, 4),
	PORT_INFO_ROW(288, 4),
	PORT_INFO_ROW(292, 4),
	PORT_INFO_ROW(296, 4), /* c25 VLCap */
	PORT_INFO_ROW(300, 4),
	PORT_INFO_ROW(304, 8),
	PORT_INFO_ROW(312, 8),
	PORT_INFO_ROW(320, 8),
	PORT_INFO_ROW(328, 4), /* c30 InitTypeReply */
	PORT_INFO_ROW(332, 4),
	PORT_INFO_ROW(336, 3),
	PORT_INFO_ROW(339, 5),
	PORT_INFO_ROW(344, 4),
	PORT_INFO_ROW(348, 1), /* c35 PartEnfInbound */
	PORT_INFO_ROW(349, 1),
	PORT_INFO_ROW(350, 1),
	PORT_INFO_ROW(351, 1),
	PORT_INFO_ROW(352, 16),
	PORT_INFO_ROW(368, 16), /* c40 P_KeyViolations */
	PORT_INFO_ROW(384, 16),
	PORT_INFO_ROW(400, 8),
	PORT_INFO_ROW(408, 1),
	PORT_INFO_ROW(409, 2),
	PORT_INFO_ROW(411, 5), /* c45 SubnetTimeOut */
	RESERVED_COMPONENT,
	PORT_INFO_ROW(419, 5),
	PORT_INFO_ROW(424, 4),
	PORT_INFO_ROW(428, 4),
	PORT_INFO_ROW(432, 16), /* c50 MaxCreditHint */
	RESERVED_COMPONENT,
	PORT_INFO_ROW(456, 24),
	PORT_INFO_ROW(480, 16),
	PORT_INFO_ROW(496, 4),
	PORT_INFO_ROW(500, 4), /* c55 LinkSpeedExtSupported */
	RESERVED_COMPONENT,
	PORT_INFO_ROW(507, 5),
};

DEFINE_COMPONENTS(port_info_record, PORT_INFO_RECORD_BYTES);

#define SL_ROW(sl)                                                                                 \
	{                                                                                          \
		8 * SL_TO_VL_RECORD_BLOCK_OFFSET + 4 * (sl), 4                                     \
	}

static const struct sa_component sl_to_vl_record_rows[] = {
	{0, 16},    {16, 8},	{24, 8},    RESERVED_COMPONENT, SL_ROW(0),  SL_ROW(1),	SL_ROW(2),
	SL_ROW(3),  SL_ROW(4),	SL_ROW(5),  SL_ROW(6),		SL_ROW(7),  SL_ROW(8),	SL_ROW(9),
	SL_ROW(10), SL_ROW(11), SL_ROW(12), SL_ROW(13),		SL_ROW(14), SL_ROW(15),
};

DEFINE_COMPONENTS(sl_to_vl_record, SL_TO_VL_RECORD_BYTES);

#undef INSIDE_OFFSET
#define INSIDE_OFFSET (8 * SWITCH_INFO_RECORD_INFO_OFFSET)

/* c2 .. c18, and MulticastFDBTop, which was added later as c19. */
static const struct sa_component switch_info_record_rows[] = {
	{0, 16}, RESERVED_COMPONENT, SWITCH_INFO_FIELDS(INSIDE_ROW)};

DEFINE_COMPONENTS(switch_info_record, SWITCH_INFO_RECORD_BYTES);

static const struct sa_component forwarding_record_rows[] = {
	{0, 16},
	{16, 16},
	RESERVED_COMPONENT,
	{64, 512},
};

DEFINE_COMPONENTS(forwarding_record, BLOCK_RECORD_BYTES);

static const struct sa_component multicast_forwarding_record_rows[] = {
	{0, 16}, {16, 4}, RESERVED_COMPONENT, {23, 9}, RESERVED_COMPONENT, {64, 512},
};

DEFINE_COMPONENTS(multicast_forwarding_record, BLOCK_RECORD_BYTES);

static const struct sa_component vl_arbitration_record_rows[] = {
	{0, 16}, {16, 8}, {24, 8}, RESERVED_COMPONENT, {64, 512},
};

DEFINE_COMPONENTS(vl_arbitration_record, BLOCK_RECORD_BYTES);

#undef INSIDE_OFFSET
#define INSIDE_OFFSET (8 * SM_INFO_RECORD_INFO_OFFSET)

static const struct sa_component sm_info_record_rows[] = {
	{0, 16}, RESERVED_COMPONENT, SM_INFO_FIELDS(INSIDE_ROW)};

DEFINE_COMPONENTS(sm_info_record, SM_INFO_RECORD_BYTES);

static const struct sa_component link_record_rows[] = {{0, 16}, {16, 8}, {24, 8}, {32, 16}};

DEFINE_COMPONENTS(link_record, LINK_RECORD_BYTES);

static const struct sa_component guid_info_record_rows[] = {
	{0, 16},   {16, 8},   RESERVED_COMPONENT, RESERVED_COMPONENT, {64, 64},	 {128, 64},
	{192, 64}, {256, 64}, {320, 64},	  {384, 64},	      {448, 64}, {512, 64},
};

DEFINE_COMPONENTS(guid_info_record, BLOCK_RECORD_BYTES);

static const struct sa_component pkey_table_record_rows[] = {
	{0, 16}, {16, 16}, {32, 8}, RESERVED_COMPONENT, {64, 512},
};

DEFINE_COMPONENTS(pkey_table_record, BLOCK_RECORD_BYTES);

/* clang-format off */
static const struct sa_component service_record_rows[] = {
	{0, 64}, {64, 128}, {192, 16}, RESERVED_COMPONENT, {224, 32}, {256, 128}, {384, 512},
	/* Data8, c7 .. c22 */
	{896, 8}, {904, 8}, {912, 8}, {920, 8}, {928, 8}, {936, 8}, {944, 8}, {952, 8},
	{960, 8}, {968, 8}, {976, 8}, {984, 8}, {992, 8}, {1000, 8}, {1008, 8}, {1016, 8},
	/* Data16, c23 .. c30 */
	{1024, 16}, {1040, 16}, {1056, 16}, {1072, 16}, {1088, 16}, {1104, 16}, {1120, 16}, {1136, 16},
	/* Data32, c31 .. c34 */
	{1152, 32}, {1184, 32}, {1216, 32}, {1248, 32},
	/* Data64, c35 and c36 */
	{1280, 64}, {1344, 64},
};

DEFINE_COMPONENTS(service_record, SERVICE_RECORD_BYTES);

static const struct sa_component service_association_record_rows[] = {{0, 128}, {128, 512}};

DEFINE_COMPONENTS(service_association_record, SERVICE_ASSOCIATION_RECORD_BYTES);

static const struct sa_component path_record_rows[] = {
	{0, 8}, {8, 56}, {64, 128}, {192, 128}, {320, 16}, {336, 16},
	{352, 1}, RESERVED_COMPONENT, {356, 20}, {376, 8}, {384, 8},
	{392, 1}, {393, 7}, {400, 16}, {416, 12}, {428, 4},
	{432, 2}, {434, 6}, {440, 2}, {442, 6}, {448, 2}, {450, 6}, {456, 8},
};

DEFINE_COMPONENTS(path_record, PATH_RECORD_BYTES);

static const struct sa_component mc_member_record_rows[] = {
	{0, 128}, {128, 128}, {256, 32}, {288, 16}, {304, 2}, {306, 6}, {312, 8}, {320, 16},
	{336, 2}, {338, 6}, {344, 2}, {346, 6}, {352, 4}, {356, 20}, {376, 8},
	{384, 4}, {388, 4}, {392, 1},
};

DEFINE_COMPONENTS(mc_member_record, MC_MEMBER_RECORD_BYTES);

static const struct sa_component inform_info_record_rows[] = {
	{0, 128}, {128, 16}, RESERVED_COMPONENT, {192, 128}, {320, 16}, {336, 16}, RESERVED_COMPONENT,
	{368, 8}, {376, 8}, {384, 16}, {400, 16}, {416, 24}, RESERVED_COMPONENT, {443, 5},
	RESERVED_COMPONENT, {456, 24},
};

/* clang-format on */

DEFINE_COMPONENTS(inform_info_record, INFORM_INFO_RECORD_BYTES);

static void care_for(const struct sa_component *component, uint8_t *ret_care)
{
	for (unsigned bit = component->bit_offset, end = bit + component->bit_count; bit < end;) {
		if (bit % 8 == 0 && end - bit >= 8) {
			ret_care[bit / 8] = 0xff;
			bit += 8;
		} else {
			ret_care[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
			bit++;
		}
	}
}

void sa_match_make(const struct sa_components *components, uint64_t component_mask,
		   const uint8_t request[static SA_DATA_BYTES], struct sa_match *ret_match)
{
	uint8_t care[SA_DATA_BYTES] = {0};

	for (size_t i = 0; i < components->count; i++)
		if (component_mask & SA_COMPONENT(i))
			care_for(&components->rows[i], care);
	ret_match->word_count = (components->byte_count + 7) / 8;
	memcpy(ret_match->care, care, sizeof(care));
	memcpy(ret_match->value, request, SA_DATA_BYTES);
}

bool sa_match_accepts(const struct sa_match *match, const uint8_t *record)
{
	for (size_t i = 0; i < match->word_count; i++) {
		uint64_t word;

		memcpy(&word, record + 8 * i, sizeof(word));
		if ((word ^ match->value[i]) & match->care[i])
			return false;
	}
	return true;
}
