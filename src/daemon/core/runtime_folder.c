/* SPDX-License-Identifier: Apache-2.0 */
/* A fabric's folder in the runtime directory: made at the start, whoever died before swept out,
 * gone at the end. */
#include "daemon/core/runtime_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { LISTEN_BACKLOG = 1024, FOLDER_DESCRIPTORS = 16 };

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status;
	(void)kind;
	(void)where;
	/* What can't be removed stays; the rest still goes. */
	remove(path);
	return 0;
}

void remove_folder(const char *path)
{
	nftw(path, remove_entry, FOLDER_DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static int lock_pid_file(struct runtime *runtime)
{
	char text[24];
	int file =
		openat(runtime->directory, "pid", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (file < 0)
		return -errno;
	if (flock(file, LOCK_EX | LOCK_NB) != 0) {
		close(file);
		return -EEXIST;
	}

	/* Whoever held it may have removed the file while we waited to open it. */
	struct stat ours, there;

	if (fstat(file, &ours) != 0 || fstatat(runtime->directory, "pid", &there, 0) != 0 ||
	    ours.st_ino != there.st_ino) {
		close(file);
		return -EAGAIN;
	}

	int length = snprintf(text, sizeof(text), "%d\n", (int)getpid());

	if (ftruncate(file, 0) != 0 || write(file, text, (size_t)length) != length) {
		int error = errno ? -errno : -ENOSPC;

		close(file);
		return error;
	}
	runtime->pid_file = file;
	return 0;
}

static void sweep_remains(const struct runtime *runtime)
{
	char path[CONTROL_PATH_BYTES + 16];

	unlinkat(runtime->directory, "control", 0);
	snprintf(path, sizeof(path), "%s/hosts", runtime->path);
	remove_folder(path);
}

static int claim_once(struct runtime *runtime)
{
	if (mkdir(runtime->path, 0700) != 0 && errno != EEXIST)
		return -errno;
	runtime->directory = open(runtime->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (runtime->directory < 0)
		return -errno;

	int error = lock_pid_file(runtime);

	if (error) {
		/* A folder in which nothing can be written is not left behind; one that is in use
		 * has more in it. */
		if (error != -EEXIST && error != -EAGAIN) {
			unlinkat(runtime->directory, "pid", 0);
			rmdir(runtime->path);
		}
		close(runtime->directory);
		return error;
	}
	sweep_remains(runtime);
	return 0;
}

int runtime_claim(struct runtime *runtime, const char *fabric)
{
	enum { ATTEMPTS = 100 };
	int error = fabric_directory(fabric, runtime->path);

	if (error)
		return error;
	/* Another softibd may be removing the folder under our hands; then there is a new one to
	 * make. */
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		error = claim_once(runtime);
		if (error != -EAGAIN && error != -ENOENT)
			return error;
	}
	return error;
}

int runtime_listen(const struct runtime *runtime)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (listener < 0)
		return -errno;
	/* By way of the open folder, because a socket address holds 108 bytes and a path may be
	 * longer. */
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/control",
		 runtime->directory);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, LISTEN_BACKLOG) != 0) {
		int error = -errno;

		close(listener);
		return error;
	}
	return listener;
}

void runtime_remove(struct runtime *runtime)
{
	/* The socket first: nobody should find a fabric that is going. */
	unlinkat(runtime->directory, "control", 0);
	remove_folder(runtime->path);
	close(runtime->directory);
	close(runtime->pid_file);
}
