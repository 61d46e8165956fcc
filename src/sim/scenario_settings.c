/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a scenario about ports: links, virtual lanes, arbitration, lifetimes. */
#include "sim/scenario_reader.h"

#include <errno.h>
#include <string.h>
#include "sim/scenario_words.h"
#include "wire/rate.h"

static const struct scenario_choice widths[] = {{"1x", LINK_WIDTH_1X},	 {"2x", LINK_WIDTH_2X},
						{"4x", LINK_WIDTH_4X},	 {"8x", LINK_WIDTH_8X},
						{"12x", LINK_WIDTH_12X}, {NULL, 0}};

static const struct scenario_choice speeds[] = {
	{"sdr", LINK_SPEED_SDR}, {"ddr", LINK_SPEED_DDR}, {"qdr", LINK_SPEED_QDR},
	{"fdr", LINK_SPEED_FDR}, {"edr", LINK_SPEED_EDR}, {"hdr", LINK_SPEED_HDR},
	{"ndr", LINK_SPEED_NDR}, {"xdr", LINK_SPEED_XDR}, {NULL, 0}};

static int add_setting(struct scenario_reader *reader, enum setting_kind kind,
		       struct scenario_setting **ret_setting)
{
	struct scenario *scenario = reader->scenario;
	struct scenario_setting *setting =
		scenario_reader_grow((void **)&scenario->settings, &scenario->setting_count,
				     sizeof(*setting), SCENARIO_SETTINGS_MAX);

	if (!setting)
		return scenario_reader_refuse(reader, "too many settings");
	setting->kind = kind;
	setting->line = reader->line_number;
	setting->limit = setting->head_of_queue_code = setting->switch_code = -1;
	*ret_setting = setting;
	return scenario_reader_take_name(reader, "the port", setting->port);
}

int scenario_read_link(struct scenario_reader *reader)
{
	struct scenario_setting *setting = NULL;
	int error = add_setting(reader, SETTING_LINK, &setting);

	while (!error && !scenario_reader_is_at_end(reader)) {
		const char *word = scenario_reader_take(reader);
		unsigned value = 0;

		if (strcmp(word, "width") == 0) {
			error = scenario_reader_choose(reader, "link width", widths, &value);
			setting->width = (uint8_t)value;
		} else if (strcmp(word, "speed") == 0) {
			error = scenario_reader_choose(reader, "link speed", speeds, &value);
			setting->speed = (uint16_t)value;
		} else {
			error = scenario_reader_refuse(
				reader, "a link has a width and a speed, not '%.40s'", word);
		}
	}
	return error;
}

int scenario_read_sl_to_vl(struct scenario_reader *reader)
{
	struct scenario_setting *setting = NULL;
	int error = add_setting(reader, SETTING_SL_TO_VL, &setting);

	for (unsigned sl = 0; !error && sl < SL_COUNT; sl++) {
		uint64_t vl = 0;

		error = scenario_reader_take_number(reader, "a lane", VL_MANAGEMENT, &vl);
		setting->sl_to_vl[sl] = (uint8_t)vl;
	}
	return error;
}

/* VL:WEIGHT */
static bool read_entry(const char *word, uint8_t ret_entry[2])
{
	char lane[8];
	const char *colon = strchr(word, ':');
	uint64_t vl, weight;

	if (!colon || colon == word || (size_t)(colon - word) >= sizeof(lane))
		return false;
	memcpy(lane, word, (size_t)(colon - word));
	lane[colon - word] = '\0';
	if (!word_number(lane, 14, &vl) || !word_number(colon + 1, 255, &weight))
		return false;
	ret_entry[0] = (uint8_t)vl;
	ret_entry[1] = (uint8_t)weight;
	return true;
}

int scenario_read_vl_arbitration(struct scenario_reader *reader)
{
	static const struct scenario_choice priorities[] = {{"high", 1}, {"low", 0}, {NULL, 0}};
	struct scenario_setting *setting = NULL;
	unsigned is_high = 0;
	int error = add_setting(reader, SETTING_VL_ARBITRATION, &setting);

	if (!error)
		error = scenario_reader_choose(reader, "priority (high or low)", priorities,
					       &is_high);
	if (!error)
		setting->is_high = is_high;
	while (!error && !scenario_reader_is_at_end(reader)) {
		const char *word = scenario_reader_take(reader);
		uint64_t limit = 0;

		if (strcmp(word, "limit") == 0) {
			error = scenario_reader_take_number(reader, "the limit of high priority",
							    255, &limit);
			setting->limit = (int)limit;
		} else if (setting->entry_count == VL_ARBITRATION_ENTRIES) {
			error = scenario_reader_refuse(reader, "a table has at most %d entries",
						       VL_ARBITRATION_ENTRIES);
		} else if (!read_entry(word, setting->entries[setting->entry_count++])) {
			error = scenario_reader_refuse(reader, "an entry is VL:WEIGHT, not '%.40s'",
						       word);
		}
	}
	return error;
}

int scenario_read_lifetime(struct scenario_reader *reader)
{
	struct scenario_setting *setting = NULL;
	int error = add_setting(reader, SETTING_LIFETIME, &setting);

	while (!error && !scenario_reader_is_at_end(reader)) {
		const char *word = scenario_reader_take(reader);
		uint64_t code = 0;

		if (strcmp(word, "head-of-queue") == 0) {
			error = scenario_reader_take_number(reader, "a lifetime code", 31, &code);
			setting->head_of_queue_code = (int)code;
		} else if (strcmp(word, "switch") == 0) {
			error = scenario_reader_take_number(reader, "a lifetime code", 31, &code);
			setting->switch_code = (int)code;
		} else {
			error = scenario_reader_refuse(reader, "'%.40s' has no lifetime", word);
		}
	}
	return error;
}
