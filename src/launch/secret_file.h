/* SPDX-License-Identifier: Apache-2.0 */
/* A secret of 128 bits in a file of 32 hexadecimal digits that only its owner may read. */
#ifndef SOFTIB_LAUNCH_SECRET_FILE_H
#define SOFTIB_LAUNCH_SECRET_FILE_H

#include <stdint.h>
#include "base/attributes.h"

enum { SECRET_BYTES = 16 };

/* Reads the file, or makes it with a random secret and mode 0600 if there is none. -EPERM: users
 * other than its owner may read or write it, or another user owns it; -EINVAL: no 32 digits; other
 * -errno. */
MUST_USE int secret_file_read(const char *path, uint8_t ret_secret[static SECRET_BYTES]);

/* The text for an error of secret_file_read. */
const char *secret_file_reason(int error);

#endif
