/* SPDX-License-Identifier: Apache-2.0 */
/* Memory files: sealed memfds. */
#include "ipc/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010 /* Linux 5.1 */
#endif

/* Without F_SEAL_GROW a peer could fill the machine's memory in our name. Without F_SEAL_SEAL the
 * first of two peers could forbid the other to map the file. */
enum { SIZE_SEALS = F_SEAL_SHRINK | F_SEAL_GROW, LAST_SEALS = SIZE_SEALS | F_SEAL_SEAL };

static int map_shared(int file, size_t byte_count, int protection, void **ret_memory)
{
	void *memory = mmap(NULL, byte_count, protection, MAP_SHARED, file, 0);

	if (memory == MAP_FAILED)
		return -errno;
	*ret_memory = memory;
	return 0;
}

/* Our own mapping is made before the last seals are set, and stays writable. */
static int create(const char *name, size_t byte_count, int seals, int *ret_file, void **ret_memory)
{
	int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (file < 0)
		return -errno;

	int error = 0;

	if (ftruncate(file, (off_t)byte_count) != 0)
		error = -errno;
	if (!error)
		error = map_shared(file, byte_count, PROT_READ | PROT_WRITE, ret_memory);
	if (!error && fcntl(file, F_ADD_SEALS, seals) != 0) {
		error = -errno;
		munmap(*ret_memory, byte_count);
	}
	if (error) {
		close(file);
		return error;
	}
	*ret_file = file;
	return 0;
}

int memory_file_create(const char *name, size_t byte_count, int *ret_file, void **ret_memory)
{
	return create(name, byte_count, LAST_SEALS, ret_file, ret_memory);
}

int memory_file_create_published(const char *name, size_t byte_count, int *ret_file,
				 void **ret_memory)
{
	return create(name, byte_count, LAST_SEALS | F_SEAL_FUTURE_WRITE, ret_file, ret_memory);
}

static int check(int file, size_t byte_count)
{
	struct stat status;
	int seals = fcntl(file, F_GET_SEALS);

	if (seals < 0 || (seals & SIZE_SEALS) != SIZE_SEALS)
		return -EPROTO;
	if (fstat(file, &status) != 0 || status.st_size != (off_t)byte_count)
		return -EPROTO;
	return 0;
}

int memory_file_resize(int file, size_t byte_count)
{
	const struct timespec at_once = {0};
	sigset_t signal, before;
	int error = 0;

	sigemptyset(&signal);
	sigaddset(&signal, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &signal, &before);
	if (ftruncate(file, (off_t)byte_count) < 0) {
		error = -errno;
		sigtimedwait(&signal, NULL, &at_once);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

int memory_file_map(int file, size_t byte_count, void **ret_memory)
{
	int error = check(file, byte_count);

	return error ? error : map_shared(file, byte_count, PROT_READ | PROT_WRITE, ret_memory);
}

int memory_file_map_readonly(int file, size_t byte_count, const void **ret_memory)
{
	void *memory = NULL;
	int error = check(file, byte_count);

	if (!error)
		error = map_shared(file, byte_count, PROT_READ, &memory);
	if (!error)
		*ret_memory = memory;
	return error;
}

bool memory_file_next_data(int file, off_t *begin, off_t end, off_t *ret_end)
{
	off_t first = lseek(file, *begin, SEEK_DATA);

	if (first < 0 && errno != ENXIO)
		first = *begin; /* the file system does not tell: all of it may be data */
	if (first < 0 || first >= end)
		return false;

	off_t hole = lseek(file, first, SEEK_HOLE);

	*begin = first;
	*ret_end = hole < 0 || hole > end ? end : hole;
	return true;
}
