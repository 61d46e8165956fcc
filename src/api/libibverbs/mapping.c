/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a range is mapped with the rights that a registration needs. */
#include "api/libibverbs/mapping.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* Linux 5.14; glibc 2.35. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

/* Looks the page up in /proc/self/maps. This is slow, so it is used only if probe_page() finds no
 * answer. */
static int look_up_page(uintptr_t page, enum mapping_use use)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[256];
	int error = -EFAULT;

	/* If /proc is not mounted, the page counts as accessible. */
	if (!maps)
		return 0;
	while (fgets(line, sizeof(line), maps)) {
		uintptr_t start, end;
		char rights[5];

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &start, &end, rights) != 3 ||
		    page < start || page >= end)
			continue;
		if (rights[0] == 'r' && (use != MAPPING_WRITTEN || rights[1] == 'w'))
			error = 0;
		break;
	}
	fclose(maps);
	return error;
}

/* Faults the page in, as pinning it would. */
static int probe_page(uintptr_t page, size_t page_bytes, enum mapping_use use)
{
	int advice = use == MAPPING_WRITTEN ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;

	if (madvise((void *)page, page_bytes, advice) == 0)
		return 0;
	if (errno == EFAULT || errno == ENOMEM)
		return -EFAULT;
	/* Missing rights, an old kernel and device memory give the same errno. */
	return look_up_page(page, use);
}

int mapping_check(const void *bytes, size_t byte_count, enum mapping_use use)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = (uintptr_t)bytes & ~(uintptr_t)(page_bytes - 1);
	uintptr_t end;

	if (byte_count == 0)
		return 0;
	if (!bytes || __builtin_add_overflow((uintptr_t)bytes, byte_count, &end))
		return -EFAULT;
	/* msync with MS_ASYNC only walks the mappings; ENOMEM means a hole. */
	if (msync((void *)first, end - first, MS_ASYNC) < 0 && errno == ENOMEM)
		return -EFAULT;
	if (use == MAPPING_EXISTS)
		return 0;

	uintptr_t last = (end - 1) & ~(uintptr_t)(page_bytes - 1);
	int error = probe_page(first, page_bytes, use);

	if (!error && last != first)
		error = probe_page(last, page_bytes, use);
	return error;
}
