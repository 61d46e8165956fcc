/* SPDX-License-Identifier: Apache-2.0 */
/* The drivers that a host has for I/O controllers, and which of them serves a controller. */
#ifndef SOFTIB_MGMT_DEVICE_IO_DRIVERS_H
#define SOFTIB_MGMT_DEVICE_IO_DRIVERS_H

#include "mgmt/device/unit_reader.h"

enum io_driver { IO_DRIVER_NONE, IO_DRIVER_SRP, IO_DRIVER_CONSOLE };

/* By I/O class, protocol, ID string and service names. */
enum io_driver io_driver_for(const struct io_found_controller *controller);
const char *io_driver_name(enum io_driver driver);

/* The service by which the driver reaches the controller. NULL: it has none. */
const struct io_service_entry *io_driver_service(enum io_driver driver,
						 const struct io_found_controller *controller);

#endif
