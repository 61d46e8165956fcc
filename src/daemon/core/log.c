/* SPDX-License-Identifier: Apache-2.0 */
/* softibd's log: one line per event, with the time, to a file or to stderr. */
#include "daemon/core/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "daemon/core/limits.h"

/* A client that misbehaves for days must not fill the disk. */
enum { LOG_LINE_BYTES = 512, LOG_FILE_BYTES_MAX = 16 << 20 };

static int log_file = -1;
static time_t second; /* of the monotonic clock, to which the counts belong */
static unsigned line_count;
static unsigned left_out_count;

int log_open(const char *path)
{
	int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (file < 0)
		return -errno;
	log_close();
	log_file = file;
	return 0;
}

void log_close(void)
{
	if (log_file >= 0)
		close(log_file);
	log_file = -1;
}

static void start_over_when_full(void)
{
	struct stat status;

	if (log_file >= 0 && fstat(log_file, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_size > LOG_FILE_BYTES_MAX && ftruncate(log_file, 0) != 0)
		log_close();
}

/* Texts of clients can't begin lines of their own, nor steer a terminal. */
static void make_printable(char *line, size_t length)
{
	for (size_t index = 0; index < length; index++)
		if ((unsigned char)line[index] < ' ' || line[index] == 0x7f)
			line[index] = '?';
}

static void write_line(const char *format, va_list arguments)
{
	char line[LOG_LINE_BYTES];
	struct timespec now;
	struct tm broken_down;
	size_t length = 0;

	clock_gettime(CLOCK_REALTIME, &now);
	if (log_file >= 0 && localtime_r(&now.tv_sec, &broken_down))
		length = strftime(line, sizeof(line), "%F %T ", &broken_down);

	int written = vsnprintf(line + length, sizeof(line) - length - 1, format, arguments);

	if (written < 0)
		return;
	length += (size_t)written;
	if (length > sizeof(line) - 2)
		length = sizeof(line) - 2;
	make_printable(line, length);
	line[length++] = '\n';
	start_over_when_full();
	/* A full disk costs log lines, never the fabric. */
	if (write(log_file >= 0 ? log_file : STDERR_FILENO, line, length) < 0)
		return;
}

static void say(const char *format, ...) PRINTF_LIKE(1, 2);

static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_line(format, arguments);
	va_end(arguments);
}

/* One client that errs in a loop must not hide what the others did. */
static bool may_write(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec != second) {
		if (left_out_count)
			say("%u lines were left out: more than %d in a second", left_out_count,
			    LIMIT_LOG_LINES_PER_SECOND);
		second = now.tv_sec;
		line_count = 0;
		left_out_count = 0;
	}
	if (line_count < LIMIT_LOG_LINES_PER_SECOND) {
		line_count++;
		return true;
	}
	left_out_count++;
	return false;
}

void log_line(const char *format, ...)
{
	va_list arguments;

	if (!may_write())
		return;
	va_start(arguments, format);
	write_line(format, arguments);
	va_end(arguments);
}
