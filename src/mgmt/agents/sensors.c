/* SPDX-License-Identifier: Apache-2.0 */
/* The sensors of a virtual baseboard. */
#include "mgmt/agents/sensors.h"

#include <string.h>

/* In the order of enum sensor_level: low warning, high warning, low critical, high critical. */
static const struct sensor delivered[SENSOR_COUNT] = {
	{.kind = SENSOR_TEMPERATURE,
	 .number = 1,
	 .value = 35000,
	 .thresholds = {0, 0, 70000, -5000, 85000},
	 .hysteresis = 2000},
	{.kind = SENSOR_TEMPERATURE,
	 .number = 2,
	 .value = 45000,
	 .thresholds = {0, 0, 95000, -5000, 105000},
	 .hysteresis = 2000},
	{.kind = SENSOR_VOLTAGE,
	 .number = 0,
	 .value = 12000,
	 .thresholds = {0, 11400, 12600, 10800, 13200},
	 .hysteresis = 120},
	{.kind = SENSOR_VOLTAGE,
	 .number = 1,
	 .value = 3300,
	 .thresholds = {0, 3135, 3465, 2970, 3630},
	 .hysteresis = 33},
	{.kind = SENSOR_FAN,
	 .number = 1,
	 .value = 9000000,
	 .thresholds = {0, 4000000, 16000000, 2000000, 18000000},
	 .hysteresis = 300000},
	{.kind = SENSOR_FAN,
	 .number = 2,
	 .value = 9000000,
	 .thresholds = {0, 4000000, 16000000, 2000000, 18000000},
	 .hysteresis = 300000},
};

void sensors_init(struct sensor sensors[static SENSOR_COUNT])
{
	memcpy(sensors, delivered, sizeof(delivered));
}

struct sensor *sensors_find(struct sensor sensors[static SENSOR_COUNT], const char *name)
{
	char own[SENSOR_NAME_BYTES];

	for (unsigned i = 0; i < SENSOR_COUNT; i++) {
		sensor_name(sensors[i].kind, sensors[i].number, own);
		if (strcmp(own, name) == 0)
			return &sensors[i];
	}
	return NULL;
}

enum sensor_level sensors_health(const struct sensor sensors[static SENSOR_COUNT])
{
	uint8_t worst = SENSOR_NORMAL;

	for (unsigned i = 0; i < SENSOR_COUNT; i++)
		if (sensors[i].level > worst)
			worst = sensors[i].level;
	return (enum sensor_level)worst;
}

/* How far beyond the threshold of a level the value must be to stay in it. */
static int64_t margin(const struct sensor *sensor, enum sensor_level level, enum sensor_level worse)
{
	return sensor->level == level || sensor->level == worse ? sensor->hysteresis : 0;
}

static bool is_above(const struct sensor *sensor, enum sensor_level level, enum sensor_level worse)
{
	return sensor->value >= sensor->thresholds[level] - margin(sensor, level, worse);
}

static bool is_below(const struct sensor *sensor, enum sensor_level level, enum sensor_level worse)
{
	return sensor->value <= sensor->thresholds[level] + margin(sensor, level, worse);
}

static enum sensor_level level_now(const struct sensor *sensor)
{
	if (is_above(sensor, SENSOR_HIGH_CRITICAL, SENSOR_HIGH_CRITICAL))
		return SENSOR_HIGH_CRITICAL;
	if (is_below(sensor, SENSOR_LOW_CRITICAL, SENSOR_LOW_CRITICAL))
		return SENSOR_LOW_CRITICAL;
	if (is_above(sensor, SENSOR_HIGH_WARNING, SENSOR_HIGH_CRITICAL))
		return SENSOR_HIGH_WARNING;
	if (is_below(sensor, SENSOR_LOW_WARNING, SENSOR_LOW_CRITICAL))
		return SENSOR_LOW_WARNING;
	return SENSOR_NORMAL;
}

void sensor_set_value(struct sensor *sensor, int32_t value)
{
	sensor->value = value;
	sensor->level = (uint8_t)level_now(sensor);
}

bool sensor_set_threshold(struct sensor *sensor, uint8_t level, int32_t value)
{
	struct sensor wanted = *sensor;

	if (level == SENSOR_NORMAL || level >= SENSOR_LEVEL_COUNT)
		return false;
	wanted.thresholds[level] = value;
	if (wanted.thresholds[SENSOR_LOW_CRITICAL] > wanted.thresholds[SENSOR_LOW_WARNING] ||
	    wanted.thresholds[SENSOR_LOW_WARNING] > wanted.thresholds[SENSOR_HIGH_WARNING] ||
	    wanted.thresholds[SENSOR_HIGH_WARNING] > wanted.thresholds[SENSOR_HIGH_CRITICAL])
		return false;
	*sensor = wanted;
	sensor->level = (uint8_t)level_now(sensor);
	return true;
}

struct sensor_report sensor_report_of(const struct sensor sensors[static SENSOR_COUNT],
				      unsigned index)
{
	const struct sensor *sensor = &sensors[index];

	return (struct sensor_report){
		.index = (uint8_t)index,
		.kind = sensor->kind,
		.number = sensor->number,
		.level = sensor->level,
		.value = (uint32_t)sensor->value,
		.low_critical = (uint32_t)sensor->thresholds[SENSOR_LOW_CRITICAL],
		.low_warning = (uint32_t)sensor->thresholds[SENSOR_LOW_WARNING],
		.high_warning = (uint32_t)sensor->thresholds[SENSOR_HIGH_WARNING],
		.high_critical = (uint32_t)sensor->thresholds[SENSOR_HIGH_CRITICAL],
	};
}
