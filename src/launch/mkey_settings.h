/* SPDX-License-Identifier: Apache-2.0 */
/* M_Key options of a command line: of "softib up" for the built-in manager, and of "softib sm". */
#ifndef SOFTIB_LAUNCH_MKEY_SETTINGS_H
#define SOFTIB_LAUNCH_MKEY_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "launch/secret_file.h"

enum mkey_setting { MKEY_KEY, MKEY_SECRET, MKEY_PROTECTION_LEVEL, MKEY_LEASE_PERIOD };

struct mkey_settings {
	uint64_t key;		 /* of every port; 0: none */
	const char *secret_path; /* keys per port; NULL: none */
	uint8_t protection_level;
	uint16_t lease_period; /* s; 0: never ends */
	bool has_level, has_lease;
	/* After mkey_settings_complete(). */
	bool has_secret;
	uint8_t secret[SECRET_BYTES];
};

/* Why the text is refused, or NULL. */
const char *mkey_settings_refusal(enum mkey_setting setting, const char *text);
/* The text has passed mkey_settings_refusal; the caller keeps a path alive. */
void mkey_settings_take(struct mkey_settings *settings, enum mkey_setting setting,
			const char *text);

/* Reads or makes the secret, and fills in defaults: if there are keys, level 1 and a lease of 60 s.
 * -errno: secret_file_reason() says why. */
MUST_USE int mkey_settings_complete(struct mkey_settings *settings);

#endif
