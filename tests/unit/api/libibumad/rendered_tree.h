/* SPDX-License-Identifier: Apache-2.0 */
/* A tree as softib renders it for a host, in a folder of the test's own that SOFTIB_TREE names. */
#ifndef SOFTIB_TESTS_UNIT_API_LIBIBUMAD_RENDERED_TREE_H
#define SOFTIB_TESTS_UNIT_API_LIBIBUMAD_RENDERED_TREE_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char tree_folder[64];

static inline void tree_make(void)
{
	snprintf(tree_folder, sizeof(tree_folder), "/tmp/softib-tree-test-XXXXXX");
	assert_non_null(mkdtemp(tree_folder));
	setenv("SOFTIB_TREE", tree_folder, 1);
}

static inline int tree_remove_entry(const char *path, const struct stat *status, int type,
				    struct FTW *position)
{
	(void)status;
	(void)type;
	(void)position;
	return remove(path);
}

static inline void tree_remove(void)
{
	nftw(tree_folder, tree_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* <tree>/sys/class/<path> with the folders above it. */
static inline void tree_write(const char *path, const char *text)
{
	char full[512];
	FILE *file;

	snprintf(full, sizeof(full), "%s/sys/class/%s", tree_folder, path);
	for (char *slash = strchr(full + strlen(tree_folder) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", text);
	fclose(file);
}

static inline void tree_write_ca(const char *name, const char *node_guid)
{
	char path[128];
	const char *const files[][2] = {
		{"node_type", "1: CA"}, {"fw_ver", "0.1.0"},	  {"hca_type", "softib"},
		{"hw_rev", "0x1"},	{"node_guid", node_guid}, {"sys_image_guid", node_guid},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "infiniband/%s/%s", name, files[i][0]);
		tree_write(path, files[i][1]);
	}
}

static inline void tree_write_port(const char *name, int number, const char *state,
				   const char *physical_state)
{
	char path[128];
	char gid[64];
	const char *const files[][2] = {
		{"state", state},
		{"phys_state", physical_state},
		{"lid", "0x12"},
		{"lid_mask_count", "2"},
		{"sm_lid", "0x1"},
		{"sm_sl", "3"},
		{"rate", "100 Gb/sec (4X EDR)"},
		{"cap_mask", "0x2673ca7c"},
		{"gids/0", gid},
		{"pkeys/0", "0xffff"},
		{"pkeys/1", "0x8001"},
		{"link_layer", "InfiniBand"},
	};

	snprintf(gid, sizeof(gid), "fe80:0000:0000:0000:025f:1b01:0001:%04x", 0x100 + number);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "infiniband/%s/ports/%d/%s", name, number,
			 files[i][0]);
		tree_write(path, files[i][1]);
	}
}

#endif
