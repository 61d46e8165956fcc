/* SPDX-License-Identifier: Apache-2.0 */
/* The struct ib_user_mad in front of each MAD: sizes, addresses and accessors (abi 8.1). */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/umad.h>

/* srp_daemon and others access the struct without the accessors. */
static_assert(sizeof(struct ib_user_mad) == 64, "header before the MAD");
static_assert(offsetof(struct ib_user_mad, addr.qpn) == 20, "qpn");
static_assert(offsetof(struct ib_user_mad, addr.lid) == 28, "lid");
static_assert(offsetof(struct ib_user_mad, addr.gid) == 36, "gid");
static_assert(offsetof(struct ib_user_mad, addr.flow_label) == 52, "flow_label");
static_assert(offsetof(struct ib_user_mad, addr.pkey_index) == 56, "pkey_index");
static_assert(sizeof(struct umad_ca) == 208, "umad_ca");
static_assert(sizeof(struct umad_port) == 112, "umad_port");

static int debug_level;

size_t umad_size(void)
{
	return sizeof(struct ib_user_mad);
}

void *umad_get_mad(void *umad)
{
	return ((struct ib_user_mad *)umad)->data;
}

ib_mad_addr_t *umad_get_mad_addr(void *umad)
{
	return &((struct ib_user_mad *)umad)->addr;
}

int umad_status(void *umad)
{
	return (int)((struct ib_user_mad *)umad)->status;
}

int umad_set_grh(void *umad, void *mad_addr)
{
	struct ib_mad_addr *to = umad_get_mad_addr(umad);
	const struct ib_mad_addr *from = mad_addr;

	if (!from) {
		to->grh_present = 0;
		return 0;
	}
	to->grh_present = 1;
	memcpy(to->gid, from->gid, sizeof(to->gid));
	to->flow_label = htobe32(from->flow_label);
	to->hop_limit = from->hop_limit;
	to->traffic_class = from->traffic_class;
	return 0;
}

int umad_set_addr_net(void *umad, __be16 dlid, __be32 dqp, int sl, __be32 qkey)
{
	struct ib_mad_addr *to = umad_get_mad_addr(umad);

	to->lid = dlid;
	to->qpn = dqp;
	to->sl = (uint8_t)sl;
	to->qkey = qkey;
	return 0;
}

int umad_set_addr(void *umad, int dlid, int dqp, int sl, int qkey)
{
	return umad_set_addr_net(umad, htobe16((uint16_t)dlid), htobe32((uint32_t)dqp), sl,
				 htobe32((uint32_t)qkey));
}

int umad_set_pkey(void *umad, int pkey_index)
{
	umad_get_mad_addr(umad)->pkey_index = (uint16_t)pkey_index;
	return 0;
}

int umad_get_pkey(void *umad)
{
	return umad_get_mad_addr(umad)->pkey_index;
}

/* A port id is the port's file descriptor. */
int umad_get_fd(int portid)
{
	return portid;
}

int umad_debug(int level)
{
	if (level >= 0)
		debug_level = level;
	return debug_level;
}

void umad_addr_dump(ib_mad_addr_t *addr)
{
	fprintf(stderr, "qpn %u qkey 0x%x lid %u sl %u\n", be32toh(addr->qpn), be32toh(addr->qkey),
		be16toh(addr->lid), addr->sl);
	fprintf(stderr,
		"grh_present %u gid_index %u hop_limit %u traffic_class %u flow_label 0x%x "
		"pkey_index 0x%x\n",
		addr->grh_present, addr->gid_index, addr->hop_limit, addr->traffic_class,
		be32toh(addr->flow_label), addr->pkey_index);
	fprintf(stderr, "gid 0x");
	for (size_t i = 0; i < sizeof(addr->gid); i++)
		fprintf(stderr, "%02x", addr->gid[i]);
	fprintf(stderr, "\n");
}

void umad_dump(void *umad)
{
	struct ib_user_mad *message = umad;

	fprintf(stderr, "agent id %u status %u timeout %u\n", message->agent_id, message->status,
		message->timeout_ms);
	umad_addr_dump(&message->addr);
}
