/* SPDX-License-Identifier: Apache-2.0 */
/* A fabric's folder in the runtime directory: created at the start, cleared of the remains of a
 * softibd that died, removed at the end. */
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
	/* An entry that can't be removed stays; the others are removed. */
	remove(path);
	return 0;
}

void remove_folder(const char *path)
{
	nftw(path, remove_entry, FOLDER_DESCRIPTORS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* The end of the name of a socket on which nobody listens yet. */
#define NEW_SOCKET ".new"

static int lock_pid_file(struct runtime_folder *folder)
{
	char text[24];
	int file =
		openat(folder->directory, "pid", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (file < 0)
		return -errno;
	if (flock(file, LOCK_EX | LOCK_NB) != 0) {
		close(file);
		return -EEXIST;
	}

	/* The softibd that held the lock may have removed the file while we waited to open it. */
	struct stat ours, there;

	if (fstat(file, &ours) != 0 || fstatat(folder->directory, "pid", &there, 0) != 0 ||
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
	folder->pid_file = file;
	return 0;
}

static void sweep_remains(const struct runtime_folder *folder)
{
	char path[CONTROL_PATH_BYTES + 16];

	unlinkat(folder->directory, CONTROL_SOCKET, 0);
	unlinkat(folder->directory, OPERATOR_SOCKET, 0);
	unlinkat(folder->directory, CONTROL_SOCKET NEW_SOCKET, 0);
	unlinkat(folder->directory, OPERATOR_SOCKET NEW_SOCKET, 0);
	snprintf(path, sizeof(path), "%s/hosts", folder->path);
	remove_folder(path);
}

static int claim_once(struct runtime_folder *folder)
{
	if (mkdir(folder->path, 0700) != 0 && errno != EEXIST)
		return -errno;
	folder->directory = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (folder->directory < 0)
		return -errno;

	int error = lock_pid_file(folder);

	if (error) {
		/* Removes a folder in which nothing can be written; rmdir fails for one that is in
		 * use, which has more in it. */
		if (error != -EEXIST && error != -EAGAIN) {
			unlinkat(folder->directory, "pid", 0);
			rmdir(folder->path);
		}
		close(folder->directory);
		return error;
	}
	sweep_remains(folder);
	return 0;
}

int runtime_folder_claim(struct runtime_folder *folder, const char *fabric)
{
	enum { ATTEMPTS = 100 };
	int error = fabric_directory(fabric, folder->path);

	if (error)
		return error;
	/* Another softibd may be removing the folder at this moment; then the next attempt creates
	 * it again. */
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		error = claim_once(folder);
		if (error != -EAGAIN && error != -ENOENT)
			return error;
	}
	return error;
}

/* A socket of this name that nobody listens on yet. */
static int make_listener(const struct runtime_folder *folder, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (listener < 0)
		return -errno;
	/* Through the open folder, because a socket address holds 108 bytes and a path may be
	 * longer. */
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s",
		 folder->directory, name);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0) {
		int error = -errno;

		close(listener);
		return error;
	}
	return listener;
}

int runtime_folder_listen(const struct runtime_folder *folder, const char *name)
{
	char new_name[32];

	snprintf(new_name, sizeof(new_name), "%s" NEW_SOCKET, name);

	int listener = make_listener(folder, new_name);

	if (listener < 0)
		return listener;
	/* The socket gets its name last: a client that finds a socket which refuses connections
	 * takes the fabric for dead. */
	if (listen(listener, LISTEN_BACKLOG) != 0 ||
	    renameat(folder->directory, new_name, folder->directory, name) != 0) {
		int error = -errno;

		unlinkat(folder->directory, new_name, 0);
		close(listener);
		return error;
	}
	return listener;
}

void runtime_folder_remove(struct runtime_folder *folder)
{
	/* The sockets first, so that no program finds a fabric that is ending. */
	unlinkat(folder->directory, CONTROL_SOCKET, 0);
	unlinkat(folder->directory, OPERATOR_SOCKET, 0);
	remove_folder(folder->path);
	close(folder->directory);
	close(folder->pid_file);
}
