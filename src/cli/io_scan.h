/* SPDX-License-Identifier: Apache-2.0 */
/* A scan for I/O controllers from a port of a host, by the I/O resource manager. */
#ifndef SOFTIB_CLI_IO_SCAN_H
#define SOFTIB_CLI_IO_SCAN_H

#include <jansson.h>
#include "base/attributes.h"
#include "mgmt/device/io_manager.h"

struct mad_engine_port;

/* Opens the first port of the host, with agents of the SA's class and of device management, and
 * fills in the options of a manager there. host NULL: the first host. Prints the error and returns
 * -errno. */
MUST_USE int io_scan_open(const char *fabric, const char *host, struct mad_engine_port *ret_port,
			  struct io_manager_options *ret_options);

/* Scans from this port. The caller releases the manager. Prints the error and returns -errno. */
MUST_USE int io_scan_run(struct mad_engine_port *port, const struct io_manager_options *options,
			 struct io_manager *ret_manager);

/* The controller in a slot of the node with this name or node GUID. NULL: there is none. */
const struct io_found_controller *io_scan_find(const struct io_manager *manager, const char *node,
					       unsigned slot,
					       const struct io_found_unit **ret_unit);

json_t *io_scan_to_json(const struct io_manager *manager);
void io_scan_print(const struct io_manager *manager);

#endif
