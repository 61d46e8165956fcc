/* SPDX-License-Identifier: Apache-2.0 */
/* A scan for I/O controllers from a port of a host. */
#include "cli/io_scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/mad_engine.h"
#include "mgmt/device/io_drivers.h"
#include "wire/pkey.h"

enum { TEXT_BYTES = 64, PATH_BYTES = 600, NAME_BYTES = NODE_DESCRIPTION_BYTES + 1 };

static void read_port_file(const struct host_port *port, const char *file,
			   char ret_text[static TEXT_BYTES])
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s/ports/%u/%s", port->tree,
		 port->adapter, port->port_number, file);
	host_port_read_text(path, ret_text, TEXT_BYTES);
}

/* The default P_Key as the port has it: as full or as limited member. */
static uint16_t default_pkey(const struct host_port *port)
{
	char text[TEXT_BYTES];
	uint16_t pkey;

	read_port_file(port, "pkeys/0", text);
	pkey = (uint16_t)strtoul(text, NULL, 0);
	return (pkey | 0x8000) == PKEY_DEFAULT_FULL ? pkey : PKEY_DEFAULT_FULL;
}

int io_scan_open(const char *fabric, const char *host, struct mad_engine_port *ret_port,
		 struct io_manager_options *ret_options)
{
	const struct mad_agent_options sa_agent = {.management_class =
							   MAD_CLASS_SUBNET_ADMINISTRATION,
						   .class_version = SA_CLASS_VERSION};
	const struct mad_agent_options device_agent = {.management_class = MAD_CLASS_DEVICE,
						       .class_version = DEVICE_CLASS_VERSION};
	struct mad_agent_identity sa, device;
	int error;

	*ret_port = (struct mad_engine_port){0};
	error = host_port_open("io", fabric, host, 0, &ret_port->host);
	if (error)
		return error;
	error = mad_engine_register(ret_port, &sa_agent, &sa);
	if (!error)
		error = mad_engine_register(ret_port, &device_agent, &device);
	if (error) {
		mad_engine_close(ret_port);
		return error;
	}
	*ret_options = (struct io_manager_options){.agent_number = device.number,
						   .sa = {.agent_number = sa.number},
						   .sa_pkey = default_pkey(&ret_port->host),
						   .own_gid = host_port_gid(&ret_port->host)};
	host_port_find_sa(&ret_port->host, &ret_options->sm_lid, &ret_options->sm_sl);
	return 0;
}

static void receive(void *context, time_ns now, const struct mad_message *message)
{
	io_manager_receive(context, now, message);
}

static unsigned transmit(void *context, time_ns now, unsigned messages_max,
			 struct mad_message ret_messages[])
{
	return io_manager_transmit(context, now, messages_max, ret_messages);
}

static time_ns deadline(const void *context)
{
	return io_manager_deadline(context);
}

static bool is_done(void *context, time_ns now)
{
	(void)now;
	return io_manager_is_done(context);
}

int io_scan_run(struct mad_engine_port *port, const struct io_manager_options *options,
		struct io_manager *ret_manager)
{
	const struct mad_engine engine = {.context = ret_manager,
					  .receive = receive,
					  .transmit = transmit,
					  .deadline = deadline,
					  .is_done = is_done,
					  .descriptor = -1};
	int error = io_manager_init(ret_manager, options);

	if (error) {
		fprintf(stderr, "softib io: %s\n", strerror(-error));
		return error;
	}
	error = io_manager_scan(ret_manager);
	if (!error)
		error = mad_engine_run(port, &engine);
	if (!error && ret_manager->state == IO_SCAN_RUNNING)
		error = -EINTR;
	if (!error && ret_manager->state == IO_SCAN_NO_SA) {
		fprintf(stderr, "softib io: %s: the subnet administration does not answer\n",
			port->host.name);
		error = -ETIMEDOUT;
	}
	if (error)
		io_manager_release(ret_manager);
	return error;
}

/* The first word of the description names the host. */
static void node_name(const struct io_found_unit *unit, char ret_name[static NAME_BYTES])
{
	snprintf(ret_name, NAME_BYTES, "%s", unit->description);
	ret_name[strcspn(ret_name, " ")] = '\0';
	if (!ret_name[0])
		snprintf(ret_name, NAME_BYTES, "0x%016" PRIx64, unit->node_guid);
}

const struct io_found_controller *io_scan_find(const struct io_manager *manager, const char *node,
					       unsigned slot, const struct io_found_unit **ret_unit)
{
	for (unsigned i = 0; i < manager->unit_count; i++) {
		const struct io_found_unit *unit = manager->units[i];
		char name[NAME_BYTES], guid[NAME_BYTES];

		node_name(unit, name);
		snprintf(guid, sizeof(guid), "0x%016" PRIx64, unit->node_guid);
		if (strcmp(name, node) != 0 && strcasecmp(guid, node) != 0)
			continue;
		for (unsigned c = 0; c < unit->reader.controller_count; c++) {
			if (unit->reader.controllers[c].slot != slot)
				continue;
			*ret_unit = unit;
			return &unit->reader.controllers[c];
		}
	}
	return NULL;
}

static const char *unit_trouble(const struct io_found_unit *unit)
{
	if (unit->state == IO_UNIT_UNREACHABLE)
		return "there is no path to it";
	switch (unit->reader.state) {
	case UNIT_READER_SILENT:
		return "it does not respond";
	case UNIT_READER_REFUSED:
		return "it refuses IOUnitInfo";
	case UNIT_READER_UNSTEADY:
		return "it changes faster than it can be read";
	case UNIT_READER_BEGINS:
	case UNIT_READER_AWAITS_INFO:
	case UNIT_READER_READS:
	case UNIT_READER_CHECKS:
	case UNIT_READER_AWAITS_CHECK:
	case UNIT_READER_DONE:
		break;
	}
	return unit->reader.lists_impossible_slots
		       ? "it lists controllers in slots that do not exist"
		       : NULL;
}

static const char *controller_trouble(const struct io_found_controller *controller)
{
	switch (controller->state) {
	case IO_CONTROLLER_WORKS:
		break;
	case IO_CONTROLLER_FAILED:
		return "its self-test failed";
	case IO_CONTROLLER_ABSENT:
		return "its slot is empty, although the unit lists it";
	case IO_CONTROLLER_SILENT:
		return "the unit does not respond to requests about it";
	case IO_CONTROLLER_REFUSED:
		return "the unit refuses to show it";
	}
	return controller->bad_service_count ? "some of its service entries are wrong" : NULL;
}

static json_t *controller_to_json(const struct io_found_controller *controller)
{
	const struct attribute_layout *layout = &io_controller_profile_layout;
	const char *trouble = controller_trouble(controller);
	json_t *services = json_array(), *profile = json_object();

	for (size_t i = 1; i < layout->field_count; i++)
		json_object_set_new(profile, layout->fields[i].name,
				    json_integer((json_int_t)attribute_field_value(
					    &layout->fields[i], &controller->profile)));
	for (unsigned i = 0; i < controller->service_count; i++)
		json_array_append_new(
			services,
			json_pack("{s:s, s:o}", "name", controller->services[i].name, "id",
				  json_sprintf("0x%016" PRIx64, controller->services[i].id)));
	return json_pack("{s:i, s:o, s:s, s:s, s:i, s:s?, s:o, s:o}", "slot", (int)controller->slot,
			 "guid", json_sprintf("0x%016" PRIx64, controller->profile.guid),
			 "id_string", controller->id_string, "driver",
			 io_driver_name(io_driver_for(controller)), "diag_code",
			 (int)controller->diag_code, "trouble", trouble, "profile", profile,
			 "services", services);
}

static json_t *unit_to_json(const struct io_found_unit *unit)
{
	const struct unit_reader *reader = &unit->reader;
	json_t *controllers = json_array();
	char name[NAME_BYTES];

	node_name(unit, name);
	for (unsigned i = 0; i < reader->controller_count; i++)
		json_array_append_new(controllers, controller_to_json(&reader->controllers[i]));
	return json_pack("{s:s, s:o, s:o, s:i, s:i, s:i, s:s?, s:o}", "node", name, "node_guid",
			 json_sprintf("0x%016" PRIx64, unit->node_guid), "port_guid",
			 json_sprintf("0x%016" PRIx64, gid_guid(&unit->gid)), "lid", (int)unit->lid,
			 "change_id", (int)reader->info.change_id, "slots",
			 (int)reader->info.max_controllers, "trouble", unit_trouble(unit),
			 "controllers", controllers);
}

json_t *io_scan_to_json(const struct io_manager *manager)
{
	json_t *units = json_array();

	for (unsigned i = 0; i < manager->unit_count; i++)
		json_array_append_new(units, unit_to_json(manager->units[i]));
	return json_pack("{s:b, s:I, s:o}", "truncated", manager->is_truncated, "duration_us",
			 (json_int_t)((manager->ended_at - manager->began_at) / MICROSECONDS(1)),
			 "units", units);
}

static void print_controller(const char *node, const struct io_found_controller *controller)
{
	const char *trouble = controller_trouble(controller);

	printf("%-10s %4u  0x%016" PRIx64 "  0x%04x  0x%04x    %-8s %-24s", node, controller->slot,
	       controller->profile.guid, controller->profile.io_class, controller->profile.protocol,
	       io_driver_name(io_driver_for(controller)), controller->id_string);
	for (unsigned i = 0; i < controller->service_count; i++)
		printf("%s%s=0x%016" PRIx64, i ? " " : "  ", controller->services[i].name,
		       controller->services[i].id);
	if (controller->state == IO_CONTROLLER_FAILED)
		printf("  (%s, code 0x%04x)", trouble, controller->diag_code);
	else if (trouble)
		printf("  (%s)", trouble);
	putchar('\n');
}

void io_scan_print(const struct io_manager *manager)
{
	unsigned controller_count = 0;

	printf("%-10s %4s  %-18s  %-6s  %-8s  %-8s %-24s  %s\n", "NODE", "SLOT", "GUID", "CLASS",
	       "PROTOCOL", "DRIVER", "ID STRING", "SERVICES");
	for (unsigned i = 0; i < manager->unit_count; i++) {
		const struct unit_reader *reader = &manager->units[i]->reader;
		char name[NAME_BYTES];

		node_name(manager->units[i], name);
		for (unsigned c = 0; c < reader->controller_count; c++)
			print_controller(name, &reader->controllers[c]);
		controller_count += reader->controller_count;
		if (unit_trouble(manager->units[i]))
			printf("%s: %s\n", name, unit_trouble(manager->units[i]));
	}
	printf("%u units, %u controllers\n", manager->unit_count, controller_count);
	if (manager->is_truncated)
		printf("there are more units than these\n");
}
