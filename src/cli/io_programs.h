/* SPDX-License-Identifier: Apache-2.0 */
/* The programs behind "softib io": controllers that run in the background on a node, and drivers on
 * a host. */
#ifndef SOFTIB_CLI_IO_PROGRAMS_H
#define SOFTIB_CLI_IO_PROGRAMS_H

#include "base/attributes.h"

struct io_found_controller;
struct io_found_unit;

/* Starts the program of this kind of controller ("storage", "console" or a path) on the node, and
 * waits until it says that its controller is plugged. slot 0: the first free one. options: those of
 * the program, ended by NULL. Returns the exit code. */
MUST_USE int io_program_start(const char *fabric, const char *node, const char *kind, unsigned slot,
			      char *const options[]);

/* Becomes the driver of the controller on this host. options: those of the driver, ended by NULL.
 * Returns the exit code if that fails. */
MUST_USE int io_driver_become(const char *fabric, const char *host,
			      const struct io_found_unit *unit,
			      const struct io_found_controller *controller, unsigned lun,
			      char *const options[]);

#endif
