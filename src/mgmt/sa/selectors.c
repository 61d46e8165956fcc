/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors of MTU, rate and packet lifetime (management 4.6). */
#include "mgmt/sa/selectors.h"

#include "wire/mtu.h"
#include "wire/rate.h"

enum { LIFE_TIME_MAX = 63 };

bool selector_mtu_is_valid(uint8_t selector, uint8_t mtu)
{
	return selector == SELECT_BEST || mtu_bytes(mtu) != 0;
}

bool selector_rate_is_valid(uint8_t selector, uint8_t rate)
{
	return selector == SELECT_BEST || rate_mbps(rate) != 0;
}

static int compare_numbers(unsigned a, unsigned b)
{
	return (a > b) - (a < b);
}

static bool accepts(uint8_t selector, int fixed_compared_to_wanted)
{
	switch (selector) {
	case SELECT_GREATER:
		return fixed_compared_to_wanted > 0;
	case SELECT_LESS:
		return fixed_compared_to_wanted < 0;
	case SELECT_EXACTLY:
		return fixed_compared_to_wanted == 0;
	default:
		return true;
	}
}

bool selector_accepts_mtu(uint8_t selector, uint8_t wanted, uint8_t fixed)
{
	return accepts(selector, compare_numbers(fixed, wanted));
}

bool selector_accepts_rate(uint8_t selector, uint8_t wanted, uint8_t fixed)
{
	return accepts(selector, rate_compare(fixed, wanted));
}

bool selector_accepts_life_time(uint8_t selector, uint8_t wanted, uint8_t fixed)
{
	return accepts(selector, compare_numbers(fixed, wanted));
}

bool selector_choose_mtu(uint8_t selector, uint8_t wanted, uint8_t offered, uint8_t *ret_mtu)
{
	uint8_t chosen = offered;

	if (selector == SELECT_LESS && offered >= wanted)
		chosen = wanted ? (uint8_t)(wanted - 1) : 0;
	if (selector == SELECT_EXACTLY && offered > wanted)
		chosen = wanted;
	if (!mtu_bytes(chosen) || !selector_accepts_mtu(selector, wanted, chosen))
		return false;
	*ret_mtu = chosen;
	return true;
}

/* The fastest rate below this one. 0: none. */
static uint8_t next_slower(uint8_t rate)
{
	uint8_t best = 0;

	for (uint8_t code = RATE_CODE_FIRST; code <= RATE_CODE_LAST; code++)
		if (rate_compare(code, rate) < 0 && rate_compare(code, best) > 0)
			best = code;
	return best;
}

bool selector_choose_rate(uint8_t selector, uint8_t wanted, uint8_t offered, uint8_t *ret_rate)
{
	uint8_t chosen = offered;

	if (selector == SELECT_LESS && rate_compare(offered, wanted) >= 0)
		chosen = next_slower(wanted);
	if (selector == SELECT_EXACTLY && rate_compare(offered, wanted) > 0)
		chosen = wanted;
	if (!rate_mbps(chosen) || !selector_accepts_rate(selector, wanted, chosen))
		return false;
	*ret_rate = chosen;
	return true;
}

bool selector_choose_life_time(uint8_t selector, uint8_t wanted, uint8_t offered,
			       uint8_t *ret_life_time)
{
	uint8_t chosen = offered;

	if (selector == SELECT_GREATER && offered <= wanted)
		chosen = (uint8_t)(wanted + 1);
	if (selector == SELECT_EXACTLY && offered < wanted)
		chosen = wanted;
	if (chosen > LIFE_TIME_MAX || !selector_accepts_life_time(selector, wanted, chosen))
		return false;
	*ret_life_time = chosen;
	return true;
}

void selector_take_lower(uint8_t mtu, uint8_t rate, uint8_t *ret_mtu, uint8_t *ret_rate)
{
	if (mtu < *ret_mtu)
		*ret_mtu = mtu;
	if (rate_compare(rate, *ret_rate) < 0)
		*ret_rate = rate;
}
