/* SPDX-License-Identifier: Apache-2.0 */
/* Link rates as Linux writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "daemon/sysfs/rate_text.h"

static void test_rates_are_written_as_linux_writes_them(void **state)
{
	static const struct {
		uint8_t width, speed, extended;
		const char *text;
	} rows[] = {
		{2, 4, 2, "100 Gb/sec (4X EDR)"}, {2, 4, 0, "40 Gb/sec (4X QDR)"},
		{1, 1, 0, "2.5 Gb/sec (1X SDR)"}, {2, 1, 0, "10 Gb/sec (4X SDR)"},
		{2, 4, 1, "56 Gb/sec (4X FDR)"},  {2, 4, 4, "200 Gb/sec (4X HDR)"},
		{8, 2, 0, "60 Gb/sec (12X DDR)"}, {0, 0, 0, "2.5 Gb/sec (1X SDR)"},
	};

	(void)state;
	for (unsigned index = 0; index < sizeof(rows) / sizeof(rows[0]); index++) {
		struct port_info info = {.link_width_active = rows[index].width,
					 .link_speed_active = rows[index].speed,
					 .link_speed_ext_active = rows[index].extended};
		char text[LINK_RATE_TEXT_BYTES];

		link_rate_text(&info, text);
		assert_string_equal(text, rows[index].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates_are_written_as_linux_writes_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
