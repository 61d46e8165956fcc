/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are too long for one control message, which softibd gives page by page. */
#ifndef SOFTIB_CLI_ANSWER_PAGES_H
#define SOFTIB_CLI_ANSWER_PAGES_H

#include <jansson.h>
#include "base/attributes.h"

/* Sends the request, which it consumes, until softibd has given all pages. Returns the first page,
 * with the rows of all pages under this key; NULL after printing the error. */
MUST_USE json_t *answer_pages_collect(int socket, json_t *request, const char *key);

#endif
