/* SPDX-License-Identifier: Apache-2.0 */
/* A secret in a file that only its owner may read: see secret_file.h. */
#include "launch/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGITS = 2 * SECRET_BYTES, TEXT_BYTES = DIGITS + 2 };

static int parse(const char *text, uint8_t ret_secret[static SECRET_BYTES])
{
	uint8_t secret[SECRET_BYTES];

	if (strspn(text, "0123456789abcdefABCDEF") != DIGITS ||
	    strspn(text + DIGITS, " \t\r\n") != strlen(text + DIGITS))
		return -EINVAL;
	for (unsigned i = 0; i < SECRET_BYTES; i++) {
		const char digits[3] = {text[2 * i], text[2 * i + 1]};

		secret[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	memcpy(ret_secret, secret, sizeof(secret));
	return 0;
}

/* Checks the open file, not the name, which may stand for another file by now. */
static int check_owner(int file)
{
	struct stat status;

	if (fstat(file, &status) != 0)
		return -errno;
	if (status.st_mode & (S_IRWXG | S_IRWXO))
		return -EPERM;
	return status.st_uid == geteuid() || geteuid() == 0 ? 0 : -EPERM;
}

static int read_secret(int file, uint8_t ret_secret[static SECRET_BYTES])
{
	char text[TEXT_BYTES + 1] = "";
	int error = check_owner(file);

	if (error)
		return error;
	if (read(file, text, TEXT_BYTES) < 0)
		return -errno;
	return parse(text, ret_secret);
}

/* The file gets its name only when it is complete: another process that starts at the same time
 * reads the whole secret or makes its own. -EEXIST: another process was faster. */
static int make_secret(const char *path, uint8_t ret_secret[static SECRET_BYTES])
{
	uint8_t secret[SECRET_BYTES];
	char text[TEXT_BYTES], unfinished[PATH_MAX];
	int file, error = 0;

	if (getrandom(secret, sizeof(secret), 0) != (ssize_t)sizeof(secret))
		return -EIO;
	for (unsigned i = 0; i < SECRET_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", secret[i]);
	text[DIGITS] = '\n';
	if (snprintf(unfinished, sizeof(unfinished), "%s.XXXXXX", path) >= (int)sizeof(unfinished))
		return -ENAMETOOLONG;
	file = mkostemp(unfinished, O_CLOEXEC); /* mode 0600 */
	if (file < 0)
		return -errno;
	if (write(file, text, DIGITS + 1) != DIGITS + 1)
		error = -EIO;
	if (close(file) != 0 && !error)
		error = -errno;
	if (!error && link(unfinished, path) != 0)
		error = -errno;
	unlink(unfinished);
	if (!error)
		memcpy(ret_secret, secret, sizeof(secret));
	return error;
}

int secret_file_read(const char *path, uint8_t ret_secret[static SECRET_BYTES])
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	int error;

	if (file < 0 && errno == ENOENT) {
		error = make_secret(path, ret_secret);
		if (error != -EEXIST)
			return error;
		file = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (file < 0)
		return -errno;
	error = read_secret(file, ret_secret);
	close(file);
	return error;
}

const char *secret_file_reason(int error)
{
	if (error == -EPERM)
		return "a secret must be its owner's alone (chmod 600)";
	if (error == -EINVAL)
		return "a secret has 32 hexadecimal digits";
	return strerror(-error);
}
