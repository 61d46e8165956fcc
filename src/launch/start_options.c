/* SPDX-License-Identifier: Apache-2.0 */
/* The options that a fabric is started with. */
#include "launch/start_options.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/attributes.h"
#include "launch/gateway_option.h"

enum { HOSTS_MAX = 10000, TCAS_MAX = 1000, LMC_MAX = 7 };

bool start_option_is(int code)
{
	return code > START_OPTION_NONE && code < START_OPTION_END;
}

const char *start_option_name(enum start_option option)
{
	/* clang-format off */
	static const char *const names[] = {
#define NAME(code, name, has_argument, usage) [START_OPTION_##code - START_OPTION_NONE] = "--" name,
		START_OPTIONS(NAME)
#undef NAME
	};
	/* clang-format on */

	assert(start_option_is((int)option));
	return names[option - START_OPTION_NONE];
}

/* Digits only; strtoul() also accepts signs and spaces. */
static bool is_number_between(const char *text, unsigned long minimum, unsigned long maximum)
{
	if (!text[0] || text[strspn(text, "0123456789")])
		return false;

	unsigned long number = strtoul(text, NULL, 10);

	return number >= minimum && number <= maximum;
}

bool start_option_is_mkey(enum start_option option, enum mkey_setting *ret_setting)
{
	if (option < START_OPTION_M_KEY || option > START_OPTION_M_KEY_LEASE_PERIOD)
		return false;
	*ret_setting = (enum mkey_setting)(option - START_OPTION_M_KEY);
	return true;
}

/* The counts that VLCap can express. */
static bool is_lane_count(const char *text)
{
	static const char *const counts[] = {"1", "2", "4", "8", "15"};

	for (unsigned i = 0; i < ARRAY_COUNT(counts); i++)
		if (strcmp(text, counts[i]) == 0)
			return true;
	return false;
}

static const char *gateway_refusal(const char *value)
{
	struct gateway_option option;

	return gateway_option_read(value, &option)
		       ? NULL
		       : "--gateway takes ROUTER=udp:127.0.0.1:PORT,127.0.0.1:PEERPORT or "
			 "ROUTER=tap:NAME";
}

const char *start_option_refusal(enum start_option option, const char *value)
{
	enum mkey_setting mkey_setting;

	if (start_option_is_mkey(option, &mkey_setting))
		return mkey_settings_refusal(mkey_setting, value);
	if (option == START_OPTION_HOSTS && !is_number_between(value, 1, HOSTS_MAX))
		return "--hosts takes a number from 1 to 10000";
	if (option == START_OPTION_TCAS && !is_number_between(value, 0, TCAS_MAX))
		return "--tcas takes a number from 0 to 1000";
	if (option == START_OPTION_VLS && !is_lane_count(value))
		return "--vls takes 1, 2, 4, 8 or 15";
	if (option == START_OPTION_LMC && !is_number_between(value, 0, LMC_MAX))
		return "--lmc takes a number from 0 to 7";
	if (option == START_OPTION_PART_ENFORCE && strcmp(value, "both") != 0 &&
	    strcmp(value, "in") != 0 && strcmp(value, "out") != 0 && strcmp(value, "off") != 0)
		return "--part-enforce takes both, in, out or off";
	if (option == START_OPTION_PRUNE && !is_number_between(value, 0, PRUNE_SECONDS_MAX))
		return "--prune takes a number of seconds, up to 2592000";
	return option == START_OPTION_GATEWAY ? gateway_refusal(value) : NULL;
}
