/* SPDX-License-Identifier: Apache-2.0 */
/* Sensors of a baseboard: levels, hysteresis, thresholds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/agents/sensors.h"

static struct sensor sensors[SENSOR_COUNT];

static int setup(void **state)
{
	(void)state;
	sensors_init(sensors);
	return 0;
}

static void test_delivered_values_are_normal(void **state)
{
	(void)state;
	for (unsigned i = 0; i < SENSOR_COUNT; i++) {
		sensor_set_value(&sensors[i], sensors[i].value);
		assert_int_equal(sensors[i].level, SENSOR_NORMAL);
	}
	assert_int_equal(sensors_health(sensors), SENSOR_NORMAL);
	assert_non_null(sensors_find(sensors, "fan2"));
	assert_null(sensors_find(sensors, "fan3"));
	assert_null(sensors_find(sensors, ""));
}

static void test_level_follows_the_value(void **state)
{
	static const struct {
		int32_t value;
		enum sensor_level level;
	} steps[] = {
		{69999, SENSOR_NORMAL},		  {70000, SENSOR_HIGH_WARNING},
		{84999, SENSOR_HIGH_WARNING},	  {85000, SENSOR_HIGH_CRITICAL},
		{83000, SENSOR_HIGH_CRITICAL}, /* within the hysteresis of 2 degrees */
		{82999, SENSOR_HIGH_WARNING},	  {68000, SENSOR_HIGH_WARNING},
		{67999, SENSOR_NORMAL},		  {0, SENSOR_LOW_WARNING},
		{-5000, SENSOR_LOW_CRITICAL},	  {-3000, SENSOR_LOW_CRITICAL},
		{-2999, SENSOR_LOW_WARNING},	  {2001, SENSOR_NORMAL},
		{INT32_MIN, SENSOR_LOW_CRITICAL}, {INT32_MAX, SENSOR_HIGH_CRITICAL},
	};
	struct sensor *sensor = sensors_find(sensors, "temp1");

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(steps); i++) {
		sensor_set_value(sensor, steps[i].value);
		assert_int_equal(sensor->level, steps[i].level);
		assert_int_equal(sensors_health(sensors), steps[i].level);
	}
}

static void test_thresholds_keep_their_order(void **state)
{
	struct sensor *sensor = sensors_find(sensors, "in0");

	(void)state;
	assert_false(sensor_set_threshold(sensor, SENSOR_NORMAL, 0));
	assert_false(sensor_set_threshold(sensor, SENSOR_LEVEL_COUNT, 0));
	assert_false(sensor_set_threshold(sensor, SENSOR_HIGH_WARNING, 13201));
	assert_false(sensor_set_threshold(sensor, SENSOR_LOW_CRITICAL, 11401));
	assert_int_equal(sensor->thresholds[SENSOR_HIGH_WARNING], 12600);
	/* A new threshold may change the level at once. */
	assert_true(sensor_set_threshold(sensor, SENSOR_HIGH_WARNING, 11900));
	assert_int_equal(sensor->level, SENSOR_HIGH_WARNING);
}

static void test_report_has_every_field(void **state)
{
	struct sensor_report report;

	(void)state;
	sensor_set_value(&sensors[0], -6000);
	report = sensor_report_of(sensors, 0);
	assert_int_equal(report.kind, SENSOR_TEMPERATURE);
	assert_int_equal(report.number, 1);
	assert_int_equal(report.level, SENSOR_LOW_CRITICAL);
	assert_int_equal((int32_t)report.value, -6000);
	assert_int_equal((int32_t)report.low_critical, -5000);
	assert_int_equal(report.low_warning, 0);
	assert_int_equal(report.high_warning, 70000);
	assert_int_equal(report.high_critical, 85000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_delivered_values_are_normal, setup),
		cmocka_unit_test_setup(test_level_follows_the_value, setup),
		cmocka_unit_test_setup(test_thresholds_keep_their_order, setup),
		cmocka_unit_test_setup(test_report_has_every_field, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
