/* SPDX-License-Identifier: Apache-2.0 */
/* softib baseboard show: everything that a node's baseboard tells. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cli/baseboard_node.h"
#include "cli/fabric_client.h"
#include "cli/subcommand.h"

enum { VPD_SHOWN = 512, VPD_READS = (VPD_SHOWN + VPD_READ_MAX - 1) / VPD_READ_MAX, SENSORS = 6 };

/* The requests, in the order in which they are added. */
enum {
	REQUEST_KEY = 0,
	REQUEST_STATUS = 1,
	REQUEST_SENSORS = 2,
	REQUEST_MODULE = REQUEST_SENSORS + SENSORS,
	REQUEST_CHASSIS = REQUEST_MODULE + VPD_READS,
	REQUEST_COUNT = REQUEST_CHASSIS + VPD_READS,
};
static_assert(REQUEST_COUNT <= (int)BASEBOARD_REQUESTS_MAX, "all requests fit the client");

static void add_vpd(struct baseboard_client *client, uint8_t selector)
{
	for (unsigned offset = 0; offset < VPD_SHOWN; offset += VPD_READ_MAX) {
		unsigned left = VPD_SHOWN - offset;
		uint8_t parameters[VPD_HEADER_BYTES] = {selector};

		put_be16(parameters + 1, (uint16_t)(left < VPD_READ_MAX ? left : VPD_READ_MAX));
		put_be16(parameters + 3, (uint16_t)offset);
		baseboard_client_add_command(client, COMMAND_READ_VPD, parameters,
					     sizeof(parameters));
	}
}

static void add_requests(struct baseboard_client *client)
{
	baseboard_client_add(client, MAD_GET, ATTRIBUTE_BKEY_INFO, NULL, 0);
	baseboard_client_add_command(client, COMMAND_GET_MODULE_STATUS, NULL, 0);
	for (uint8_t index = 0; index < SENSORS; index++) {
		uint8_t parameters[OEM_VENDOR_BYTES + 2] = {[OEM_VENDOR_BYTES] = OEM_READ_SENSOR,
							    [OEM_VENDOR_BYTES + 1] = index};

		put_be24(parameters, SOFTIB_VENDOR_ID);
		baseboard_client_add_command(client, COMMAND_OEM, parameters, sizeof(parameters));
	}
	add_vpd(client, VPD_MODULE);
	add_vpd(client, VPD_CHASSIS);
	assert(client->request_count == REQUEST_COUNT);
}

/* The text up to the first zero byte. Bytes that are no printable ASCII show as question marks. */
static json_t *vpd_text(const struct baseboard_client *client, unsigned first)
{
	char text[VPD_SHOWN + 1] = {0};
	size_t length = 0;

	for (unsigned i = first; i < first + VPD_READS; i++) {
		const struct baseboard_request *request = &client->requests[i];
		size_t count = request->answer_bytes;

		if (count > VPD_SHOWN - length)
			count = VPD_SHOWN - length;
		memcpy(text + length, request->answer, count);
		length += count;
	}
	for (char *c = text; *c; c++)
		if (*c != '\n' && (*c < ' ' || *c > '~'))
			*c = '?';
	return json_string(text);
}

static const char *power_name(uint8_t power)
{
	switch (power) {
	case POWER_ON:
		return "on";
	case POWER_STANDBY:
		return "standby";
	case POWER_OFF:
		return "off";
	default:
		return "unknown";
	}
}

static const char *attention_name(uint8_t attention)
{
	switch (attention) {
	case ATTENTION_OFF:
		return "off";
	case ATTENTION_ON:
		return "on";
	case ATTENTION_IDENTIFY:
		return "identify";
	default:
		return "unknown";
	}
}

static json_t *thousandths(uint32_t value)
{
	return json_real((int32_t)value / 1000.0);
}

static json_t *sensor_json(const struct baseboard_request *request)
{
	struct sensor_report report;
	char name[SENSOR_NAME_BYTES];

	sensor_report_decode(request->answer, &report);
	sensor_name(report.kind, report.number, name);
	return json_pack("{s:s, s:o, s:s, s:o, s:o, s:o, s:o}", "name", name, "value",
			 thousandths(report.value), "level", sensor_level_name(report.level),
			 "low_critical", thousandths(report.low_critical), "low_warning",
			 thousandths(report.low_warning), "high_warning",
			 thousandths(report.high_warning), "high_critical",
			 thousandths(report.high_critical));
}

static json_t *describe(const struct baseboard_node *node)
{
	const struct baseboard_client *client = &node->client;
	struct class_key_info key;
	struct module_status status;
	json_t *sensors = json_array();

	class_key_info_decode(client->requests[REQUEST_KEY].answer, &key);
	module_status_decode(client->requests[REQUEST_STATUS].answer, &status);
	for (unsigned i = 0; i < SENSORS; i++)
		json_array_append_new(sensors, sensor_json(&client->requests[REQUEST_SENSORS + i]));
	return json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:b, s:b, s:b, s:{s:o, s:b, s:i, s:i}, "
			 "s:{s:o, s:o}, s:o}",
			 "node", node->name, "lid", (int)node->lid, "power",
			 power_name(status.module_power), "unit_power",
			 power_name(status.unit_power), "attention",
			 attention_name(status.attention), "health",
			 sensor_level_name(status.health), "bus_is_hung", (int)status.bus_is_hung,
			 "module_vpd_is_protected", (int)status.module_vpd_is_protected,
			 "chassis_vpd_is_protected", (int)status.chassis_vpd_is_protected, "key",
			 "key", json_sprintf("0x%016" PRIx64, key.key), "is_protected",
			 (int)key.protect_bit, "lease_period", (int)key.lease_period, "violations",
			 (int)key.violations, "vpd", "module", vpd_text(client, REQUEST_MODULE),
			 "chassis", vpd_text(client, REQUEST_CHASSIS), "sensors", sensors);
}

static void print_vpd(const char *name, const char *text)
{
	printf("%s VPD\n", name);
	for (const char *line = text; *line;) {
		size_t length = strcspn(line, "\n");

		printf("  %.*s\n", (int)length, line);
		line += length + (line[length] == '\n');
	}
}

static void print_sensors(const json_t *sensors)
{
	const json_t *row;
	size_t index;

	printf("%-8s %12s  %-13s %10s %10s %10s %10s\n", "SENSOR", "VALUE", "LEVEL", "LOW-CRIT",
	       "LOW-WARN", "HIGH-WARN", "HIGH-CRIT");
	json_array_foreach (sensors, index, row)
		printf("%-8s %12.3f  %-13s %10.3f %10.3f %10.3f %10.3f\n",
		       fabric_client_text(row, "name"),
		       json_real_value(json_object_get(row, "value")),
		       fabric_client_text(row, "level"),
		       json_real_value(json_object_get(row, "low_critical")),
		       json_real_value(json_object_get(row, "low_warning")),
		       json_real_value(json_object_get(row, "high_warning")),
		       json_real_value(json_object_get(row, "high_critical")));
}

static void print_text(const json_t *answer)
{
	const json_t *key = json_object_get(answer, "key");
	const json_t *vpd = json_object_get(answer, "vpd");

	printf("%s, LID %d\n", fabric_client_text(answer, "node"),
	       fabric_client_number(answer, "lid"));
	printf("power %s (unit %s), attention %s, health %s%s\n",
	       fabric_client_text(answer, "power"), fabric_client_text(answer, "unit_power"),
	       fabric_client_text(answer, "attention"), fabric_client_text(answer, "health"),
	       json_is_true(json_object_get(answer, "bus_is_hung")) ? ", IB-ML hangs" : "");
	printf("B_Key %s%s, lease %d s, violations %d\n", fabric_client_text(key, "key"),
	       json_is_true(json_object_get(key, "is_protected")) ? " (protected)" : "",
	       fabric_client_number(key, "lease_period"), fabric_client_number(key, "violations"));
	print_sensors(json_object_get(answer, "sensors"));
	print_vpd("module", fabric_client_text(vpd, "module"));
	print_vpd("chassis", fabric_client_text(vpd, "chassis"));
}

/* A node without power answers nothing, and that is no error. */
static int show_off(const struct baseboard_options *options, const struct baseboard_node *node)
{
	json_t *answer = json_pack("{s:s, s:s}", "node", node->name, "power", "off");

	if (options->wants_json)
		print_json(answer);
	else
		printf("%s\npower off\n", node->name);
	json_decref(answer);
	return EXIT_SUCCESS;
}

int baseboard_show(const struct subcommand *self, const struct baseboard_options *options,
		   int argument_count, char **arguments)
{
	struct baseboard_node node;
	int code;

	if (argument_count != 1)
		return subcommand_misuse(self, "show takes a node");
	code = baseboard_node_find(self, options, arguments[0], &node);
	if (code != EXIT_SUCCESS)
		return code;
	if (!node.has_power)
		return show_off(options, &node);
	code = baseboard_node_open(options, &node);
	if (code != EXIT_SUCCESS)
		return code;
	add_requests(&node.client);
	code = baseboard_node_run(&node);
	if (code == EXIT_SUCCESS) {
		json_t *answer = describe(&node);

		if (options->wants_json)
			print_json(answer);
		else
			print_text(answer);
		json_decref(answer);
	}
	baseboard_node_close(&node);
	return code;
}
