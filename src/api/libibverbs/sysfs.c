/* SPDX-License-Identifier: Apache-2.0 */
/* Where softib's sysfs tree is, and how its one-line files are read. */
#include "api/libibverbs/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/session.h"

static char sysfs_path[PATH_MAX] = "/sys";

static void find_sysfs_path(void)
{
	const char *path = secure_getenv("SYSFS_PATH");
	const char *tree = secure_getenv("SOFTIB_TREE");
	struct session *session;
	size_t length;

	/* Not started by "softib run": SOFTIB_HOST and SOFTIB_FABRIC, or the defaults, decide. */
	if (!path && !tree && session_get(&session) == 0)
		tree = session_tree(session);
	if (path)
		snprintf(sysfs_path, sizeof(sysfs_path), "%s", path);
	else if (tree)
		snprintf(sysfs_path, sizeof(sysfs_path), "%s/sys", tree);
	length = strlen(sysfs_path);
	while (length > 1 && sysfs_path[length - 1] == '/')
		sysfs_path[--length] = '\0';
}

const char *ibv_get_sysfs_path(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_sysfs_path);
	return sysfs_path;
}

int ibv_read_sysfs_file(const char *dir, const char *file, char *ret_text, size_t text_bytes_max)
{
	char path[PATH_MAX];
	ssize_t length;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	length = read(fd, ret_text, text_bytes_max);
	close(fd);
	if (length < 0)
		return -1;
	if (length > 0 && ret_text[length - 1] == '\n')
		length--;
	if ((size_t)length < text_bytes_max)
		ret_text[length] = '\0';
	return (int)length;
}
