/* SPDX-License-Identifier: Apache-2.0 */
/* Base and extended transport headers (vol 1, chapter 9; transport 1.4, 1.5). */
#include "wire/transport_headers.h"

#include "base/bytes.h"

enum {
	BTH_SOLICITED = 0x80,
	BTH_MIGRATED = 0x40,
	BTH_FECN = 0x80,
	BTH_BECN = 0x40,
	BTH_ACK_REQUEST = 0x80,
};

void bth_encode(const struct bth *bth, uint8_t ret_bytes[static BTH_BYTES])
{
	ret_bytes[0] = bth->opcode;
	ret_bytes[1] = (uint8_t)((bth->solicited ? BTH_SOLICITED : 0) |
				 (bth->migrated ? BTH_MIGRATED : 0) | (bth->pad_bytes & 3) << 4 |
				 (bth->version & 0xf));
	put_be16(ret_bytes + 2, bth->pkey);
	put_be32(ret_bytes + 4, (bth->fecn ? (uint32_t)BTH_FECN << 24 : 0) |
					(bth->becn ? (uint32_t)BTH_BECN << 24 : 0) |
					(bth->destination_qpn & 0xffffff));
	put_be32(ret_bytes + 8, (bth->ack_request ? (uint32_t)BTH_ACK_REQUEST << 24 : 0) |
					(bth->psn.value & 0xffffff));
}

bool bth_decode(const uint8_t *bytes, size_t byte_count, struct bth *ret_bth)
{
	if (byte_count < BTH_BYTES)
		return false;
	ret_bth->opcode = bytes[0];
	ret_bth->solicited = bytes[1] & BTH_SOLICITED;
	ret_bth->migrated = bytes[1] & BTH_MIGRATED;
	ret_bth->pad_bytes = bytes[1] >> 4 & 3;
	ret_bth->version = bytes[1] & 0xf;
	ret_bth->pkey = get_be16(bytes + 2);
	ret_bth->fecn = bytes[4] & BTH_FECN;
	ret_bth->becn = bytes[4] & BTH_BECN;
	ret_bth->destination_qpn = get_be32(bytes + 4) & 0xffffff;
	ret_bth->ack_request = bytes[8] & BTH_ACK_REQUEST;
	ret_bth->psn = psn_from(get_be32(bytes + 8));
	return true;
}

void deth_encode(const struct deth *deth, uint8_t ret_bytes[static DETH_BYTES])
{
	put_be32(ret_bytes, deth->qkey);
	put_be32(ret_bytes + 4, deth->source_qpn & 0xffffff);
}

void deth_decode(const uint8_t bytes[static DETH_BYTES], struct deth *ret_deth)
{
	ret_deth->qkey = get_be32(bytes);
	ret_deth->source_qpn = get_be32(bytes + 4) & 0xffffff;
}

void reth_encode(const struct reth *reth, uint8_t ret_bytes[static RETH_BYTES])
{
	put_be64(ret_bytes, reth->address);
	put_be32(ret_bytes + 8, reth->rkey);
	put_be32(ret_bytes + 12, reth->bytes);
}

void reth_decode(const uint8_t bytes[static RETH_BYTES], struct reth *ret_reth)
{
	ret_reth->address = get_be64(bytes);
	ret_reth->rkey = get_be32(bytes + 8);
	ret_reth->bytes = get_be32(bytes + 12);
}

void atomic_eth_encode(const struct atomic_eth *eth, uint8_t ret_bytes[static ATOMIC_ETH_BYTES])
{
	put_be64(ret_bytes, eth->address);
	put_be32(ret_bytes + 8, eth->rkey);
	put_be64(ret_bytes + 12, eth->swap_or_add);
	put_be64(ret_bytes + 20, eth->compare);
}

void atomic_eth_decode(const uint8_t bytes[static ATOMIC_ETH_BYTES], struct atomic_eth *ret_eth)
{
	ret_eth->address = get_be64(bytes);
	ret_eth->rkey = get_be32(bytes + 8);
	ret_eth->swap_or_add = get_be64(bytes + 12);
	ret_eth->compare = get_be64(bytes + 20);
}

void aeth_encode(const struct aeth *aeth, uint8_t ret_bytes[static AETH_BYTES])
{
	put_be32(ret_bytes, (uint32_t)aeth->syndrome << 24 | (aeth->msn & 0xffffff));
}

void aeth_decode(const uint8_t bytes[static AETH_BYTES], struct aeth *ret_aeth)
{
	uint32_t word = get_be32(bytes);

	ret_aeth->syndrome = (uint8_t)(word >> 24);
	ret_aeth->msn = word & 0xffffff;
}

void feth_encode(const struct feth *feth, uint8_t ret_bytes[static FETH_BYTES])
{
	put_be32(ret_bytes, (feth->selectivity & 3u) << 4 | (feth->placement & 0xfu));
}

void feth_decode(const uint8_t bytes[static FETH_BYTES], struct feth *ret_feth)
{
	uint32_t word = get_be32(bytes);

	ret_feth->selectivity = (uint8_t)(word >> 4 & 3);
	ret_feth->placement = (uint8_t)(word & 0xf);
}
