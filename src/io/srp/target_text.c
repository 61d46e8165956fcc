/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text that "ibsrpdm -c" prints, which is also what the kernel's driver takes. */
#include "io/srp/target_text.h"

#include <string.h>
#include "base/bytes.h"

enum key { KEY_ID_EXT, KEY_IOC_GUID, KEY_DGID, KEY_PKEY, KEY_SERVICE_ID, KEY_INITIATOR_EXT, KEYS };
enum { KEYS_REQUIRED = KEY_INITIATOR_EXT, VALUE_BYTES_MAX = 16 };

static const struct {
	const char *name;
	uint8_t byte_count;
} keys[KEYS] = {
	[KEY_ID_EXT] = {"id_ext", 8},
	[KEY_IOC_GUID] = {"ioc_guid", 8},
	[KEY_DGID] = {"dgid", 16},
	[KEY_PKEY] = {"pkey", 2},
	[KEY_SERVICE_ID] = {"service_id", 8},
	[KEY_INITIATOR_EXT] = {"initiator_ext", 8},
};

static int digit_of(char character)
{
	if (character >= '0' && character <= '9')
		return character - '0';
	if (character >= 'a' && character <= 'f')
		return character - 'a' + 10;
	if (character >= 'A' && character <= 'F')
		return character - 'A' + 10;
	return -1;
}

/* Hexadecimal digits, aligned to the right. */
static bool read_hex(const char *text, size_t length, uint8_t byte_count, uint8_t *ret_bytes)
{
	if (length >= 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		text += 2;
		length -= 2;
	}
	if (!length || length > 2u * byte_count)
		return false;
	memset(ret_bytes, 0, byte_count);
	for (size_t i = 0; i < length; i++) {
		int digit = digit_of(text[length - 1 - i]);

		if (digit < 0)
			return false;
		ret_bytes[byte_count - 1 - i / 2] |= (uint8_t)(digit << (i % 2 ? 4 : 0));
	}
	return true;
}

static int key_of(const char *text, size_t length)
{
	for (int key = 0; key < KEYS; key++)
		if (strlen(keys[key].name) == length && memcmp(keys[key].name, text, length) == 0)
			return key;
	return KEYS;
}

bool srp_target_text_read(const char *text, struct srp_target_text *ret_target,
			  const char **ret_problem)
{
	uint8_t values[KEYS][VALUE_BYTES_MAX] = {{0}};
	bool is_set[KEYS] = {0};

	while (*text) {
		size_t length = strcspn(text, ",\n");
		const char *equals = memchr(text, '=', length);

		if (!equals) {
			*ret_problem = "not a list of key=value";
			return false;
		}

		int key = key_of(text, (size_t)(equals - text));

		if (key < KEYS) {
			*ret_problem = keys[key].name;
			if (is_set[key] ||
			    !read_hex(equals + 1, length - (size_t)(equals + 1 - text),
				      keys[key].byte_count, values[key]))
				return false;
			is_set[key] = true;
		}
		text += length;
		text += strspn(text, ",\n");
	}
	for (int key = 0; key < KEYS_REQUIRED; key++) {
		*ret_problem = keys[key].name;
		if (!is_set[key])
			return false;
	}
	ret_target->id_ext = get_be64(values[KEY_ID_EXT]);
	ret_target->ioc_guid = get_be64(values[KEY_IOC_GUID]);
	memcpy(ret_target->dgid, values[KEY_DGID], sizeof(ret_target->dgid));
	ret_target->pkey = get_be16(values[KEY_PKEY]);
	ret_target->service_id = get_be64(values[KEY_SERVICE_ID]);
	ret_target->initiator_ext = get_be64(values[KEY_INITIATOR_EXT]);
	return true;
}
