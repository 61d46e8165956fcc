/* SPDX-License-Identifier: Apache-2.0 */
/* Local route header (vol 1, chapter 7; transport 1.2). */
#include "wire/lrh.h"

#include "base/bytes.h"

void lrh_encode(const struct lrh *lrh, uint8_t ret_bytes[static LRH_BYTES])
{
	ret_bytes[0] = (uint8_t)(lrh->vl << 4 | (lrh->version & 0xf));
	ret_bytes[1] = (uint8_t)(lrh->sl << 4 | (lrh->lnh & 3));
	put_be16(ret_bytes + 2, lrh->dlid);
	put_be16(ret_bytes + 4, lrh->words & 0x7ff);
	put_be16(ret_bytes + 6, lrh->slid);
}

bool lrh_decode(const uint8_t *bytes, size_t byte_count, struct lrh *ret_lrh)
{
	if (byte_count < LRH_BYTES)
		return false;
	ret_lrh->vl = bytes[0] >> 4;
	ret_lrh->version = bytes[0] & 0xf;
	ret_lrh->sl = bytes[1] >> 4;
	ret_lrh->lnh = bytes[1] & 3;
	ret_lrh->dlid = get_be16(bytes + 2);
	ret_lrh->words = get_be16(bytes + 4) & 0x7ff;
	ret_lrh->slid = get_be16(bytes + 6);
	return true;
}
