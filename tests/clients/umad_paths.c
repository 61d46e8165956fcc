/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the SA for PathRecords through libibumad, many at once: "umad_paths SECONDS WINDOW DGID..."
 * prints "N queries/s, M answered, K refused, L lost". bench/sa runs it.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/umad.h>

enum {
	MAD_BYTES = 256,
	CLASS_SA = 3,
	METHOD_GET = 1,
	ATTRIBUTE_PATH_RECORD = 0x35,
	SA_COMPONENTS = 48,
	SA_DATA = 56,
	QKEY_GSI = 0x80010000,
	TIMEOUT_MS = 20000,
	DGIDS_MAX = 1024,
};

static double seconds_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

struct asker {
	int port, agent;
	umad_port_t own;
	uint8_t sgid[16];
	uint8_t dgids[DGIDS_MAX][16];
	unsigned dgid_count, next;
	uint32_t transaction;
	unsigned long answered, refused, lost;
};

static bool ask(struct asker *asker, void *umad)
{
	uint8_t *mad = umad_get_mad(umad);
	uint32_t transaction = htobe32(++asker->transaction);
	uint64_t components = htobe64(1 << 2 | 1 << 3 | 1 << 12);

	memset(umad, 0, umad_size() + MAD_BYTES);
	mad[0] = 1;
	mad[1] = CLASS_SA;
	mad[2] = 2;
	mad[3] = METHOD_GET;
	memcpy(mad + 12, &transaction, 4);
	mad[17] = ATTRIBUTE_PATH_RECORD;
	memcpy(mad + SA_COMPONENTS, &components, 8);
	memcpy(mad + SA_DATA + 8, asker->dgids[asker->next++ % asker->dgid_count], 16);
	memcpy(mad + SA_DATA + 24, asker->sgid, 16);
	mad[SA_DATA + 49] = 1; /* NumbPath */
	umad_set_addr(umad, (int)asker->own.sm_lid, 1, (int)asker->own.sm_sl, QKEY_GSI);
	return umad_send(asker->port, asker->agent, umad, MAD_BYTES, TIMEOUT_MS, 3) == 0;
}

static bool take(struct asker *asker, void *umad)
{
	int length = MAD_BYTES;
	const uint8_t *mad = umad_get_mad(umad);

	if (umad_recv(asker->port, umad, &length, 2 * TIMEOUT_MS) != asker->agent)
		return false;
	if (umad_status(umad))
		asker->lost++;
	else if (mad[4] || mad[5])
		asker->refused++;
	else
		asker->answered++;
	return true;
}

static bool start(struct asker *asker, int dgid_count, char **dgids)
{
	uint64_t prefix, guid;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &asker->own) < 0)
		return false;
	prefix = asker->own.gid_prefix;
	guid = asker->own.port_guid;
	memcpy(asker->sgid, &prefix, 8);
	memcpy(asker->sgid + 8, &guid, 8);
	for (int i = 0; i < dgid_count && i < DGIDS_MAX; i++)
		if (inet_pton(AF_INET6, dgids[i], asker->dgids[asker->dgid_count++]) != 1)
			return false;
	if (!asker->dgid_count) {
		memcpy(asker->dgids[0], asker->sgid, 16);
		asker->dgid_count = 1;
	}
	asker->port = umad_open_port(NULL, 0);
	asker->agent = asker->port < 0 ? -1 : umad_register(asker->port, CLASS_SA, 2, 0, NULL);
	return asker->agent >= 0;
}

int main(int argument_count, char **arguments)
{
	static struct asker asker;
	double duration = argument_count > 2 ? strtod(arguments[1], NULL) : 0;
	unsigned window = argument_count > 2 ? (unsigned)strtoul(arguments[2], NULL, 10) : 0;
	void *umad = umad_alloc(1, umad_size() + MAD_BYTES);
	unsigned under_way = 0;
	double begin, end;

	if (!window || !umad || !start(&asker, argument_count - 3, arguments + 3)) {
		printf("can't start\n");
		return 1;
	}
	begin = seconds_now();
	do {
		for (; under_way < window; under_way++)
			if (!ask(&asker, umad))
				return 2;
		if (!take(&asker, umad))
			return 3;
		under_way--;
		end = seconds_now();
	} while (end - begin < duration);
	for (; under_way; under_way--)
		if (!take(&asker, umad))
			return 3;
	printf("%.0f queries/s, %lu answered, %lu refused, %lu lost\n",
	       (double)asker.answered / (end - begin), asker.answered, asker.refused, asker.lost);
	return asker.refused || asker.lost ? 4 : 0;
}
