/* SPDX-License-Identifier: Apache-2.0 */
/* Maps paths of InfiniBand files (/sys, /dev) to the files that softib writes (abi 2.4). */
#include "api/pathshim/path_map.h"

#include <string.h>

#include "base/attributes.h"

/* A path matches a prefix if it ends there or continues with a slash. */
static const char *const sys_prefixes[] = {
	"/sys/class/infiniband",
	"/sys/class/infiniband_mad",
	"/sys/class/infiniband_verbs",
	"/sys/class/infiniband_cm",
	"/sys/class/misc/rdma_cm",
	/* srp_daemon looks there for the targets that its host is logged in to. */
	"/sys/class/scsi_host",
};
static const char *const dev_prefixes[] = {
	"/dev/infiniband",
};

static bool path_is_below(const char *path, const char *const prefixes[], size_t prefix_count)
{
	for (size_t i = 0; i < prefix_count; i++) {
		size_t length = strlen(prefixes[i]);

		if (strncmp(path, prefixes[i], length) == 0 &&
		    (path[length] == '\0' || path[length] == '/'))
			return true;
	}
	return false;
}

bool path_is_mapped(const char *path)
{
	if (!path || path[0] != '/')
		return false;
	if (strncmp(path, "/sys/class/", 11) == 0)
		return path_is_below(path, sys_prefixes, ARRAY_COUNT(sys_prefixes));
	if (path[1] == 'd')
		return path_is_below(path, dev_prefixes, ARRAY_COUNT(dev_prefixes));
	return false;
}

const char *path_map(const char *path, const char *tree, char ret_buffer[static MAPPED_PATH_BYTES])
{
	size_t tree_length;
	size_t path_length;

	if (!path_is_mapped(path) || !tree || !tree[0])
		return path;
	tree_length = strlen(tree);
	path_length = strlen(path);
	if (tree_length + path_length >= MAPPED_PATH_BYTES)
		return path;
	memcpy(ret_buffer, tree, tree_length);
	memcpy(ret_buffer + tree_length, path, path_length + 1);
	return ret_buffer;
}

bool path_is_counter(const char *path, const char *tree)
{
	return strncmp(path, tree, strlen(tree)) == 0 && strstr(path, "/counters/") != NULL;
}

void path_of_fd(int fd, char ret_path[static FD_PATH_BYTES])
{
	static const char folder[] = "/proc/self/fd/";
	char digits[12];
	size_t count = 0;
	unsigned rest = (unsigned)fd;

	do
		digits[count++] = (char)('0' + rest % 10);
	while (rest /= 10);
	memcpy(ret_path, folder, sizeof(folder) - 1);
	for (size_t i = 0; i < count; i++)
		ret_path[sizeof(folder) - 1 + i] = digits[count - 1 - i];
	ret_path[sizeof(folder) - 1 + count] = '\0';
}
