/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selectors of MTU, rate and packet lifetime: greater than, less than, exactly, the best available
 * (management 4.6).
 *
 * "choose" is for a value that can be lowered (a lifetime: raised), "accepts" for a fixed value.
 */
#ifndef SOFTIB_MGMT_SA_SELECTORS_H
#define SOFTIB_MGMT_SA_SELECTORS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "wire/sa_records.h"

bool selector_mtu_is_valid(uint8_t selector, uint8_t mtu);
bool selector_rate_is_valid(uint8_t selector, uint8_t rate);

MUST_USE bool selector_choose_mtu(uint8_t selector, uint8_t wanted, uint8_t offered,
				  uint8_t *ret_mtu);
MUST_USE bool selector_choose_rate(uint8_t selector, uint8_t wanted, uint8_t offered,
				   uint8_t *ret_rate);
/* Packets live no longer than offered, so a longer bound is also true. */
MUST_USE bool selector_choose_life_time(uint8_t selector, uint8_t wanted, uint8_t offered,
					uint8_t *ret_life_time);

bool selector_accepts_mtu(uint8_t selector, uint8_t wanted, uint8_t fixed);
bool selector_accepts_rate(uint8_t selector, uint8_t wanted, uint8_t fixed);
bool selector_accepts_life_time(uint8_t selector, uint8_t wanted, uint8_t fixed);

/* The lower of both values, for each. */
void selector_take_lower(uint8_t mtu, uint8_t rate, uint8_t *ret_mtu, uint8_t *ret_rate);

#endif
