/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a request on the control socket. */
#ifndef SOFTIB_DAEMON_CONTROL_REQUEST_FIELDS_H
#define SOFTIB_DAEMON_CONTROL_REQUEST_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

/* An integer from 0 to `last`. */
MUST_USE bool request_integer(const json_t *request, const char *name, uint32_t last,
			      uint32_t *ret_number);
/* A 64-bit number, which JSON holds as hexadecimal text. */
MUST_USE bool request_hexadecimal(const json_t *request, const char *name, uint64_t *ret_number);

/* Where a long list goes on; anything else than a row's number is the first row. */
json_int_t request_from(const json_t *request);

#endif
