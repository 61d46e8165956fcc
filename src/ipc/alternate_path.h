/* SPDX-License-Identifier: Apache-2.0 */
/* An alternate path on its way from softibd's connection manager to a queue pair. */
#ifndef SOFTIB_IPC_ALTERNATE_PATH_H
#define SOFTIB_IPC_ALTERNATE_PATH_H

#include <stdint.h>
#include "net/transport/address.h"

/* Body of RECORD_ALTERNATE_PATH. */
struct alternate_path {
	struct address_vector address;
	uint16_t pkey_index;
	uint8_t timeout;
};

#endif
