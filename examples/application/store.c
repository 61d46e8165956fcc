/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service of our own in an application class of InfiniBand management (classes 0x10 to 0x2f): a
 * store of short texts at a host, which any port of the fabric sets and reads.
 *
 *	softib-store serve                  keeps the texts until it is ended
 *	softib-store set LID KEY TEXT       at the host with this LID
 *	softib-store get LID KEY            prints the text
 *
 * Server and client use libibumad alone. A request is one MAD: Get or Set of attribute Text, whose
 * 192 bytes of data are a key of 64 bytes and a text of 128. The response is GetResp with the same
 * key and the text as it is now; its status is 0x001c if there is no such key.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

enum {
	CLASS_STORE = 0x15,
	CLASS_VERSION = 1,
	ATTRIBUTE_TEXT = 0x0010,
	METHOD_GET = 0x01,
	METHOD_SET = 0x02,
	METHOD_GET_RESPONSE = 0x81,
	STATUS_BAD_ATTRIBUTE = 0x0c,
	STATUS_BAD_VALUE = 0x1c,
	STATUS_BUSY = 0x01,

	/* Offsets in the MAD. */
	MAD_BYTES = 256,
	METHOD = 3,
	STATUS = 5,
	TRANSACTION = 15,
	ATTRIBUTE = 16,
	KEY = 64,
	TEXT = 128,
	KEY_BYTES = 64,
	TEXT_BYTES = 128,

	TEXTS_MAX = 1024,
	QPN_GSI = 1,
	TIMEOUT_MS = 1000,
	RETRIES = 3,
};
static const int qkey_gsi = (int)0x80010000;

/* An open port, our agent there, and a buffer for one MAD with its address. */
struct agent {
	int port, id;
	void *umad;
	uint8_t *mad;
};

/* methods: a bit for each method of requests that the agent answers; 0: it only asks. */
static struct agent open_agent(long methods)
{
	long mask[16 / sizeof(long)] = {methods};
	struct agent agent = {.port = umad_init() < 0 ? -1 : umad_open_port(NULL, 0)};

	agent.id = agent.port < 0 ? -1
				  : umad_register(agent.port, CLASS_STORE, CLASS_VERSION, 0,
						  methods ? mask : NULL);
	agent.umad = umad_alloc(1, umad_size() + MAD_BYTES);
	if (agent.id < 0 || !agent.umad) {
		fprintf(stderr, "softib-store: no port, or another server has the class here\n");
		exit(1);
	}
	agent.mad = umad_get_mad(agent.umad);
	return agent;
}

/* ---- the server ---- */

static struct {
	char key[KEY_BYTES];
	char text[TEXT_BYTES];
} texts[TEXTS_MAX];
static unsigned text_count;

/* The place of the key, or the place after the last one. */
static unsigned find(const uint8_t *key)
{
	unsigned i = 0;

	while (i < text_count && memcmp(texts[i].key, key, KEY_BYTES) != 0)
		i++;
	return i;
}

/* Changes the request into the response, and returns its status. */
static uint8_t serve_request(uint8_t *mad)
{
	unsigned place = find(mad + KEY);

	if (mad[ATTRIBUTE] != 0 || mad[ATTRIBUTE + 1] != ATTRIBUTE_TEXT)
		return STATUS_BAD_ATTRIBUTE;
	if (mad[METHOD] == METHOD_SET) {
		if (place == TEXTS_MAX)
			return STATUS_BUSY;
		memcpy(texts[place].key, mad + KEY, KEY_BYTES);
		memcpy(texts[place].text, mad + TEXT, TEXT_BYTES);
		if (place == text_count)
			text_count++;
	}
	if (place == text_count)
		return STATUS_BAD_VALUE;
	memcpy(mad + TEXT, texts[place].text, TEXT_BYTES);
	return 0;
}

static int serve(void)
{
	struct agent agent = open_agent(1 << METHOD_GET | 1 << METHOD_SET);

	printf("serving\n");
	fflush(stdout);
	for (;;) {
		int byte_count = MAD_BYTES;
		int id = umad_recv(agent.port, agent.umad, &byte_count, -1);

		if (id < 0)
			return 1; /* the fabric is gone */
		if (umad_status(agent.umad) != 0)
			continue;
		agent.mad[STATUS] = serve_request(agent.mad);
		agent.mad[METHOD] = METHOD_GET_RESPONSE;
		/* The address in front of the MAD is the requester's, and a response expects no
		 * answer. */
		umad_send(agent.port, agent.id, agent.umad, MAD_BYTES, 0, 0);
	}
}

/* ---- the client ---- */

static bool put_text(uint8_t *field, size_t field_bytes, const char *text)
{
	if (strlen(text) >= field_bytes)
		return false;
	memcpy(field, text, strlen(text));
	return true;
}

/* Returns the exit code. text NULL: Get. */
static int ask(unsigned long lid, const char *key, const char *text)
{
	struct agent agent = open_agent(0);
	int byte_count = MAD_BYTES;
	uint8_t *mad = agent.mad;

	mad[0] = 1; /* BaseVersion */
	mad[1] = CLASS_STORE;
	mad[2] = CLASS_VERSION;
	mad[METHOD] = text ? METHOD_SET : METHOD_GET;
	mad[TRANSACTION] = 1;
	mad[ATTRIBUTE + 1] = ATTRIBUTE_TEXT;
	if (!put_text(mad + KEY, KEY_BYTES, key) ||
	    (text && !put_text(mad + TEXT, TEXT_BYTES, text))) {
		fprintf(stderr, "softib-store: key or text is too long\n");
		return 2;
	}
	umad_set_addr(agent.umad, (int)lid, QPN_GSI, 0, qkey_gsi);
	/* With a timeout, libibumad repeats the request and waits for the response. */
	if (umad_send(agent.port, agent.id, agent.umad, MAD_BYTES, TIMEOUT_MS, RETRIES) < 0 ||
	    umad_recv(agent.port, agent.umad, &byte_count, -1) != agent.id ||
	    umad_status(agent.umad) != 0 || mad[STATUS] == STATUS_BAD_ATTRIBUTE) {
		fprintf(stderr, "softib-store: no server at LID %lu\n", lid);
		return 1;
	}
	if (mad[STATUS]) {
		fprintf(stderr, "softib-store: %s\n",
			mad[STATUS] == STATUS_BAD_VALUE ? "no such key" : "the store is full");
		return 1;
	}
	if (!text)
		printf("%.*s\n", TEXT_BYTES, (const char *)mad + TEXT);
	return 0;
}

int main(int argument_count, char **arguments)
{
	const char *verb = argument_count > 1 ? arguments[1] : "";
	unsigned long lid = argument_count > 2 ? strtoul(arguments[2], NULL, 0) : 0;

	if (argument_count == 2 && strcmp(verb, "serve") == 0)
		return serve();
	if (argument_count == 5 && strcmp(verb, "set") == 0 && lid > 0 && lid < 0xc000)
		return ask(lid, arguments[3], arguments[4]);
	if (argument_count == 4 && strcmp(verb, "get") == 0 && lid > 0 && lid < 0xc000)
		return ask(lid, arguments[3], NULL);
	fprintf(stderr, "Usage: softib-store serve | set LID KEY TEXT | get LID KEY\n");
	return 2;
}
