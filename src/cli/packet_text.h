/* SPDX-License-Identifier: Apache-2.0 */
/* A captured packet as one line of text. */
#ifndef SOFTIB_CLI_PACKET_TEXT_H
#define SOFTIB_CLI_PACKET_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "wire/pcapng.h"

/* "09:15:02.123456789 out RC_SEND_ONLY 1 -> 2 SL 0 VL 0 QP 0x000411 PSN 17 1058 bytes (port h1:1)"
 * and a newline. Returns the length without the NUL. */
MUST_USE size_t packet_text_line(const struct pcapng_packet *packet, size_t room,
				 uint8_t *ret_text);

#endif
