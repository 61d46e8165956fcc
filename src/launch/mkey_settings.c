/* SPDX-License-Identifier: Apache-2.0 */
/* M_Key options of a command line: see mkey_settings.h. */
#include "launch/mkey_settings.h"

#include <errno.h>
#include <stdlib.h>

/* Level 0 shows the key to everybody, so it is not the default. */
enum { LEVEL_DEFAULT = 1, LEVEL_MAX = 3, LEASE_SECONDS_DEFAULT = 60 };

static bool read_number(const char *text, uint64_t max, uint64_t *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = strtoull(text, &end, 0);
	return end != text && !*end && !errno && text[0] != '-' && *ret_number <= max;
}

const char *mkey_settings_refusal(enum mkey_setting setting, const char *text)
{
	uint64_t number;

	switch (setting) {
	case MKEY_KEY:
		return read_number(text, UINT64_MAX, &number) ? NULL
							      : "--m-key takes a 64-bit number";
	case MKEY_SECRET:
		return *text ? NULL : "--m-key-secret takes a file";
	case MKEY_PROTECTION_LEVEL:
		return read_number(text, LEVEL_MAX, &number)
			       ? NULL
			       : "--m-key-protection-level takes a number from 0 to 3";
	case MKEY_LEASE_PERIOD:
		return read_number(text, UINT16_MAX, &number)
			       ? NULL
			       : "--m-key-lease-period takes a number of seconds up to 65535";
	}
	return NULL;
}

void mkey_settings_take(struct mkey_settings *settings, enum mkey_setting setting, const char *text)
{
	switch (setting) {
	case MKEY_KEY:
		settings->key = strtoull(text, NULL, 0);
		break;
	case MKEY_SECRET:
		settings->secret_path = text;
		break;
	case MKEY_PROTECTION_LEVEL:
		settings->protection_level = (uint8_t)strtoul(text, NULL, 0);
		settings->has_level = true;
		break;
	case MKEY_LEASE_PERIOD:
		settings->lease_period = (uint16_t)strtoul(text, NULL, 0);
		settings->has_lease = true;
		break;
	}
}

int mkey_settings_complete(struct mkey_settings *settings)
{
	if (settings->secret_path && !settings->has_secret) {
		int error = secret_file_read(settings->secret_path, settings->secret);

		if (error)
			return error;
		settings->has_secret = true;
	}
	if (!settings->has_level)
		settings->protection_level = LEVEL_DEFAULT;
	if (!settings->has_lease)
		settings->lease_period = LEASE_SECONDS_DEFAULT;
	return 0;
}
