/* SPDX-License-Identifier: Apache-2.0 */
/* Answers that are too long for one control message, which softibd gives page by page. */
#include "cli/answer_pages.h"

#include "cli/fabric_client.h"

json_t *answer_pages_collect(int socket, json_t *request, const char *key)
{
	json_t *whole = NULL;
	json_int_t from = 0;

	for (;;) {
		json_object_set_new(request, "from", json_integer(from));

		json_t *answer = fabric_client_ask(socket, json_incref(request), ANSWER_TIMEOUT_MS);
		json_int_t next = json_integer_value(json_object_get(answer, "next"));

		if (!answer) {
			json_decref(whole);
			whole = NULL;
			break;
		}
		if (!whole) {
			whole = answer;
		} else {
			json_array_extend(json_object_get(whole, key),
					  json_object_get(answer, key));
			json_decref(answer);
		}
		if (next <= from)
			break;
		from = next;
	}
	json_decref(request);
	if (whole) {
		json_object_del(whole, "next");
		json_object_del(whole, "ok");
	}
	return whole;
}
