/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target: what clients send to "softib perf --serve". Several connections send requests in
 * pieces, close, or stay; each answer that comes is an HTTP answer, and nothing waits for ever.
 * The server's own functions run; mad_engine_run(), which it calls to wait for MADs, is replaced by
 * one that plays the clients.
 *
 * The input is a sequence of actions: a byte that chooses a connection and the action, and what the
 * action needs.
 */
#include "fuzz/fuzz.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/attributes.h"
#include "cli/perf_server.h"
#include "cli/perf_source.h"
#include "fuzz/input.h"
#include "fuzz/text_pieces.h"

enum {
	CONNECTIONS = 4,
	ACTIONS_MAX = 32,
	REQUEST_BYTES_MAX = 4096,
	DESCRIPTORS_MAX = 64,
	TURNS = 3
};

static const char *const pieces[] = {
	"GET ",
	"HEAD ",
	"POST ",
	"/metrics",
	" HTTP/1.1\r\n",
	" HTTP/1.0\r\n",
	"Host: x\r\n",
	"\r\n",
	"Connection: close\r\n",
	"Connection: keep-alive\r\n",
	"Content-Length: 5\r\n",
	"Transfer-Encoding: chunked\r\n",
	"5\r\nhello\r\n",
	"0\r\n\r\n",
	"?a=b&c=%41",
	"/",
	"%00",
	"Expect: 100-continue\r\n",
	"Content-Length: -1\r\n",
	"X: ",
	"\n",
	" ",
	"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
	"hello",
	"Content-Length: 99999999999999999999\r\n",
	"\r\n\r\n",
	":",
	"Cookie: a=b\r\n",
};

static struct input input;

void perf_source_refresh_port(struct perf_source *source)
{
	(void)source;
}

/* The server's socket is the only one of this process that listens. */
static bool find_server(struct sockaddr_in *ret_address)
{
	socklen_t length = sizeof(*ret_address), value_length = sizeof(int);
	int listens = 0;

	for (int descriptor = 0; descriptor < DESCRIPTORS_MAX; descriptor++)
		if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &value_length) ==
			    0 &&
		    listens)
			return getsockname(descriptor, (struct sockaddr *)ret_address, &length) ==
			       0;
	return false;
}

static int connect_to(const struct sockaddr_in *address)
{
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (client >= 0 &&
	    connect(client, (const struct sockaddr *)address, sizeof(*address)) != 0) {
		close(client);
		client = -1;
	}
	return client;
}

/* Returns the length. */
static size_t make_request(char *ret_text)
{
	uint8_t chosen[64];
	const size_t count = input_fill(&input, chosen, 1 + input_below(&input, sizeof(chosen)));

	return text_from_pieces(chosen, count, pieces, ARRAY_COUNT(pieces), ret_text,
				REQUEST_BYTES_MAX);
}

/* An answer may come in parts, but the first one has the beginning. */
static void read_answer(int client, bool *has_read)
{
	char text[1 << 14];
	const ssize_t length = recv(client, text, sizeof(text), MSG_DONTWAIT);

	if (length >= 5 && !*has_read)
		MUST_HOLD(memcmp(text, "HTTP/", 5) == 0);
	*has_read |= length > 0;
}

static void close_client(int *client)
{
	if (*client >= 0)
		close(*client);
	*client = -1;
}

/* Nobody answers the manager's MADs. */
static void take_turns(const struct mad_engine *engine, time_ns now)
{
	struct mad_message lost[8];

	for (unsigned turn = 0; turn < TURNS; turn++) {
		(void)engine->is_done(engine->context, now);
		(void)engine->transmit(engine->context, now, ARRAY_COUNT(lost), lost);
		(void)engine->deadline(engine->context);
	}
}

static void play_clients(const struct mad_engine *engine, const struct sockaddr_in *address)
{
	int clients[CONNECTIONS] = {-1, -1, -1, -1};
	bool has_read[CONNECTIONS] = {false};
	char text[REQUEST_BYTES_MAX];
	time_ns now = SECONDS(1000);

	for (unsigned i = 0; input.byte_count && i < ACTIONS_MAX; i++) {
		const uint8_t choice = input_byte(&input);
		const unsigned index = choice % CONNECTIONS;

		if (clients[index] < 0) {
			clients[index] = connect_to(address);
			has_read[index] = false;
		}
		if (choice & 0x80)
			close_client(&clients[index]);
		else if (choice & 0x40)
			now += MILLISECONDS(1) << (choice & 0xf);
		else if (clients[index] >= 0)
			(void)!send(clients[index], text, make_request(text),
				    MSG_DONTWAIT | MSG_NOSIGNAL);
		take_turns(engine, now);
		if (clients[index] >= 0)
			read_answer(clients[index], &has_read[index]);
	}
	for (unsigned i = 0; i < CONNECTIONS; i++)
		close_client(&clients[i]);
	(void)engine->is_done(engine->context, now);
}

int mad_engine_run(struct mad_engine_port *port, const struct mad_engine *engine)
{
	struct sockaddr_in address;

	(void)port;
	MUST_HOLD(find_server(&address));
	play_clients(engine, &address);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
	static struct perf_source source;
	static FILE *quiet;
	char text[64] = "";

	if (!quiet)
		quiet = freopen("/dev/null", "w", stdout);
	input = (struct input){bytes, byte_count};
	if (byte_count && byte_count < sizeof(text)) {
		struct sockaddr_storage address;

		memcpy(text, bytes, byte_count);
		(void)perf_server_address(text, byte_count % 2, &address);
	}
	source = (struct perf_source){.socket = -1};
	MUST_HOLD(perf_manager_init(&source.manager, &(struct perf_options){0}) == 0);
	MUST_HOLD(perf_server_run(&source, "127.0.0.1:0", false) == EXIT_SUCCESS);
	perf_manager_release(&source.manager);
	return 0;
}
