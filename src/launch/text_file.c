/* SPDX-License-Identifier: Apache-2.0 */
/* Small text files: see text_file.h. */
#include "launch/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_all(int file, size_t room, char *text, size_t *ret_bytes)
{
	size_t byte_count = 0;

	for (;;) {
		ssize_t count = read(file, text + byte_count, room - byte_count);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		byte_count += (size_t)count;
		if (count == 0)
			break;
		if (byte_count == room)
			return -EFBIG;
	}
	text[byte_count] = '\0';
	*ret_bytes = byte_count;
	return 0;
}

int text_file_read(const char *path, size_t bytes_max, char **ret_text, size_t *ret_bytes)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	char *text;
	int error;

	if (file < 0)
		return -errno;
	text = malloc(bytes_max + 1);
	error = text ? read_all(file, bytes_max + 1, text, ret_bytes) : -ENOMEM;
	close(file);
	if (error)
		free(text);
	else
		*ret_text = text;
	return error;
}

static int write_all(int file, const char *text)
{
	size_t length = strlen(text);

	while (length) {
		ssize_t count = write(file, text, length);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		text += count;
		length -= (size_t)count;
	}
	return 0;
}

int text_file_write(const char *path, const char *text)
{
	char new_path[PATH_MAX];
	int file, error;

	if (snprintf(new_path, sizeof(new_path), "%s.new", path) >= (int)sizeof(new_path))
		return -ENAMETOOLONG;
	file = open(new_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file < 0)
		return -errno;
	error = write_all(file, text);
	if (close(file) != 0 && !error)
		error = -errno;
	if (!error && rename(new_path, path) != 0)
		error = -errno;
	if (error)
		unlink(new_path);
	return error;
}
