/* SPDX-License-Identifier: Apache-2.0 */
/* Forward error correction at extended speeds: the modes of a port, and the mode that a link comes
 * up with (PortInfoExtended; vol 1, chapter 14; vol 2). */
#ifndef SOFTIB_NET_LINK_FEC_H
#define SOFTIB_NET_LINK_FEC_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "net/link/port.h"

/* FECModeActive; in the masks of supported and enabled modes, mode n is bit n. */
enum fec_mode { FEC_NONE, FEC_FIRECODE, FEC_REED_SOLOMON, FEC_LOW_LATENCY_REED_SOLOMON };

/* Derives the modes from the speeds that the port supports. All modes of a new speed are
 * enabled. */
void port_fec_refresh(struct port *port);

/*
 * Set(PortInfoExtended): for each speed, 0 leaves the enabled modes unchanged and 0xffff enables
 * all supported ones. False, and nothing changes, if an unsupported mode is written. Links use the
 * new modes when they train again.
 */
MUST_USE bool port_fec_enable(struct port *port, const struct port_info_extended *written);

/* Returns those of the extended speeds (bits as in PortInfo) for which both ports have a common
 * mode enabled. */
uint8_t fec_common_speeds(const struct port *a, const struct port *b, uint8_t extended_speeds);

/* Writes FECModeActive for the active speed: the strongest mode that both ports have enabled. */
void port_fec_negotiate(struct port *port, const struct port *peer);

#endif
