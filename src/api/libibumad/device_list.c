/* SPDX-License-Identifier: Apache-2.0 */
/* The list of adapters of the host (abi 8.2). */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

#include "api/libibumad/umad_sysfs.h"

/* CA, switch and router; the other node types of sysfs are not InfiniBand. */
enum { NODE_TYPE_LAST = 3 };

static int is_adapter(const struct dirent *entry)
{
	char text[UMAD_SYSFS_TEXT_BYTES];
	uint64_t node_type;

	if (entry->d_name[0] == '.' || strlen(entry->d_name) >= UMAD_CA_NAME_LEN)
		return 0;
	if (umad_sysfs_read_text(text, "infiniband/%s/node_type", entry->d_name))
		return 0;
	node_type = umad_sysfs_number(text);
	return node_type >= 1 && node_type <= NODE_TYPE_LAST;
}

/* Adapter names sorted by number; *ret_entries as from scandir(). Without a sysfs tree there are no
 * adapters. */
static int list_adapters(struct dirent ***ret_entries)
{
	char path[PATH_MAX];
	int count;

	if (snprintf(path, sizeof(path), "%s/sys/class/infiniband", umad_sysfs_root()) >=
	    (int)sizeof(path))
		return 0;
	count = scandir(path, ret_entries, is_adapter, versionsort);
	return count < 0 ? 0 : count;
}

static void free_entries(struct dirent **entries, int count)
{
	for (int i = 0; i < count; i++)
		free(entries[i]);
	if (count > 0)
		free(entries);
}

int umad_get_cas_names(char cas[][UMAD_CA_NAME_LEN], int max)
{
	struct dirent **entries = NULL;
	int found = list_adapters(&entries);
	int count = found < max ? found : max;

	for (int i = 0; i < count; i++)
		memcpy(cas[i], entries[i]->d_name, strlen(entries[i]->d_name) + 1);
	free_entries(entries, found);
	return count;
}

static struct umad_device_node *make_node(const char *name)
{
	struct umad_device_node *node = malloc(sizeof(*node));
	char *copy = strdup(name);

	if (!node || !copy) {
		free(node);
		free(copy);
		return NULL;
	}
	*node = (struct umad_device_node){.ca_name = copy};
	return node;
}

struct umad_device_node *umad_get_ca_device_list(void)
{
	struct umad_device_node *head = NULL;
	struct umad_device_node **tail = &head;
	struct dirent **entries = NULL;
	int count = list_adapters(&entries);

	errno = 0;
	for (int i = 0; i < count; i++) {
		*tail = make_node(entries[i]->d_name);
		if (!*tail) {
			umad_free_ca_device_list(head);
			head = NULL;
			errno = ENOMEM;
			break;
		}
		tail = &(*tail)->next;
	}
	free_entries(entries, count);
	return head;
}

void umad_free_ca_device_list(struct umad_device_node *head)
{
	while (head) {
		struct umad_device_node *next = head->next;

		free((char *)head->ca_name);
		free(head);
		head = next;
	}
}

static int compare_nodes(const void *a, const void *b)
{
	const struct umad_device_node *const *left = a;
	const struct umad_device_node *const *right = b;

	return strverscmp((*left)->ca_name, (*right)->ca_name);
}

static size_t count_nodes(const struct umad_device_node *node)
{
	size_t count = 0;

	for (; node; node = node->next)
		count++;
	return count;
}

/* size: how many nodes the program counted; 0: all. */
int umad_sort_ca_device_list(struct umad_device_node **head, size_t size)
{
	struct umad_device_node **nodes;
	struct umad_device_node *node = *head;
	size_t count = count_nodes(node);

	if (size && size != count) {
		errno = EINVAL;
		return -EINVAL;
	}
	if (count < 2)
		return 0;
	nodes = calloc(count, sizeof(nodes[0]));
	if (!nodes) {
		errno = ENOMEM;
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++, node = node->next)
		nodes[i] = node;
	qsort(nodes, count, sizeof(nodes[0]), compare_nodes);
	for (size_t i = 0; i < count; i++)
		nodes[i]->next = i + 1 < count ? nodes[i + 1] : NULL;
	*head = nodes[0];
	free(nodes);
	return 0;
}
