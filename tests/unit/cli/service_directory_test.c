/* SPDX-License-Identifier: Apache-2.0 */
/* softib services register, find and unregister: what their arguments ask for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "base/attributes.h"
#include "cli/fabric_client.h"
#include "cli/sa_session.h"
#include "cli/service_directory.h"
#include "cli/subcommand.h"

static struct service_request request;

/* Reads words, up to NULL. */
#define READ(...) read_words((const char *[]){__VA_ARGS__, NULL})

static const char *read_words(const char *const words[])
{
	char copies[16][96];
	char *arguments[17];
	int count = 0;

	for (; words[count]; count++) {
		snprintf(copies[count], sizeof(copies[count]), "%s", words[count]);
		arguments[count] = copies[count];
	}
	arguments[count] = NULL;

	const char *reason = service_request_read(count, arguments, &request);

	/* Options that name words point into the copies. */
	request.host = NULL;
	request.fabric = NULL;
	return reason;
}

static void test_register_takes_name_and_id(void **state)
{
	(void)state;
	assert_null(READ("register", "storage", "0x1000", "-H", "h2", "--lease", "60", "--pkey",
			 "0x8001", "--key", "0x112233445566778899aabbccddeeff00"));
	assert_string_equal((const char *)request.record.name, "storage");
	assert_int_equal(request.record.id.id, 0x1000);
	assert_int_equal(request.record.id.lease_s, 60);
	assert_int_equal(request.record.id.pkey, 0x8001);
	assert_true(request.record.id.key_high == 0x1122334455667788u);
	assert_true(request.record.id.key_low == 0x99aabbccddeeff00u);
	assert_int_equal(request.components, SA_COMPONENT(SR_ID) | SA_COMPONENT(SR_NAME) |
						     SA_COMPONENT(SR_LEASE) |
						     SA_COMPONENT(SR_PKEY) | SA_COMPONENT(SR_KEY));
}

static void test_find_asks_for_what_is_given(void **state)
{
	(void)state;
	assert_null(READ("find"));
	assert_int_equal(request.components, 0);
	assert_null(READ("find", "--json", "--name", "console"));
	assert_int_equal(request.components, SA_COMPONENT(SR_NAME));
	assert_true(request.wants_json);
	assert_null(READ("find", "--id", "18446744073709551615"));
	assert_true(request.record.id.id == UINT64_MAX);
	assert_null(READ("find", "--key", "f"));
	assert_true(request.record.id.key_low == 0xf && request.record.id.key_high == 0);
}

static void test_bad_arguments_are_named(void **state)
{
	static const char long_name[] =
		"0123456789012345678901234567890123456789012345678901234567890123";

	(void)state;
	assert_non_null(READ("register"));
	assert_non_null(READ("register", "storage"));
	assert_non_null(READ("register", "", "1"));
	assert_non_null(READ("register", long_name, "1"));
	assert_null(READ("register", long_name + 1, "1"));
	assert_non_null(READ("register", "storage", "x"));
	assert_non_null(READ("register", "storage", "-1"));
	assert_non_null(READ("register", "storage", "0x10000000000000000"));
	assert_non_null(READ("register", "storage", "1", "more"));
	assert_non_null(READ("register", "storage", "1", "--lease", "0"));
	assert_non_null(READ("register", "storage", "1", "--lease", "4294967296"));
	assert_non_null(READ("register", "storage", "1", "--pkey", "0x10000"));
	assert_non_null(READ("register", "storage", "1", "--pkey", "0"));
	assert_non_null(READ("register", "storage", "1", "--key", ""));
	assert_non_null(READ("register", "storage", "1", "--key", "0xg"));
	assert_non_null(
		READ("register", "storage", "1", "--key", "0x112233445566778899aabbccddeeff001"));
	assert_non_null(READ("find", "storage"));
	assert_non_null(READ("unregister"));
	assert_non_null(READ("unregister", "--name", "storage"));
	assert_null(READ("unregister", "--id", "1"));
	assert_string_equal(READ("find", "--help"), "");
}

static void test_subcommands_are_known(void **state)
{
	(void)state;
	assert_true(service_directory_knows("register"));
	assert_true(service_directory_knows("find"));
	assert_true(service_directory_knows("unregister"));
	assert_false(service_directory_knows("--json"));
}

/* The rest of the program, which reading does not use. */
int sa_session_open(const char *user, const char *fabric, const char *host,
		    struct sa_session *ret_session)
{
	(void)user, (void)fabric, (void)host, (void)ret_session;
	return -1;
}

void sa_session_close(struct sa_session *session)
{
	(void)session;
}

int sa_session_ask(struct sa_session *session, enum mad_method method, uint16_t attribute_id,
		   uint64_t component_mask, const uint8_t *data, size_t byte_count,
		   struct sa_client_result *ret_result)
{
	(void)session, (void)method, (void)attribute_id, (void)component_mask, (void)data;
	(void)byte_count, (void)ret_result;
	return -1;
}

const char *fabric_name_or_default(const char *name)
{
	return name;
}

const char *fabric_client_text(const json_t *object, const char *key)
{
	(void)object, (void)key;
	return "-";
}

void print_json(const json_t *object)
{
	(void)object;
}

int subcommand_help(const struct subcommand *self)
{
	(void)self;
	return 0;
}

int subcommand_misuse(const struct subcommand *self, const char *reason)
{
	(void)self, (void)reason;
	return EXIT_USAGE;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_register_takes_name_and_id),
		cmocka_unit_test(test_find_asks_for_what_is_given),
		cmocka_unit_test(test_bad_arguments_are_named),
		cmocka_unit_test(test_subcommands_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
