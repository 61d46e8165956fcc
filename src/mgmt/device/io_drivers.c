/* SPDX-License-Identifier: Apache-2.0 */
/* The drivers that a host has for I/O controllers. */
#include "mgmt/device/io_drivers.h"

#include <stddef.h>
#include <string.h>

enum { CLASSES_MAX = 2 };

/* SRP: IOClass of rev. 16a or 10 of its standard; some targets swap two digits of the subclass
 * (management 6.3). The console's numbers are softib's own. */
static const struct driver_row {
	enum io_driver driver;
	const char *name;
	int io_classes[CLASSES_MAX];
	int io_subclasses[CLASSES_MAX];
	int protocol;
	int protocol_version;
	const char *id_string;	    /* is part of the ID string; NULL: any */
	const char *service_prefix; /* of the service that the driver connects to */
} drivers[] = {
	{IO_DRIVER_SRP, "srp", {0x0100, 0xff00}, {0x609e, 0x690e}, 0x0108, 1, NULL, "SRP.T10:"},
	{IO_DRIVER_CONSOLE,
	 "console",
	 {0xfe01, 0xfe01},
	 {1, 1},
	 0xfe01,
	 1,
	 "softib console",
	 "console.softib:"},
};

static bool is_one_of(const int values[CLASSES_MAX], int value)
{
	return values[0] == value || values[1] == value;
}

static bool is_for(const struct driver_row *row, const struct io_found_controller *controller)
{
	const struct io_controller_profile *profile = &controller->profile;

	return is_one_of(row->io_classes, profile->io_class) &&
	       is_one_of(row->io_subclasses, profile->io_subclass) &&
	       row->protocol == profile->protocol &&
	       row->protocol_version == profile->protocol_version &&
	       (!row->id_string || strstr(controller->id_string, row->id_string)) &&
	       io_driver_service(row->driver, controller);
}

static const struct driver_row *row_of(enum io_driver driver)
{
	for (size_t i = 0; i < ARRAY_COUNT(drivers); i++) {
		if (drivers[i].driver == driver)
			return &drivers[i];
	}
	return NULL;
}

const struct io_service_entry *io_driver_service(enum io_driver driver,
						 const struct io_found_controller *controller)
{
	const struct driver_row *row = row_of(driver);

	for (unsigned i = 0; row && i < controller->service_count; i++) {
		if (strncmp(controller->services[i].name, row->service_prefix,
			    strlen(row->service_prefix)) == 0)
			return &controller->services[i];
	}
	return NULL;
}

enum io_driver io_driver_for(const struct io_found_controller *controller)
{
	if (controller->state != IO_CONTROLLER_WORKS)
		return IO_DRIVER_NONE;
	for (size_t i = 0; i < ARRAY_COUNT(drivers); i++) {
		if (is_for(&drivers[i], controller))
			return drivers[i].driver;
	}
	return IO_DRIVER_NONE;
}

const char *io_driver_name(enum io_driver driver)
{
	const struct driver_row *row = row_of(driver);

	return row ? row->name : "-";
}
