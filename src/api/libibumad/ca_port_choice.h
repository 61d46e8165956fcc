/* SPDX-License-Identifier: Apache-2.0 */
/* Which adapter and port a program means that names one of them, or neither. */
#ifndef SOFTIB_API_LIBIBUMAD_CA_PORT_CHOICE_H
#define SOFTIB_API_LIBIBUMAD_CA_PORT_CHOICE_H

#include <stdint.h>

#include <infiniband/umad.h>

#include "base/attributes.h"

/*
 * The given adapter (NULL: any) and port (0: any): the first port that is active, else the first
 * whose link is up, else the first there is. Writes the port back. 0 or -ENODEV.
 */
MUST_USE int ca_port_choose(const char *ca_name, int *port_number,
				 char ret_ca_name[static UMAD_CA_NAME_LEN]);

#endif
