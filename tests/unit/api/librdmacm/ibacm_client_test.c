/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to ibacm, and what becomes of its answers: a thread plays ibacm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/librdmacm/ibacm_client.h"

enum { HEADER_BYTES = 16, ENTRY_BYTES = 72, ANSWER_BYTES_MAX = 1024 };

static char tree[64];
static struct sockaddr_in from = {.sin_family = AF_INET}, to = {.sin_family = AF_INET};
static struct ibv_path_data paths[IBACM_PATHS_MAX];

/* What ibacm got and says. */
static struct {
	int listener;
	uint8_t request[ANSWER_BYTES_MAX];
	ssize_t request_bytes;
	uint8_t answer[ANSWER_BYTES_MAX];
	size_t answer_bytes;
	size_t first_bytes; /* sent before the rest */
	bool is_other_transaction;
} ibacm;

static void *play(void *nothing)
{
	int fd = accept(ibacm.listener, NULL, NULL);

	(void)nothing;
	ibacm.request_bytes = recv(fd, ibacm.request, sizeof(ibacm.request), 0);
	memcpy(ibacm.answer + 8, ibacm.request + 8, 8);
	ibacm.answer[8] ^= ibacm.is_other_transaction;
	if (ibacm.answer_bytes) {
		send(fd, ibacm.answer, ibacm.first_bytes, MSG_NOSIGNAL);
		send(fd, ibacm.answer + ibacm.first_bytes, ibacm.answer_bytes - ibacm.first_bytes,
		     MSG_NOSIGNAL);
		close(fd);
	} else {
		/* Silence, until the client gives up. */
		ibacm.first_bytes = (size_t)recv(fd, ibacm.answer, 1, 0);
		close(fd);
	}
	return NULL;
}

static unsigned ask(bool is_cached_only)
{
	pthread_t thread;
	unsigned count;

	assert_int_equal(pthread_create(&thread, NULL, play, NULL), 0);
	count = ibacm_find_paths(tree, (struct sockaddr *)&from, (struct sockaddr *)&to,
				 is_cached_only, paths);
	pthread_join(thread, NULL);
	return count;
}

/* An answer with entries of these types, each with an SLID and a DLID where it is a path. */
static void answer_with(unsigned entry_count, const uint8_t types[])
{
	uint16_t byte_count = (uint16_t)(HEADER_BYTES + entry_count * ENTRY_BYTES);

	memset(ibacm.answer, 0, sizeof(ibacm.answer));
	ibacm.answer[0] = 1;
	ibacm.answer[1] = 0x81;
	memcpy(ibacm.answer + 6, &byte_count, sizeof(byte_count));
	for (unsigned i = 0; i < entry_count; i++) {
		uint8_t *entry = ibacm.answer + HEADER_BYTES + i * ENTRY_BYTES;

		entry[0] = 0x2b;
		entry[4] = types[i];
		entry[8 + 41] = 7;		  /* DLID */
		entry[8 + 43] = (uint8_t)(i + 1); /* SLID */
	}
	ibacm.answer_bytes = byte_count;
	ibacm.first_bytes = byte_count;
	ibacm.is_other_transaction = false;
}

static int set_up(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char path[96];

	(void)state;
	snprintf(tree, sizeof(tree), "/tmp/ibacm-test-XXXXXX");
	assert_non_null(mkdtemp(tree));
	snprintf(path, sizeof(path), "%s/run", tree);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/run/ibacm.sock", tree);
	ibacm.listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(ibacm.listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(ibacm.listener, 1), 0);
	inet_pton(AF_INET, "127.100.0.1", &from.sin_addr);
	inet_pton(AF_INET, "127.100.0.2", &to.sin_addr);
	return 0;
}

static int tear_down(void **state)
{
	char command[96];

	(void)state;
	close(ibacm.listener);
	snprintf(command, sizeof(command), "rm -r %s", tree);
	return system(command);
}

static void test_a_request_has_both_addresses_and_the_answer_its_paths(void **state)
{
	const uint8_t types[] = {0x10, 2, 0x10};
	const uint8_t header[] = {1, 1, 0, 0, 0, 0, 160, 0};
	const uint8_t source[] = {1, 0, 0, 0, 2, 0, 0, 0, 127, 100, 0, 1};
	const uint8_t destination[] = {2, 0, 0, 0, 2, 0, 0, 0, 127, 100, 0, 2};

	(void)state;
	answer_with(3, types);
	assert_int_equal(ask(false), 2);
	assert_int_equal(ibacm.request_bytes, 160);
	assert_memory_equal(ibacm.request, header, sizeof(header));
	assert_memory_equal(ibacm.request + HEADER_BYTES, source, sizeof(source));
	assert_memory_equal(ibacm.request + HEADER_BYTES + ENTRY_BYTES, destination,
			    sizeof(destination));
	assert_int_equal(paths[0].flags, 0x2b);
	assert_int_equal(ntohs(paths[0].path.dlid), 7);
	assert_int_equal(ntohs(paths[0].path.slid), 1);
	assert_int_equal(ntohs(paths[1].path.slid), 3);
}

static void test_a_numeric_host_is_looked_up_in_the_cache_only(void **state)
{
	const uint8_t types[] = {0x10};

	(void)state;
	answer_with(1, types);
	assert_int_equal(ask(true), 1);
	assert_int_equal(ibacm.request[HEADER_BYTES + ENTRY_BYTES + 3], 0x40);
}

static void test_an_answer_in_two_pieces_is_read_whole(void **state)
{
	const uint8_t types[] = {0x10};

	(void)state;
	answer_with(1, types);
	ibacm.first_bytes = 5;
	assert_int_equal(ask(false), 1);
}

static void test_garbage_gives_no_path(void **state)
{
	const uint8_t types[] = {0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10};

	(void)state;
	answer_with(1, types), ibacm.answer[0] = 2;
	assert_int_equal(ask(false), 0);
	answer_with(1, types), ibacm.answer[1] = 1;
	assert_int_equal(ask(false), 0);
	answer_with(1, types), ibacm.answer[2] = 6; /* timed out */
	assert_int_equal(ask(false), 0);
	answer_with(1, types), ibacm.is_other_transaction = true;
	assert_int_equal(ask(false), 0);
	answer_with(1, types), ibacm.answer[6]++; /* more than comes */
	assert_int_equal(ask(false), 0);
	answer_with(1, types), ibacm.answer[6]--; /* less than comes */
	assert_int_equal(ask(false), 0);
	answer_with(1, types), ibacm.answer[6] = 0;
	assert_int_equal(ask(false), 0);
	answer_with(1, types), ibacm.answer_bytes = ibacm.first_bytes = 9;
	assert_int_equal(ask(false), 0);
	answer_with(9, types); /* more than fit */
	assert_int_equal(ask(false), 0);
	answer_with(1, types), ibacm.answer[HEADER_BYTES + 8 + 41] = 0; /* no DLID */
	assert_int_equal(ask(false), 0);
	answer_with(0, types);
	assert_int_equal(ask(false), 0);
	answer_with(8, types);
	assert_int_equal(ask(false), 8);
}

/* ibacm that is configured so listens at a TCP port, and says which one. */
static void test_a_tcp_port_is_used_where_it_is_named(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	const uint8_t types[] = {0x10};
	int local = ibacm.listener;
	char path[96];

	(void)state;
	ibacm.listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(ibacm.listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(ibacm.listener, 1), 0);
	assert_int_equal(getsockname(ibacm.listener, (struct sockaddr *)&address, &length), 0);
	snprintf(path, sizeof(path), "%s/run/ibacm.port", tree);

	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fprintf(file, "%u\n", ntohs(address.sin_port));
	fclose(file);
	answer_with(1, types);
	assert_int_equal(ask(false), 1);
	close(ibacm.listener);
	ibacm.listener = local;
	/* Garbage instead of a port: the local socket is tried. */
	file = fopen(path, "we");
	assert_non_null(file);
	fputs("nothing\n", file);
	fclose(file);
	answer_with(1, types);
	assert_int_equal(ask(false), 1);
	unlink(path);
}

static void test_silence_ends(void **state)
{
	(void)state;
	ibacm.answer_bytes = 0;
	assert_int_equal(ask(false), 0);
}

static void test_without_ibacm_there_is_no_path(void **state)
{
	struct sockaddr other = {.sa_family = AF_UNIX};

	(void)state;
	assert_int_equal(ibacm_find_paths("/nowhere", NULL, (struct sockaddr *)&to, false, paths),
			 0);
	assert_int_equal(ibacm_find_paths(tree, NULL, &other, false, paths), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_request_has_both_addresses_and_the_answer_its_paths),
		cmocka_unit_test(test_a_numeric_host_is_looked_up_in_the_cache_only),
		cmocka_unit_test(test_an_answer_in_two_pieces_is_read_whole),
		cmocka_unit_test(test_garbage_gives_no_path),
		cmocka_unit_test(test_a_tcp_port_is_used_where_it_is_named),
		cmocka_unit_test(test_silence_ends),
		cmocka_unit_test(test_without_ibacm_there_is_no_path),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
