/* SPDX-License-Identifier: Apache-2.0 */
/* Test programs that find each other by files in a directory, one address per file. A process that
 * is killed leaves nothing that others would wait for. */
#ifndef SOFTIB_TESTS_CLIENTS_MEETING_FILES_H
#define SOFTIB_TESTS_CLIENTS_MEETING_FILES_H

#include "verbs_client.h"

#include <poll.h>
#include <unistd.h>

enum { WAIT_SECONDS = 60 };

/* What a side publishes about itself. */
struct address {
	unsigned round, lid, qpn, key;
	unsigned long long bytes;
};

static inline bool has_come(const char *directory, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return access(path, F_OK) == 0;
}

static inline void tell_address(const char *directory, const char *name,
				const struct address *address)
{
	char finished[512], path[sizeof(finished) + 16];

	snprintf(finished, sizeof(finished), "%s/%s", directory, name);
	snprintf(path, sizeof(path), "%s.%d", finished, (int)getpid());

	FILE *file = fopen(path, "w");

	CHECK(file);
	fprintf(file, "%u %u %u %u %llu", address->round, address->lid, address->qpn, address->key,
		address->bytes);
	CHECK_EQUAL(fclose(file), 0);
	CHECK_EQUAL(rename(path, finished), 0);
}

/* Reads what the other side has published, if it has. */
static inline bool hear(const char *directory, const char *name, struct address *ret_address)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", directory, name);

	FILE *file = fopen(path, "r");

	if (!file)
		return false;
	CHECK_EQUAL(fscanf(file, "%u %u %u %u %llu", &ret_address->round, &ret_address->lid,
			   &ret_address->qpn, &ret_address->key, &ret_address->bytes),
		    5);
	fclose(file);
	unlink(path);
	return true;
}

static inline struct address wait_for(const char *directory, const char *name)
{
	time_t give_up = time(NULL) + WAIT_SECONDS;
	struct address address;

	while (!hear(directory, name, &address)) {
		CHECK(time(NULL) < give_up);
		poll(NULL, 0, 1);
	}
	return address;
}

static inline const char *name_in_round(const char *name, unsigned round)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s-%u", name, round);
	return text;
}

#endif
