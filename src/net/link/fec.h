/* SPDX-License-Identifier: Apache-2.0 */
/* Forward error correction of links at extended speeds: which modes a port has, and which one a
 * link comes up with (PortInfoExtended; vol 1, chapter 14; vol 2). */
#ifndef SOFTIB_NET_LINK_FEC_H
#define SOFTIB_NET_LINK_FEC_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "net/link/port.h"

/* FECModeActive; in the masks of modes supported and enabled, mode n is bit n. */
enum fec_mode { FEC_NONE, FEC_FIRECODE, FEC_REED_SOLOMON, FEC_LOW_LATENCY_REED_SOLOMON };

/* Modes follow from the speeds that the port supports; those of a speed that is new are all
 * enabled. */
void port_fec_refresh(struct port *port);

/*
 * A Set(PortInfoExtended) of the port: for each speed 0 leaves the modes enabled as they are,
 * 0xffff enables all that are supported. False, and nothing changes, if others than those are
 * written. Links take it up when they train again.
 */
MUST_USE bool port_fec_enable(struct port *port, const struct port_info_extended *written);

/* Of these extended speeds (bits as in PortInfo), those for which both ports have a mode enabled
 * that the other has too. */
uint8_t fec_common_speeds(const struct port *a, const struct port *b, uint8_t extended_speeds);

/* Writes FECModeActive for the speed that PortInfo shows as active: the strongest mode that both
 * have enabled. */
void port_fec_negotiate(struct port *port, const struct port *peer);

#endif
