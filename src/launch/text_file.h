/* SPDX-License-Identifier: Apache-2.0 */
/* Small files of text: read whole, written whole or not at all. */
#ifndef SOFTIB_LAUNCH_TEXT_FILE_H
#define SOFTIB_LAUNCH_TEXT_FILE_H

#include <stddef.h>
#include "base/attributes.h"

/* The text ends with a 0 that is not counted, and is the caller's to free. -errno; -EFBIG: longer
 * than bytes_max. */
MUST_USE int text_file_read(const char *path, size_t bytes_max, char **ret_text, size_t *ret_bytes);

/* By way of PATH.new, so that whoever reads it, or a crash, never sees half of it. -errno. */
MUST_USE int text_file_write(const char *path, const char *text);

#endif
