/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings about misuse: switched on by SOFTIB_WARN, each printed once. */
#include "api/libibverbs/diagnostics/warnings.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLACES_MAX = 1024, LINE_BYTES_MAX = 400 };

struct place {
	enum warning_kind kind;
	const char *call;
	uint64_t object;
};

bool warnings_are_on;

static pthread_mutex_t places_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct place places[PLACES_MAX];
static unsigned place_count;

static void read_environment(void)
{
	const char *value = getenv("SOFTIB_WARN");

	warnings_are_on = value && *value && strcmp(value, "0") != 0;
}

void warnings_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_environment);
}

/* Whether the place is new. After PLACES_MAX places the program gets no further warnings. */
static bool remember(enum warning_kind kind, const char *call, uint64_t object)
{
	for (unsigned i = 0; i < place_count; i++)
		if (places[i].kind == kind && places[i].object == object &&
		    strcmp(places[i].call, call) == 0)
			return false;
	if (place_count == PLACES_MAX)
		return false;
	places[place_count++] = (struct place){.kind = kind, .call = call, .object = object};
	return true;
}

/* One write per line, so that lines of several threads and processes do not mix. */
static void write_line(const char *call, const char *format, va_list arguments)
{
	char line[LINE_BYTES_MAX];
	size_t room = sizeof(line) - 1; /* without the newline */
	int length = snprintf(line, room, "softib: warning: %s: ", call);

	if (length > 0 && (size_t)length < room)
		length += vsnprintf(line + length, room - (size_t)length, format, arguments);
	if (length < 0)
		return;
	if ((size_t)length >= room)
		length = (int)room - 1;
	line[length++] = '\n';
	/* stderr may be closed. */
	if (write(STDERR_FILENO, line, (size_t)length) < 0)
		return;
}

void warn(enum warning_kind kind, const char *call, uint64_t object, const char *format, ...)
{
	int saved_errno = errno;

	pthread_mutex_lock(&places_mutex);

	bool is_new = remember(kind, call, object);

	pthread_mutex_unlock(&places_mutex);
	if (is_new) {
		va_list arguments;

		va_start(arguments, format);
		write_line(call, format, arguments);
		va_end(arguments);
	}
	errno = saved_errno;
}
