/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The preload library that maps paths: each libc function that takes a path calls libc's own with
 * the mapped path. It contains no RDMA code, starts no thread, and is as async-signal-safe as the
 * function that it wraps.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/pathshim/path_map.h"
#include "api/pathshim/refresh.h"

#define EXPORT __attribute__((visibility("default")))

/* libc's function, looked up at the first call: constructors of other libraries may call before
 * ours have run. */
#define NEXT(name)                                                                                 \
	({                                                                                         \
		static _Atomic(void *) found;                                                      \
		void *function = atomic_load_explicit(&found, memory_order_relaxed);               \
                                                                                                   \
		if (!function) {                                                                   \
			function = dlsym(RTLD_NEXT, #name);                                        \
			atomic_store_explicit(&found, function, memory_order_relaxed);             \
		}                                                                                  \
		(__typeof__(&name))function;                                                       \
	})

#define MAPPED(path)                                                                               \
	(path_is_mapped(path) ? path_map(path, secure_getenv("SOFTIB_TREE"), buffer) : (path))
#define OPENED(path)	    OPENED_AT(AT_FDCWD, path)
#define OPENED_AT(fd, path) map_to_open(fd, path, buffer)

/* One wrapper: return type, return value if libc has no such function, name, parameters,
 * arguments. */
#define WRAP(type, failure, name, parameters, arguments)                                           \
	EXPORT type name parameters                                                                \
	{                                                                                          \
		char buffer[MAPPED_PATH_BYTES];                                                    \
		__typeof__(&name) next = NEXT(name);                                               \
                                                                                                   \
		if (!next) {                                                                       \
			errno = ENOSYS;                                                            \
			return failure;                                                            \
		}                                                                                  \
		return next arguments;                                                             \
	}

/* A wrapper for open(), whose mode exists only if the flags ask for it. */
#define WRAP_OPEN(name, parameters, ...)                                                           \
	EXPORT int name parameters                                                                 \
	{                                                                                          \
		char buffer[MAPPED_PATH_BYTES];                                                    \
		__typeof__(&name) next = NEXT(name);                                               \
		mode_t mode = 0;                                                                   \
                                                                                                   \
		if (flags & (O_CREAT | __O_TMPFILE)) {                                             \
			va_list rest;                                                              \
                                                                                                   \
			va_start(rest, flags);                                                     \
			mode = va_arg(rest, mode_t);                                               \
			va_end(rest);                                                              \
		}                                                                                  \
		return next(__VA_ARGS__, mode);                                                    \
	}

/* Symbols that programs built before glibc 2.33, or fortified ones, call. Today's headers do not
 * declare them. */
EXPORT int __xstat(int version, const char *path, struct stat *status);
EXPORT int __xstat64(int version, const char *path, struct stat64 *status);
EXPORT int __lxstat(int version, const char *path, struct stat *status);
EXPORT int __lxstat64(int version, const char *path, struct stat64 *status);
EXPORT int __fxstatat(int version, int fd, const char *path, struct stat *status, int flags);
EXPORT int __fxstatat64(int version, int fd, const char *path, struct stat64 *status, int flags);
EXPORT int __open_2(const char *path, int flags);
EXPORT int __open64_2(const char *path, int flags);
EXPORT int __openat_2(int fd, const char *path, int flags);
EXPORT int __openat64_2(int fd, const char *path, int flags);
EXPORT char *__realpath_chk(const char *path, char *resolved, size_t resolved_bytes);
EXPORT ssize_t __readlink_chk(const char *path, char *text, size_t bytes, size_t text_bytes);
EXPORT ssize_t __readlinkat_chk(int fd, const char *path, char *text, size_t bytes,
				size_t text_bytes);

/* The folder that a relative path starts at: the working folder, or fd's path. 0: unknown. */
static size_t folder_of(int fd, char ret_folder[static MAPPED_PATH_BYTES])
{
	char link[FD_PATH_BYTES] = "/proc/self/cwd";
	__typeof__(&readlink) next = NEXT(readlink);
	int saved_errno = errno;

	if (fd != AT_FDCWD)
		path_of_fd(fd, link);

	ssize_t bytes = next ? next(link, ret_folder, MAPPED_PATH_BYTES) : -1;

	errno = saved_errno;
	return bytes > 0 && bytes < MAPPED_PATH_BYTES ? (size_t)bytes : 0;
}

/* Whether the path names a counter, also by a relative path inside the tree or by the mapped
 * path. */
static bool is_counter(int fd, const char *path, char whole[static MAPPED_PATH_BYTES])
{
	const char *tree = secure_getenv("SOFTIB_TREE");

	if (!path || !tree || !tree[0])
		return false;
	if (path[0] == '/')
		return path_is_counter(path, tree);

	size_t folder_bytes = folder_of(fd, whole);
	size_t path_bytes = strlen(path);

	if (!folder_bytes || folder_bytes + 1 + path_bytes >= MAPPED_PATH_BYTES)
		return false;
	whole[folder_bytes] = '/';
	memcpy(whole + folder_bytes + 1, path, path_bytes + 1);
	return path_is_counter(whole, tree);
}

static const char *map_to_open(int fd, const char *path, char buffer[static MAPPED_PATH_BYTES])
{
	const char *mapped = MAPPED(path);

	/* A relative path is never mapped, so the buffer is free. */
	if (is_counter(fd, mapped, buffer))
		refresh_counters(secure_getenv("SOFTIB_SOCKET"), secure_getenv("SOFTIB_HOST"));
	return mapped;
}

WRAP(int, -1, stat, (const char *path, struct stat *status), (MAPPED(path), status))
WRAP(int, -1, stat64, (const char *path, struct stat64 *status), (MAPPED(path), status))
WRAP(int, -1, lstat, (const char *path, struct stat *status), (MAPPED(path), status))
WRAP(int, -1, lstat64, (const char *path, struct stat64 *status), (MAPPED(path), status))
WRAP(int, -1, fstatat, (int fd, const char *path, struct stat *status, int flags),
     (fd, MAPPED(path), status, flags))
WRAP(int, -1, fstatat64, (int fd, const char *path, struct stat64 *status, int flags),
     (fd, MAPPED(path), status, flags))
WRAP(int, -1, statx, (int fd, const char *path, int flags, unsigned int mask, struct statx *status),
     (fd, MAPPED(path), flags, mask, status))
WRAP(int, -1, __xstat, (int version, const char *path, struct stat *status),
     (version, MAPPED(path), status))
WRAP(int, -1, __xstat64, (int version, const char *path, struct stat64 *status),
     (version, MAPPED(path), status))
WRAP(int, -1, __lxstat, (int version, const char *path, struct stat *status),
     (version, MAPPED(path), status))
WRAP(int, -1, __lxstat64, (int version, const char *path, struct stat64 *status),
     (version, MAPPED(path), status))
WRAP(int, -1, __fxstatat, (int version, int fd, const char *path, struct stat *status, int flags),
     (version, fd, MAPPED(path), status, flags))
WRAP(int, -1, __fxstatat64,
     (int version, int fd, const char *path, struct stat64 *status, int flags),
     (version, fd, MAPPED(path), status, flags))
WRAP(int, -1, access, (const char *path, int mode), (MAPPED(path), mode))
WRAP(int, -1, faccessat, (int fd, const char *path, int mode, int flags),
     (fd, MAPPED(path), mode, flags))

WRAP_OPEN(open, (const char *path, int flags, ...), OPENED(path), flags)
WRAP_OPEN(open64, (const char *path, int flags, ...), OPENED(path), flags)
WRAP_OPEN(openat, (int fd, const char *path, int flags, ...), fd, OPENED_AT(fd, path), flags)
WRAP_OPEN(openat64, (int fd, const char *path, int flags, ...), fd, OPENED_AT(fd, path), flags)
WRAP(int, -1, __open_2, (const char *path, int flags), (OPENED(path), flags))
WRAP(int, -1, __open64_2, (const char *path, int flags), (OPENED(path), flags))
WRAP(int, -1, __openat_2, (int fd, const char *path, int flags), (fd, OPENED_AT(fd, path), flags))
WRAP(int, -1, __openat64_2, (int fd, const char *path, int flags), (fd, OPENED_AT(fd, path), flags))
WRAP(FILE *, NULL, fopen, (const char *path, const char *mode), (OPENED(path), mode))
WRAP(FILE *, NULL, fopen64, (const char *path, const char *mode), (OPENED(path), mode))

WRAP(DIR *, NULL, opendir, (const char *path), (MAPPED(path)))
WRAP(int, -1, scandir,
     (const char *path, struct dirent ***ret_entries, int (*filter)(const struct dirent *),
      int (*compare)(const struct dirent **, const struct dirent **)),
     (MAPPED(path), ret_entries, filter, compare))
WRAP(int, -1, scandir64,
     (const char *path, struct dirent64 ***ret_entries, int (*filter)(const struct dirent64 *),
      int (*compare)(const struct dirent64 **, const struct dirent64 **)),
     (MAPPED(path), ret_entries, filter, compare))
WRAP(int, GLOB_ABORTED, glob,
     (const char *pattern, int flags, int (*on_error)(const char *, int), glob_t *ret_paths),
     (MAPPED(pattern), flags, on_error, ret_paths))
WRAP(int, GLOB_ABORTED, glob64,
     (const char *pattern, int flags, int (*on_error)(const char *, int), glob64_t *ret_paths),
     (MAPPED(pattern), flags, on_error, ret_paths))
WRAP(int, -1, chdir, (const char *path), (MAPPED(path)))

WRAP(ssize_t, -1, readlink, (const char *path, char *text, size_t bytes),
     (MAPPED(path), text, bytes))
WRAP(ssize_t, -1, readlinkat, (int fd, const char *path, char *text, size_t bytes),
     (fd, MAPPED(path), text, bytes))
WRAP(ssize_t, -1, __readlink_chk, (const char *path, char *text, size_t bytes, size_t text_bytes),
     (MAPPED(path), text, bytes, text_bytes))
WRAP(ssize_t, -1, __readlinkat_chk,
     (int fd, const char *path, char *text, size_t bytes, size_t text_bytes),
     (fd, MAPPED(path), text, bytes, text_bytes))
WRAP(char *, NULL, realpath, (const char *path, char *resolved), (MAPPED(path), resolved))
WRAP(char *, NULL, __realpath_chk, (const char *path, char *resolved, size_t resolved_bytes),
     (MAPPED(path), resolved, resolved_bytes))
WRAP(char *, NULL, canonicalize_file_name, (const char *path), (MAPPED(path)))
WRAP(int, -1, unlink, (const char *path), (MAPPED(path)))
WRAP(int, -1, mkdir, (const char *path, mode_t mode), (MAPPED(path), mode))
WRAP(int, -1, symlink, (const char *target, const char *path), (target, MAPPED(path)))

enum local_mapping {
	LOCAL_UNMAPPED,
	LOCAL_MAPPED,
	LOCAL_TOO_LONG, /* the mapped path does not fit into an address */
};

/* The address of a local socket with its path mapped; the length changes with it. */
static enum local_mapping map_local(const struct sockaddr *address, socklen_t *length,
				    struct sockaddr_un *ret_address)
{
	char buffer[MAPPED_PATH_BYTES];
	socklen_t path_offset = offsetof(struct sockaddr_un, sun_path);

	if (!address || *length <= path_offset || *length > sizeof(*ret_address) ||
	    address->sa_family != AF_UNIX)
		return LOCAL_UNMAPPED;
	memset(ret_address, 0, sizeof(*ret_address));
	memcpy(ret_address, address, *length);
	/* The kernel takes a path that fills the address without a null byte. */
	if (!memchr(ret_address->sun_path, '\0', sizeof(ret_address->sun_path)))
		return LOCAL_UNMAPPED;

	const char *mapped = MAPPED(ret_address->sun_path);

	if (mapped != buffer)
		return LOCAL_UNMAPPED;
	if (strlen(mapped) >= sizeof(ret_address->sun_path))
		return LOCAL_TOO_LONG;
	memcpy(ret_address->sun_path, mapped, strlen(mapped) + 1);
	*length = path_offset + (socklen_t)strlen(mapped) + 1;
	return LOCAL_MAPPED;
}

/* bind and connect, whose address may be a mapped path. */
#define WRAP_LOCAL(name)                                                                           \
	EXPORT int name(int fd, __CONST_SOCKADDR_ARG address, socklen_t length)                    \
	{                                                                                          \
		__typeof__(&name) next = NEXT(name);                                               \
		struct sockaddr_un local;                                                          \
		enum local_mapping mapping = map_local(address.__sockaddr__, &length, &local);     \
                                                                                                   \
		if (!next || mapping == LOCAL_TOO_LONG) {                                          \
			errno = next ? ENAMETOOLONG : ENOSYS;                                      \
			return -1;                                                                 \
		}                                                                                  \
		return mapping == LOCAL_MAPPED ? next(fd, (struct sockaddr *)&local, length)       \
					       : next(fd, address, length);                        \
	}

WRAP_LOCAL(bind)
WRAP_LOCAL(connect)
