/* SPDX-License-Identifier: Apache-2.0 */
/* What the library refuses before it asks softibd, and with which of its three kinds of error.
 * clients/umad_api.c registers for good. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <unistd.h>

#include <infiniband/umad.h>

static int pipe_ends[2]; /* no open port, and no socket at all */

static int set_up(void **state)
{
	(void)state;
	return pipe(pipe_ends);
}

static int tear_down(void **state)
{
	(void)state;
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	return 0;
}

static void test_the_first_forms_know_one_error_only(void **state)
{
	uint8_t oui[3] = {0, 0x14, 0x05};

	(void)state;
	assert_int_equal(umad_register(pipe_ends[0], 0x0a, 1, 0, NULL), -EPERM);
	assert_int_equal(errno, EBADF);
	assert_int_equal(umad_register(pipe_ends[0], 0x03, 2, 7, NULL), -EPERM);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(umad_register_oui(pipe_ends[0], 0x32, 0, oui, NULL), -EPERM);
	assert_int_equal(errno, EBADF);
}

static void test_an_oui_is_for_vendor_classes_of_range_2(void **state)
{
	uint8_t oui[3] = {0, 0x14, 0x05};

	(void)state;
	assert_int_equal(umad_register_oui(pipe_ends[0], 0x2f, 0, oui, NULL), -EINVAL);
	assert_int_equal(umad_register_oui(pipe_ends[0], 0x50, 0, oui, NULL), -EINVAL);
}

static void test_the_second_form_gives_its_errors_as_they_are(void **state)
{
	struct umad_reg_attr attributes = {.mgmt_class = 0x0a, .mgmt_class_version = 1};
	uint32_t agent = 77;

	(void)state;
	assert_int_equal(umad_register2(pipe_ends[0], NULL, &agent), EINVAL);
	assert_int_equal(umad_register2(pipe_ends[0], &attributes, NULL), EINVAL);
	assert_int_equal(umad_register2(pipe_ends[0], &attributes, &agent), EBADF);
	attributes.flags = 6;
	assert_int_equal(umad_register2(pipe_ends[0], &attributes, &agent), EINVAL);
	assert_int_equal(attributes.flags, UMAD_USER_RMPP);
	attributes.flags = 0;
	attributes.rmpp_version = 2;
	assert_int_equal(umad_register2(pipe_ends[0], &attributes, &agent), EINVAL);
	assert_int_equal(agent, 77);
}

static void test_unregistering_says_what_ioctl_would(void **state)
{
	(void)state;
	assert_int_equal(umad_unregister(pipe_ends[0], -1), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(umad_unregister(pipe_ends[0], 0), -1);
	assert_int_equal(errno, EBADF);
}

#define AGENTS_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		AGENTS_TEST(test_the_first_forms_know_one_error_only),
		AGENTS_TEST(test_an_oui_is_for_vendor_classes_of_range_2),
		AGENTS_TEST(test_the_second_form_gives_its_errors_as_they_are),
		AGENTS_TEST(test_unregistering_says_what_ioctl_would),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
