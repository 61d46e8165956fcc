/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An agent of any class through libibumad, and what may ask it or plague it:
 *
 *	umad_class serve CLASS [OUI]           answers until its input ends
 *	umad_class silent CLASS [OUI]          registers, and never reads
 *	umad_class ask LID CLASS [OUI [ATTRIBUTE]]
 *	                                       one MAD; prints "answer", "status N" or "timeout"
 *	umad_class transfer LID CLASS OUI N    N bytes there and back by RMPP
 *	umad_class flood LID CLASS OUI N       N requests, as fast as they go
 *	umad_class garbage LID CLASS OUI N     N parts of RMPP transfers with random headers
 *	umad_class conflicts                   who may register beside whom
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>
#include "base/random.h"

enum {
	MAD_BYTES = 256,
	RMPP_OFFSET = 24,
	OUI_OFFSET = 37,
	VENDOR_DATA = 40,
	METHOD_GET = 0x01,
	METHOD_SET = 0x02,
	METHOD_GET_MULTI = 0x14, /* its request may be an RMPP transfer */
	METHOD_RESPONSE = 0x80,
	QKEY_GSI = 0x80010000,
	TRANSFER_BYTES_MAX = 1 << 20,
	TIMEOUT_MS = 10000,
};

static bool has_oui(unsigned class)
{
	return class >= 0x30 && class <= 0x4f;
}

static int register_agent(int port, unsigned class, unsigned version, uint32_t oui,
			  const uint8_t *methods, unsigned method_count, uint32_t flags)
{
	struct umad_reg_attr options = {
		.mgmt_class = (uint8_t) class,
		.mgmt_class_version = (uint8_t)version,
		.oui = oui,
		.flags = flags,
		.rmpp_version = has_oui(class),
	};
	uint32_t agent;
	int error;

	for (unsigned i = 0; i < method_count; i++)
		options.method_mask[methods[i] / 64] |= 1ull << methods[i] % 64;
	error = umad_register2(port, &options, &agent);
	return error ? -error : (int)agent;
}

static const uint8_t served_methods[] = {METHOD_GET, METHOD_SET, METHOD_GET_MULTI};

static int open_port(void)
{
	int port = umad_init() < 0 ? -1 : umad_open_port(NULL, 0);

	if (port < 0) {
		printf("no port\n");
		exit(1);
	}
	return port;
}

static int open_agent(int port, unsigned class, uint32_t oui, unsigned method_count, uint32_t flags)
{
	int agent = register_agent(port, class, 1, oui, served_methods, method_count, flags);

	if (agent < 0) {
		printf("not registered: %s\n", strerror(-agent));
		exit(1);
	}
	return agent;
}

/* Every byte of a transfer is a function of its place. */
static uint8_t byte_at(int offset)
{
	return (uint8_t)(offset * 31 + offset / 251);
}

/* The answer has the request's data with every bit inverted. */
static void answer(int port, int agent, uint8_t *umad, int mad_bytes, unsigned class)
{
	uint8_t *mad = umad_get_mad(umad);
	int data = has_oui(class) ? VENDOR_DATA : 24;

	mad[3] |= METHOD_RESPONSE;
	for (int i = data; i < mad_bytes; i++)
		mad[i] ^= 0xff;
	/* Segments that are lost are sent again after the timeout. */
	if (mad_bytes > MAD_BYTES)
		umad_send(port, agent, umad, mad_bytes, TIMEOUT_MS / 20, 10);
	else
		umad_send(port, agent, umad, mad_bytes, 0, 0);
}

static int serve(unsigned class, uint32_t oui)
{
	int port = open_port();
	int agent = open_agent(port, class, oui, 3, 0);
	uint8_t *umad = umad_alloc(1, umad_size() + TRANSFER_BYTES_MAX);
	struct pollfd files[] = {{.fd = umad_get_fd(port), .events = POLLIN},
				 {.fd = 0, .events = POLLIN}};

	printf("serving\n");
	fflush(stdout);
	while (poll(files, 2, -1) >= 0) {
		int length = TRANSFER_BYTES_MAX;

		if (files[1].revents)
			break;
		if (umad_recv(port, umad, &length, 0) == agent && umad_status(umad) == 0)
			answer(port, agent, umad, length, class);
	}
	umad_free(umad);
	return 0;
}

static int stay_silent(unsigned class, uint32_t oui)
{
	open_agent(open_port(), class, oui, 3, 0);
	printf("serving\n");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}

static void make(uint8_t *umad, unsigned lid, unsigned class, uint32_t oui, uint8_t method)
{
	uint8_t *mad = umad_get_mad(umad);
	uint32_t oui_bytes = htobe32(oui);

	memset(umad, 0, umad_size() + MAD_BYTES);
	mad[0] = 1;
	mad[1] = (uint8_t) class;
	mad[2] = 1;
	mad[3] = method;
	mad[17] = 0x20;
	if (has_oui(class))
		memcpy(mad + OUI_OFFSET, (uint8_t *)&oui_bytes + 1, 3);
	umad_set_addr(umad, (int)lid, 1, 0, QKEY_GSI);
}

static int ask(unsigned lid, unsigned class, uint32_t oui, unsigned attribute_id)
{
	int port = open_port();
	int agent = open_agent(port, class, oui, 0, 0);
	uint8_t *umad = umad_alloc(1, umad_size() + MAD_BYTES);
	uint8_t *mad = umad_get_mad(umad);
	int length = MAD_BYTES;

	make(umad, lid, class, oui, METHOD_GET);
	if (attribute_id)
		mad[17] = (uint8_t)attribute_id;
	mad[200] = 0x5a;
	if (umad_send(port, agent, umad, MAD_BYTES, TIMEOUT_MS / 10, 2) != 0 ||
	    umad_recv(port, umad, &length, TIMEOUT_MS) != agent)
		printf("nothing\n");
	else if (umad_status(umad))
		printf("timeout\n");
	else if (mad[4] || mad[5])
		printf("status %d\n", mad[4] << 8 | mad[5]);
	else
		printf("%s\n", mad[200] == 0xa5 ? "answer" : "wrong data");
	return 0;
}

static int transfer(unsigned lid, unsigned class, uint32_t oui, int data_bytes)
{
	int port = open_port();
	int agent = open_agent(port, class, oui, 0, 0);
	uint8_t *umad = umad_alloc(1, umad_size() + TRANSFER_BYTES_MAX);
	uint8_t *mad = umad_get_mad(umad);
	int length = TRANSFER_BYTES_MAX;
	int sent_bytes = VENDOR_DATA + data_bytes;

	make(umad, lid, class, oui, METHOD_GET_MULTI);
	mad[RMPP_OFFSET] = 1;	  /* RMPPVersion */
	mad[RMPP_OFFSET + 1] = 1; /* DATA */
	mad[RMPP_OFFSET + 2] = 1; /* active */
	for (int i = 0; i < data_bytes; i++)
		mad[VENDOR_DATA + i] = byte_at(i);
	if (umad_send(port, agent, umad, sent_bytes, TIMEOUT_MS / 10, 20) != 0) {
		printf("not sent: %s\n", strerror(errno));
		return 1;
	}
	if (umad_recv(port, umad, &length, 4 * TIMEOUT_MS) != agent || umad_status(umad)) {
		printf("failed with status %d\n", umad_status(umad));
		return 1;
	}
	for (int i = 0; i < data_bytes; i++) {
		uint8_t wanted = (uint8_t)(0xff - byte_at(i));

		if (mad[VENDOR_DATA + i] != wanted) {
			printf("byte %d differs\n", i);
			return 1;
		}
	}
	printf("%d bytes there and %d back\n", data_bytes, length - VENDOR_DATA);
	return length < sent_bytes;
}

/* Takes what has come, so that the own port is not what is full. */
static void drain(int port, uint8_t *umad)
{
	int length = MAD_BYTES;

	while (umad_recv(port, umad, &length, 0) >= 0)
		length = MAD_BYTES;
}

static int flood(unsigned lid, unsigned class, uint32_t oui, unsigned count)
{
	int port = open_port();
	int agent = open_agent(port, class, oui, 0, 0);
	uint8_t *umad = umad_alloc(1, umad_size() + MAD_BYTES);

	for (unsigned i = 0; i < count; i++) {
		make(umad, lid, class, oui, METHOD_GET);
		((uint8_t *)umad_get_mad(umad))[13] = (uint8_t)(i >> 16);
		((uint8_t *)umad_get_mad(umad))[14] = (uint8_t)(i >> 8);
		((uint8_t *)umad_get_mad(umad))[15] = (uint8_t)i;
		umad_send(port, agent, umad, MAD_BYTES, 100, 0);
		if (i % 64 == 0)
			drain(port, umad);
	}
	printf("sent\n");
	return 0;
}

/* Its own RMPP, so that every header goes out as it is. */
static int send_garbage(unsigned lid, unsigned class, uint32_t oui, unsigned count)
{
	int port = open_port();
	int agent = open_agent(port, class, oui, 0, UMAD_USER_RMPP);
	struct random chance = random_seeded(22);
	uint8_t *umad = umad_alloc(1, umad_size() + MAD_BYTES);
	uint8_t *mad = umad_get_mad(umad);

	for (unsigned i = 0; i < count; i++) {
		make(umad, lid, class, oui, i % 2 ? METHOD_GET_MULTI : METHOD_GET);
		for (unsigned byte = RMPP_OFFSET; byte < RMPP_OFFSET + 12; byte++)
			mad[byte] = (uint8_t)(random_below(&chance, 4) ? random_below(&chance, 3)
								       : random_next(&chance));
		mad[RMPP_OFFSET] = (uint8_t)(random_below(&chance, 8) ? 1 : random_next(&chance));
		mad[RMPP_OFFSET + 2] |= 1;
		mad[15] = (uint8_t)(i % 32);
		umad_send(port, agent, umad, MAD_BYTES, 0, 0);
		if (i % 64 == 0)
			drain(port, umad);
	}
	printf("sent\n");
	return 0;
}

static unsigned failures;

static void expect(const char *what, int result, int wanted)
{
	bool is_right = wanted < 0 ? result == wanted : result >= 0;

	printf("%s %s%s%s\n", is_right ? "PASS" : "FAIL", what, is_right ? "" : ": ",
	       is_right	    ? ""
	       : result < 0 ? strerror(-result)
			    : "registered");
	failures += !is_right;
}

static int check_conflicts(void)
{
	static const uint8_t get[] = {METHOD_GET}, set[] = {METHOD_SET};
	static const uint8_t both[] = {METHOD_GET, METHOD_SET};
	int a = open_port(), b = open_port();
	int held = register_agent(a, 0x0c, 1, 0, get, 1, 0);

	expect("range 1 is registered", held, 0);
	expect("not twice", register_agent(b, 0x0c, 1, 0, get, 1, 0), -EBUSY);
	expect("not with one method more", register_agent(b, 0x0c, 1, 0, both, 2, 0), -EBUSY);
	expect("not in the same program either", register_agent(a, 0x0c, 1, 0, get, 1, 0), -EBUSY);
	expect("another method", register_agent(b, 0x0c, 1, 0, set, 1, 0), 0);
	expect("another version", register_agent(b, 0x0c, 2, 0, get, 1, 0), 0);
	expect("only a client of it", register_agent(b, 0x0c, 1, 0, NULL, 0, 0), 0);
	umad_unregister(a, held);
	expect("free after umad_unregister", register_agent(b, 0x0c, 1, 0, get, 1, 0), 0);
	expect("range 2 with an OUI", register_agent(a, 0x35, 1, 0x001405, get, 1, 0), 0);
	expect("not twice", register_agent(b, 0x35, 1, 0x001405, get, 1, 0), -EBUSY);
	expect("another OUI", register_agent(b, 0x35, 1, 0x000102, get, 1, 0), 0);
	expect("no OUI", register_agent(b, 0x36, 1, 0, get, 1, 0), -EINVAL);
	expect("an OUI of 4 bytes", register_agent(b, 0x36, 1, 0x1000000, get, 1, 0), -EINVAL);
	expect("an application class", register_agent(a, 0x1a, 1, 0, get, 1, 0), 0);
	expect("not twice", register_agent(b, 0x1a, 1, 0, get, 1, 0), -EBUSY);
	expect("class 0x2f", register_agent(a, 0x2f, 1, 0, get, 1, 0), 0);
	expect("class 0x50 is none", register_agent(a, 0x50, 1, 0, get, 1, 0), -EINVAL);
	expect("version 8 is none", register_agent(a, 0x1b, 8, 0, get, 1, 0), -EINVAL);
	umad_close_port(a);
	expect("a closed port holds nothing", register_agent(b, 0x1a, 1, 0, get, 1, 0), 0);
	return failures != 0;
}

int main(int argument_count, char **arguments)
{
	const char *verb = argument_count > 1 ? arguments[1] : "";
	unsigned long numbers[4] = {0};

	for (int i = 2; i < argument_count && i < 6; i++)
		numbers[i - 2] = strtoul(arguments[i], NULL, 0);
	if (strcmp(verb, "serve") == 0)
		return serve((unsigned)numbers[0], (uint32_t)numbers[1]);
	if (strcmp(verb, "silent") == 0)
		return stay_silent((unsigned)numbers[0], (uint32_t)numbers[1]);
	if (strcmp(verb, "ask") == 0)
		return ask((unsigned)numbers[0], (unsigned)numbers[1], (uint32_t)numbers[2],
			   (unsigned)numbers[3]);
	if (strcmp(verb, "transfer") == 0)
		return transfer((unsigned)numbers[0], (unsigned)numbers[1], (uint32_t)numbers[2],
				(int)numbers[3]);
	if (strcmp(verb, "flood") == 0)
		return flood((unsigned)numbers[0], (unsigned)numbers[1], (uint32_t)numbers[2],
			     (unsigned)numbers[3]);
	if (strcmp(verb, "garbage") == 0)
		return send_garbage((unsigned)numbers[0], (unsigned)numbers[1],
				    (uint32_t)numbers[2], (unsigned)numbers[3]);
	if (strcmp(verb, "conflicts") == 0)
		return check_conflicts();
	printf("unknown verb\n");
	return 2;
}
