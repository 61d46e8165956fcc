/* SPDX-License-Identifier: Apache-2.0 */
/* Small text files: read whole, written whole or not at all. */
#ifndef SOFTIB_LAUNCH_TEXT_FILE_H
#define SOFTIB_LAUNCH_TEXT_FILE_H

#include <stddef.h>
#include "base/attributes.h"

/* The text ends with a NUL that is not counted; the caller frees it. -errno; -EFBIG: longer than
 * bytes_max. */
MUST_USE int text_file_read(const char *path, size_t bytes_max, char **ret_text, size_t *ret_bytes);

/* Writes PATH.new and renames it, so that neither a reader nor a crash leaves half a file. -errno.
 */
MUST_USE int text_file_write(const char *path, const char *text);

#endif
