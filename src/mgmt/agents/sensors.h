/* SPDX-License-Identifier: Apache-2.0 */
/* The sensors of a virtual baseboard: temperatures, voltages and fans, each with four thresholds
 * and a hysteresis. The physical world (a command) sets the values. */
#ifndef SOFTIB_MGMT_AGENTS_SENSORS_H
#define SOFTIB_MGMT_AGENTS_SENSORS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "wire/baseboard.h"

enum { SENSOR_COUNT = 6 };

struct sensor {
	uint8_t kind; /* enum sensor_kind */
	uint8_t number;
	uint8_t level;				/* enum sensor_level */
	uint8_t told_level;			/* the level that the last trap told */
	int32_t value;				/* thousandths */
	int32_t thresholds[SENSOR_LEVEL_COUNT]; /* [SENSOR_NORMAL] is not used */
	int32_t hysteresis;
};

/* Values and thresholds as delivered. */
void sensors_init(struct sensor sensors[static SENSOR_COUNT]);
/* By name: temp1, in0, fan1. NULL: there is none. */
struct sensor *sensors_find(struct sensor sensors[static SENSOR_COUNT], const char *name);
/* The worst level. */
enum sensor_level sensors_health(const struct sensor sensors[static SENSOR_COUNT]);

/* A level is left only when the value is back by more than the hysteresis. */
void sensor_set_value(struct sensor *sensor, int32_t value);
/* False: not a threshold, or low critical <= low warning <= high warning <= high critical would not
 * hold. */
MUST_USE bool sensor_set_threshold(struct sensor *sensor, uint8_t level, int32_t value);

struct sensor_report sensor_report_of(const struct sensor sensors[static SENSOR_COUNT],
				      unsigned index);

#endif
