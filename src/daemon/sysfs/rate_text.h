/* SPDX-License-Identifier: Apache-2.0 */
/* A link's width and speed as Linux writes them. */
#ifndef SOFTIB_DAEMON_SYSFS_RATE_TEXT_H
#define SOFTIB_DAEMON_SYSFS_RATE_TEXT_H

#include "wire/subnet_attributes.h"

enum { LINK_RATE_TEXT_BYTES = 40 };

/* "100 Gb/sec (4X EDR)". */
void link_rate_text(const struct port_info *info, char ret_text[static LINK_RATE_TEXT_BYTES]);

#endif
