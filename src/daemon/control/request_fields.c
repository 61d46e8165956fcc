/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a request on the control socket. */
#include "daemon/control/request_fields.h"

#include <errno.h>
#include <stdlib.h>

bool request_integer(const json_t *request, const char *name, uint32_t last, uint32_t *ret_number)
{
	const json_t *value = json_object_get(request, name);
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 0 || number > last)
		return false;
	*ret_number = (uint32_t)number;
	return true;
}

bool request_hexadecimal(const json_t *request, const char *name, uint64_t *ret_number)
{
	const char *text = json_string_value(json_object_get(request, name));
	unsigned long long number;
	char *end;

	if (!text)
		return false;
	errno = 0;
	number = strtoull(text, &end, 16);
	if (errno || end == text || *end)
		return false;
	*ret_number = number;
	return true;
}

json_int_t request_from(const json_t *request)
{
	json_int_t from = json_integer_value(json_object_get(request, "from"));

	return from > 0 && from <= INT32_MAX ? from : 0;
}
