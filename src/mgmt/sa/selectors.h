/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selectors of MTU, rate and packet lifetime: greater than, less than, exactly, the best there is
 * (vol 1, chapter 15).
 *
 * "choose" is for what can be had smaller than it is offered (a lifetime: longer), "accepts" for a
 * value that is fixed.
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
/* The path's packets live no longer than offered; a longer bound is as true. */
MUST_USE bool selector_choose_life_time(uint8_t selector, uint8_t wanted, uint8_t offered,
					uint8_t *ret_life_time);

bool selector_accepts_mtu(uint8_t selector, uint8_t wanted, uint8_t fixed);
bool selector_accepts_rate(uint8_t selector, uint8_t wanted, uint8_t fixed);
bool selector_accepts_life_time(uint8_t selector, uint8_t wanted, uint8_t fixed);

/* The lower of both, each. */
void selector_take_lower(uint8_t mtu, uint8_t rate, uint8_t *ret_mtu, uint8_t *ret_rate);

#endif
