/* SPDX-License-Identifier: Apache-2.0 */
/* A private mount namespace with the drop-in libraries and the host's files mounted over the real
 * ones. */
#include "cli/namespace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const library_names[] = {"libibverbs.so.1", "librdmacm.so.1", "libibumad.so.3"};
static const char *const library_folders[] = {"/usr/lib/x86_64-linux-gnu",
					      "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
					      "/usr/lib", "/usr/local/lib"};
/* Devices that programs expect in /dev. */
static const char *const device_names[] = {"null",    "zero",	   "full", "random",
					   "urandom", "tty",	   "pts",  "shm",
					   "mqueue",  "hugepages", "ptmx", "fuse"};

static int explain(const char *what)
{
	int error = errno;

	fprintf(stderr,
		"softib: cannot enter a private namespace: %s: %s; if unprivileged user "
		"namespaces are disabled, run without --namespace\n",
		what, strerror(error));
	return -error;
}

/* A path that does not fit becomes empty, so that using it fails. */
static void format_path(char ret_path[static PATH_MAX], const char *format, ...) PRINTF_LIKE(2, 3);

static void format_path(char ret_path[static PATH_MAX], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int length = vsnprintf(ret_path, PATH_MAX, format, arguments);
	va_end(arguments);
	if (length < 0 || length >= PATH_MAX)
		ret_path[0] = '\0';
}

static int write_file(const char *path, const char *format, ...)
{
	char text[64];
	va_list arguments;
	int file = open(path, O_WRONLY | O_CLOEXEC);

	if (file < 0)
		return -1;
	va_start(arguments, format);
	int length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);

	ssize_t written = write(file, text, (size_t)length);

	close(file);
	return written == length ? 0 : -1;
}

static int enter_user_namespace(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
		return explain("unshare");
	if (write_file("/proc/self/setgroups", "deny") != 0 && errno != ENOENT)
		return explain("/proc/self/setgroups");
	if (write_file("/proc/self/uid_map", "%u %u 1", uid, uid) != 0)
		return explain("/proc/self/uid_map");
	if (write_file("/proc/self/gid_map", "%u %u 1", gid, gid) != 0)
		return explain("/proc/self/gid_map");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return explain("mount");
	return 0;
}

/* Mounts only over existing libraries, because a mount point must exist. */
static unsigned cover_libraries(const char *libraries)
{
	unsigned count = 0;

	for (unsigned folder = 0; folder < ARRAY_COUNT(library_folders); folder++) {
		for (unsigned name = 0; name < ARRAY_COUNT(library_names); name++) {
			char ours[PATH_MAX], theirs[PATH_MAX], resolved[PATH_MAX];

			format_path(ours, "%s/%s", libraries, library_names[name]);
			format_path(theirs, "%s/%s", library_folders[folder], library_names[name]);
			if (realpath(theirs, resolved) &&
			    mount(ours, resolved, NULL, MS_BIND, NULL) == 0)
				count++;
		}
	}
	return count;
}

static void link_into(const char *folder, const char *name, const char *target)
{
	char path[PATH_MAX];

	format_path(path, "%s/%s", folder, name);
	/* An existing link is kept. */
	if (symlink(target, path) != 0)
		return;
}

/* Rebuilds /sys/class: the machine's classes as links, and softib's classes. Links inside a class
 * lead to ../../devices. */
static int cover_sys_class(const char *stage, const char *tree)
{
	char real[PATH_MAX], merged[PATH_MAX], ours[PATH_MAX], target[PATH_MAX];
	struct dirent *entry;

	format_path(real, "%s/class", stage);
	format_path(merged, "%s/merged", stage);
	format_path(ours, "%s/sys/class", tree);
	link_into(stage, "devices", "/sys/devices");
	if (mkdir(real, 0755) != 0 || mkdir(merged, 0755) != 0 ||
	    mount("/sys/class", real, NULL, MS_BIND | MS_REC, NULL) != 0)
		return explain("/sys/class");

	const char *const sources[] = {ours, real};

	for (unsigned source = 0; source < ARRAY_COUNT(sources); source++) {
		DIR *folder = opendir(sources[source]);

		while (folder && (entry = readdir(folder))) {
			format_path(target, "%s/%s", sources[source], entry->d_name);
			/* Class misc: softib has one device of it; the machine's other devices are
			 * linked beside it. */
			if (entry->d_name[0] != '.' &&
			    !(source == 0 && strcmp(entry->d_name, "misc") == 0))
				link_into(merged, entry->d_name, target);
		}
		if (folder)
			closedir(folder);
	}
	return mount(merged, "/sys/class", NULL, MS_BIND, NULL) == 0 ? 0 : explain("/sys/class");
}

static int bind_device(const char *devices, const char *name)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct stat status;

	format_path(from, "/dev/%s", name);
	format_path(to, "%s/%s", devices, name);
	if (lstat(from, &status) != 0)
		return 0;
	if (S_ISLNK(status.st_mode))
		return symlink("pts/ptmx", to);
	if (S_ISDIR(status.st_mode) ? mkdir(to, 0755) != 0 : mknod(to, S_IFREG | 0600, 0) != 0)
		return -1;
	return mount(from, to, NULL, MS_BIND | MS_REC, NULL);
}

static int cover_dev(const char *stage, const char *tree)
{
	char devices[PATH_MAX], infiniband[PATH_MAX];

	format_path(devices, "%s/dev", stage);
	format_path(infiniband, "%s/dev/infiniband", tree);
	if (mkdir(devices, 0755) != 0)
		return explain("/dev");
	for (unsigned index = 0; index < ARRAY_COUNT(device_names); index++) {
		if (bind_device(devices, device_names[index]) != 0 && index == 0)
			return explain("/dev/null");
	}
	link_into(devices, "infiniband", infiniband);
	link_into(devices, "fd", "/proc/self/fd");
	link_into(devices, "stdin", "/proc/self/fd/0");
	link_into(devices, "stdout", "/proc/self/fd/1");
	link_into(devices, "stderr", "/proc/self/fd/2");
	return mount(devices, "/dev", NULL, MS_BIND | MS_REC, NULL) == 0 ? 0 : explain("/dev");
}

int namespace_enter(const char *tree, const char *libraries)
{
	char stage[PATH_MAX];
	int error = enter_user_namespace();

	if (error)
		return error;
	/* Outside this namespace the folder stays empty. */
	format_path(stage, "%s/namespace", tree);
	if (mkdir(stage, 0700) != 0 && errno != EEXIST)
		return explain(stage);
	if (mount("softib", stage, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=700") != 0)
		return explain("tmpfs");
	if (cover_libraries(libraries) == 0)
		fprintf(stderr, "softib: rdma-core's libraries are not installed, so nothing is "
				"mounted over them; LD_LIBRARY_PATH leads to softib's\n");
	error = cover_sys_class(stage, tree);
	return error ? error : cover_dev(stage, tree);
}
