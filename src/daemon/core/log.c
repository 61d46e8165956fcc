/* SPDX-License-Identifier: Apache-2.0 */
/* softibd's log: one line per event, with the time, to a file or to stderr. */
#include "daemon/core/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A client that misbehaves for days must not fill the disk. */
enum { LOG_LINE_BYTES = 512, LOG_FILE_BYTES_MAX = 16 << 20 };

static int log_file = -1;

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

void log_line(const char *format, ...)
{
	char line[LOG_LINE_BYTES];
	struct timespec now;
	struct tm broken_down;
	size_t length = 0;
	va_list arguments;

	clock_gettime(CLOCK_REALTIME, &now);
	if (log_file >= 0 && localtime_r(&now.tv_sec, &broken_down))
		length = strftime(line, sizeof(line), "%F %T ", &broken_down);
	va_start(arguments, format);
	int written = vsnprintf(line + length, sizeof(line) - length - 1, format, arguments);
	va_end(arguments);
	if (written < 0)
		return;
	length += (size_t)written;
	if (length > sizeof(line) - 2)
		length = sizeof(line) - 2;
	line[length++] = '\n';
	start_over_when_full();
	/* A full disk costs log lines, never the fabric. */
	if (write(log_file >= 0 ? log_file : STDERR_FILENO, line, length) < 0)
		return;
}
