/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the sysfs tree that softib writes for a host. */
#include "api/libibumad/umad_sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/session.h"

/* A path under which there is no file. The machine's own sysfs would list adapters that softib
 * cannot open. */
#define NO_SYSFS "/dev/null"

const char *umad_sysfs_root(void)
{
	const char *root = secure_getenv("SOFTIB_TREE");
	struct session *session;

	if (root)
		return root;
	/* Not started by "softib run": SOFTIB_HOST and SOFTIB_FABRIC, or the defaults, decide. */
	if (session_get(&session))
		return NO_SYSFS;
	return session_tree(session);
}

int umad_sysfs_read_text(char ret_text[static UMAD_SYSFS_TEXT_BYTES], const char *format, ...)
{
	char path[PATH_MAX];
	va_list arguments;
	ssize_t byte_count;
	int length;
	int fd;

	ret_text[0] = '\0';
	length = snprintf(path, sizeof(path), "%s/sys/class/", umad_sysfs_root());
	if (length >= (int)sizeof(path))
		return -ENAMETOOLONG;
	va_start(arguments, format);
	length += vsnprintf(path + length, sizeof(path) - (size_t)length, format, arguments);
	va_end(arguments);
	if (length >= (int)sizeof(path))
		return -ENAMETOOLONG;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	byte_count = read(fd, ret_text, UMAD_SYSFS_TEXT_BYTES - 1);
	close(fd);
	if (byte_count < 0)
		return -EIO;
	ret_text[byte_count] = '\0';
	ret_text[strcspn(ret_text, "\n")] = '\0';
	return 0;
}

uint64_t umad_sysfs_number(const char *text)
{
	return strtoull(text, NULL, 0);
}

int umad_sysfs_parse_groups(const char *text, size_t group_count, uint16_t ret_groups[])
{
	uint16_t groups[8];

	if (group_count > ARRAY_COUNT(groups))
		return -EINVAL;
	for (size_t i = 0; i < group_count; i++) {
		char *end;
		unsigned long group = strtoul(text, &end, 16);
		char parting = i + 1 < group_count ? ':' : '\0';

		if (end == text || group > UINT16_MAX || *end != parting)
			return -EINVAL;
		groups[i] = (uint16_t)group;
		text = end + 1;
	}
	memcpy(ret_groups, groups, group_count * sizeof(groups[0]));
	return 0;
}
