/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the adapter and port for a program that names only one of them, or neither. */
#ifndef SOFTIB_API_LIBIBUMAD_CA_PORT_CHOICE_H
#define SOFTIB_API_LIBIBUMAD_CA_PORT_CHOICE_H

#include <stdint.h>

#include <infiniband/umad.h>

#include "base/attributes.h"

/*
 * Chooses a port of the given adapter (NULL: any) with the given number (0: any): the first active
 * port, else the first whose link is up, else the first. Writes the port number back. 0 or -ENODEV.
 */
MUST_USE int ca_port_choose(const char *ca_name, int *port_number,
			    char ret_ca_name[static UMAD_CA_NAME_LEN]);

#endif
