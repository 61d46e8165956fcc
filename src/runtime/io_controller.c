/* SPDX-License-Identifier: Apache-2.0 */
/* An I/O controller in a slot of this program's adapter. */
#include "runtime/io_controller.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/session.h"
#include "runtime/softibd_connection.h"

/* Asks with a JSON object, of which it takes ownership. */
static int ask(json_t *question, json_t **ret_answer)
{
	struct session *session;
	int error = session_get(&session);
	char *text = error || !question ? NULL : json_dumps(question, JSON_COMPACT);

	if (!error)
		error = text ? session_ask_plain(session, text, ret_answer) : -ENOMEM;
	free(text);
	json_decref(question);
	return error;
}

/* As text: JSON's numbers have one bit less than 64. */
static json_t *number_to_json(uint64_t number)
{
	return json_sprintf("0x%" PRIx64, number);
}

static json_t *profile_to_json(const struct io_controller_description *description)
{
	const struct attribute_layout *layout = &io_controller_profile_layout;
	json_t *profile = json_object();

	for (size_t i = 0; i < layout->field_count; i++)
		json_object_set_new(profile, layout->fields[i].name,
				    number_to_json(attribute_field_value(&layout->fields[i],
									 &description->profile)));
	json_object_set_new(profile, "id_string", json_string(description->id_string));
	return profile;
}

static json_t *services_to_json(const struct io_controller_description *description)
{
	json_t *services = json_array();

	for (unsigned i = 0; i < description->service_count; i++) {
		const struct io_service_entry *entry = &description->services[i];

		json_array_append_new(services, json_pack("{s:s%, s:o}", "name", entry->name,
							  strnlen(entry->name, sizeof(entry->name)),
							  "id", number_to_json(entry->id)));
	}
	return services;
}

static int read_place(const json_t *answer, unsigned *ret_slot, uint64_t *ret_guid)
{
	const char *guid = json_string_value(json_object_get(answer, "guid"));
	uint64_t slot;
	int error = answer_number(answer, "slot", &slot);

	if (error || !guid || slot < 1 || slot > IO_SLOTS_MAX)
		return -EPROTO;
	*ret_slot = (unsigned)slot;
	*ret_guid = strtoull(guid, NULL, 16);
	return 0;
}

static void name_adapter(json_t *question, const char *adapter)
{
	if (adapter)
		json_object_set_new(question, "adapter", json_string(adapter));
}

int io_controller_plug(const struct io_controller_description *description, unsigned *ret_slot,
		       uint64_t *ret_guid)
{
	json_t *question = json_pack(
		"{s:s, s:i, s:o, s:o}", "command", "io-plug", "slot", (int)description->slot,
		"profile", profile_to_json(description), "services", services_to_json(description));
	json_t *answer;
	int error;

	name_adapter(question, description->adapter);
	error = ask(question, &answer);
	if (error)
		return error;
	error = read_place(answer, ret_slot, ret_guid);
	json_decref(answer);
	return error;
}

int io_controller_pull(const char *adapter, unsigned slot)
{
	json_t *question = json_pack("{s:s, s:i}", "command", "io-pull", "slot", (int)slot);
	json_t *answer;
	int error;

	name_adapter(question, adapter);
	error = ask(question, &answer);
	if (!error)
		json_decref(answer);
	return error;
}
