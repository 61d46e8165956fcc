/* SPDX-License-Identifier: Apache-2.0 */
/* The actions of softib baseboard that change one thing: by a command of baseboard management where
 * there is one, by softibd where the physical world acts. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "cli/baseboard_node.h"
#include "cli/subcommand.h"

enum { NAME_BYTES = 32, VPD_OFFSET_MAX = 0xffff };

static bool read_number(const char *text, double *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = strtod(text, &end);
	return end != text && !*end && !errno;
}

/* "on" or "off". */
static bool read_switch(const char *text, bool *ret_is_on)
{
	*ret_is_on = strcmp(text, "on") == 0;
	return *ret_is_on || strcmp(text, "off") == 0;
}

/* NAME=NUMBER */
static bool read_assignment(const char *text, char ret_name[static NAME_BYTES], double *ret_number)
{
	const char *sign = strchr(text, '=');

	if (!sign || sign == text || sign - text >= NAME_BYTES)
		return false;
	memcpy(ret_name, text, (size_t)(sign - text));
	ret_name[sign - text] = '\0';
	return read_number(sign + 1, ret_number);
}

int baseboard_sensor_action(const struct subcommand *self, const struct baseboard_options *options,
			    int argument_count, char **arguments)
{
	int code = EXIT_SUCCESS;

	if (argument_count < 2)
		return subcommand_misuse(self, "sensor takes a node and NAME=VALUE");
	for (int i = 1; i < argument_count && code == EXIT_SUCCESS; i++) {
		char name[NAME_BYTES];
		double value;
		json_t *request;

		if (!read_assignment(arguments[i], name, &value))
			return subcommand_misuse(self, "write a sensor as NAME=VALUE: temp1=71.5");
		request = baseboard_control_request(self, "baseboard-sensor", arguments[0]);
		if (request) {
			json_object_set_new(request, "sensor", json_string(name));
			json_object_set_new(request, "value", json_real(value));
		}
		code = baseboard_control(options, request);
	}
	return code;
}

static bool find_level(const char *name, uint8_t *ret_level)
{
	static const char *const names[SENSOR_LEVEL_COUNT] = {
		[SENSOR_NORMAL] = "",
		[SENSOR_LOW_WARNING] = "low-warning",
		[SENSOR_HIGH_WARNING] = "high-warning",
		[SENSOR_LOW_CRITICAL] = "low-critical",
		[SENSOR_HIGH_CRITICAL] = "high-critical",
	};

	for (uint8_t level = SENSOR_LOW_WARNING; level < SENSOR_LEVEL_COUNT; level++) {
		if (strcmp(names[level], name) == 0) {
			*ret_level = level;
			return true;
		}
	}
	return false;
}

/* The sensors' order on a baseboard of softib. */
static bool find_sensor(const char *name, uint8_t *ret_index)
{
	static const char *const names[] = {"temp1", "temp2", "in0", "in1", "fan1", "fan2"};

	for (uint8_t index = 0; index < ARRAY_COUNT(names); index++) {
		if (strcmp(names[index], name) == 0) {
			*ret_index = index;
			return true;
		}
	}
	return false;
}

/* threshold NODE SENSOR LEVEL=VALUE... */
int baseboard_threshold_action(const struct subcommand *self,
			       const struct baseboard_options *options, int argument_count,
			       char **arguments)
{
	uint8_t parameters[OEM_VENDOR_BYTES + 1 + SENSOR_THRESHOLD_BYTES] = {
		[OEM_VENDOR_BYTES] = OEM_SET_THRESHOLD};
	int code = EXIT_SUCCESS;

	put_be24(parameters, SOFTIB_VENDOR_ID);
	if (argument_count < 3 || !find_sensor(arguments[1], &parameters[OEM_VENDOR_BYTES + 1]))
		return subcommand_misuse(
			self, "threshold takes a node, a sensor (temp1, temp2, in0, in1, fan1, "
			      "fan2) and LEVEL=VALUE");
	for (int i = 2; i < argument_count && code == EXIT_SUCCESS; i++) {
		char name[NAME_BYTES];
		double value;

		if (!read_assignment(arguments[i], name, &value) || value < -2000000 ||
		    value > 2000000 || !find_level(name, &parameters[OEM_VENDOR_BYTES + 2]))
			return subcommand_misuse(self,
						 "LEVEL is low-critical, low-warning, high-warning "
						 "or high-critical: high-warning=60");
		put_be32(parameters + OEM_VENDOR_BYTES + 3, (uint32_t)(int32_t)(value * 1000));
		code = baseboard_node_command(self, options, arguments[0], COMMAND_OEM, parameters,
					      sizeof(parameters));
	}
	return code;
}

static int set_attention(const struct subcommand *self, const struct baseboard_options *options,
			 int argument_count, char **arguments, enum module_attention attention)
{
	bool is_on;
	uint8_t parameter;

	if (argument_count != 2 || !read_switch(arguments[1], &is_on))
		return subcommand_misuse(self, "name a node, and on or off");
	parameter = is_on ? (uint8_t)attention : ATTENTION_OFF;
	return baseboard_node_command(self, options, arguments[0], COMMAND_SET_MODULE_ATTENTION,
				      &parameter, 1);
}

int baseboard_identify_action(const struct subcommand *self,
			      const struct baseboard_options *options, int argument_count,
			      char **arguments)
{
	return set_attention(self, options, argument_count, arguments, ATTENTION_IDENTIFY);
}

int baseboard_attention_action(const struct subcommand *self,
			       const struct baseboard_options *options, int argument_count,
			       char **arguments)
{
	return set_attention(self, options, argument_count, arguments, ATTENTION_ON);
}

int baseboard_reset_ibml_action(const struct subcommand *self,
				const struct baseboard_options *options, int argument_count,
				char **arguments)
{
	if (argument_count != 1)
		return subcommand_misuse(self, "reset-ibml takes a node");
	return baseboard_node_command(self, options, arguments[0], COMMAND_RESET_IBML, NULL, 0);
}

int baseboard_hang_bus_action(const struct subcommand *self,
			      const struct baseboard_options *options, int argument_count,
			      char **arguments)
{
	if (argument_count != 1)
		return subcommand_misuse(self, "hang-bus takes a node");
	return baseboard_control(
		options, baseboard_control_request(self, "baseboard-hang-bus", arguments[0]));
}

/* A controller of the node's I/O unit. The node has power, so both go by a command. */
static int switch_controller(const struct subcommand *self, const struct baseboard_options *options,
			     const char *target, const char *to)
{
	uint8_t parameters[] = {(uint8_t)options->slot, POWER_ON};
	bool is_on;

	if (!read_switch(to, &is_on) || options->wake_seconds)
		return subcommand_misuse(self, "a controller is switched on or off");
	if (!is_on)
		parameters[1] = POWER_OFF;
	return baseboard_node_command(self, options, target, COMMAND_SET_IOC_PM, parameters,
				      sizeof(parameters));
}

/* On is the power button, because a node without power gets no MAD. */
int baseboard_power_action(const struct subcommand *self, const struct baseboard_options *options,
			   int argument_count, char **arguments)
{
	const char *to = argument_count == 2 ? arguments[1] : "";
	uint8_t parameters[3] = {POWER_OFF};
	json_t *request;

	if (argument_count == 2 && options->slot)
		return switch_controller(self, options, arguments[0], to);
	if (strcmp(to, "on") == 0) {
		request = baseboard_control_request(self, "baseboard-power", arguments[0]);
		if (request)
			json_object_set_new(request, "on", json_true());
		return baseboard_control(options, request);
	}
	if (strcmp(to, "cycle") == 0) {
		parameters[0] = MODULE_RESET;
		return baseboard_node_command(self, options, arguments[0], COMMAND_SET_MODULE_STATE,
					      parameters, 1);
	}
	if (strcmp(to, "off") != 0)
		return subcommand_misuse(self, "power takes a node, and on, off or cycle");
	put_be16(parameters + 1, (uint16_t)options->wake_seconds);
	return baseboard_node_command(self, options, arguments[0], COMMAND_SET_MODULE_PM,
				      parameters, sizeof(parameters));
}

static int write_vpd(const struct subcommand *self, const struct baseboard_options *options,
		     const char *target, uint8_t selector, unsigned offset, const char *text)
{
	struct baseboard_node node;
	size_t length = strlen(text);
	int code = baseboard_node_find(self, options, target, &node);

	if (length > VPD_WRITE_MAX * BASEBOARD_REQUESTS_MAX || offset + length > VPD_OFFSET_MAX)
		return subcommand_misuse(self, "the text is longer than any VPD");
	if (code == EXIT_SUCCESS)
		code = baseboard_node_open(options, &node);
	if (code != EXIT_SUCCESS)
		return code;
	for (size_t done = 0; done < length;) {
		size_t count = length - done < VPD_WRITE_MAX ? length - done : VPD_WRITE_MAX;
		uint8_t parameters[VPD_HEADER_BYTES + VPD_WRITE_MAX] = {selector};

		put_be16(parameters + 1, (uint16_t)count);
		put_be16(parameters + 3, (uint16_t)(offset + done));
		memcpy(parameters + VPD_HEADER_BYTES, text + done, count);
		baseboard_client_add_command(&node.client, COMMAND_WRITE_VPD, parameters,
					     (unsigned)(VPD_HEADER_BYTES + count));
		done += count;
	}
	code = baseboard_node_run(&node);
	baseboard_node_close(&node);
	return code;
}

static int read_vpd(const struct subcommand *self, const struct baseboard_options *options,
		    const char *target, uint8_t selector, unsigned offset, unsigned count)
{
	struct baseboard_node node;
	uint8_t parameters[VPD_HEADER_BYTES] = {selector};
	int code = baseboard_node_find(self, options, target, &node);

	if (code == EXIT_SUCCESS)
		code = baseboard_node_open(options, &node);
	if (code != EXIT_SUCCESS)
		return code;
	put_be16(parameters + 1, (uint16_t)count);
	put_be16(parameters + 3, (uint16_t)offset);
	baseboard_client_add_command(&node.client, COMMAND_READ_VPD, parameters,
				     sizeof(parameters));
	code = baseboard_node_run(&node);
	for (unsigned i = 0; code == EXIT_SUCCESS && i < node.client.requests[0].answer_bytes; i++)
		printf("%c", isprint(node.client.requests[0].answer[i])
				     ? node.client.requests[0].answer[i]
				     : '.');
	if (code == EXIT_SUCCESS)
		printf("\n");
	baseboard_node_close(&node);
	return code;
}

static int protect_vpd(const struct subcommand *self, const struct baseboard_options *options,
		       const char *target, const char *name, bool is_on)
{
	json_t *request = baseboard_control_request(self, "baseboard-protect", target);

	if (request) {
		json_object_set_new(request, "vpd", json_string(name));
		json_object_set_new(request, "on", json_boolean(is_on));
	}
	return baseboard_control(options, request);
}

/* vpd NODE read|write|protect module|chassis ... */
int baseboard_vpd_action(const struct subcommand *self, const struct baseboard_options *options,
			 int argument_count, char **arguments)
{
	const char *action = argument_count > 2 ? arguments[1] : "";
	const char *name = argument_count > 2 ? arguments[2] : "";
	bool is_chassis = strcmp(name, "chassis") == 0, is_on;
	uint8_t selector = is_chassis ? VPD_CHASSIS : VPD_MODULE;
	double offset = 0, count = VPD_READ_MAX;

	if (!is_chassis && strcmp(name, "module") != 0)
		return subcommand_misuse(
			self, "vpd takes a node, read, write or protect, and module or chassis");
	if (strcmp(action, "protect") == 0) {
		if (argument_count != 4 || !read_switch(arguments[3], &is_on))
			return subcommand_misuse(self, "vpd protect takes on or off");
		return protect_vpd(self, options, arguments[0], name, is_on);
	}
	if (argument_count > 3 &&
	    (!read_number(arguments[3], &offset) || offset < 0 || offset > VPD_OFFSET_MAX))
		return subcommand_misuse(self, "an offset is a number from 0 to 65535");
	if (strcmp(action, "write") == 0 && argument_count == 5)
		return write_vpd(self, options, arguments[0], selector, (unsigned)offset,
				 arguments[4]);
	if (strcmp(action, "read") != 0 || argument_count > 5 ||
	    (argument_count == 5 &&
	     (!read_number(arguments[4], &count) || count < 0 || count > VPD_OFFSET_MAX)))
		return subcommand_misuse(self, "write: vpd NODE read module|chassis [OFFSET "
					       "[COUNT]], or vpd NODE write module|chassis OFFSET "
					       "TEXT");
	return read_vpd(self, options, arguments[0], selector, (unsigned)offset, (unsigned)count);
}
