/* SPDX-License-Identifier: Apache-2.0 */
/* The neighbor of each port. */
#include "mgmt/subnet/neighbors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES_MAX = 64 };

struct neighbor {
	struct neighbor_end near, far;
};

void neighbors_init(struct neighbors *neighbors)
{
	*neighbors = (struct neighbors){0};
	hash_table_init(&neighbors->by_end);
}

void neighbors_release(struct neighbors *neighbors)
{
	for (uint32_t i = 0; i < neighbors->by_end.capacity; i++)
		free(neighbors->by_end.entries[i].value);
	hash_table_release(&neighbors->by_end);
}

/* Two ends whose GUIDs differ only in this byte have the same key. Then the later one is stored. */
static uint64_t key_of(const struct neighbor_end *end)
{
	return end->port_guid ^ (uint64_t)end->port_number << 56;
}

static bool ends_are_equal(const struct neighbor_end *a, const struct neighbor_end *b)
{
	return a->port_guid == b->port_guid && a->port_number == b->port_number;
}

static void remember_one_way(struct neighbors *neighbors, const struct neighbor_end *near,
			     const struct neighbor_end *far)
{
	struct neighbor *neighbor = hash_table_get(&neighbors->by_end, key_of(near));

	if (neighbor && ends_are_equal(&neighbor->near, near) &&
	    ends_are_equal(&neighbor->far, far))
		return;
	if (!neighbor) {
		neighbor = malloc(sizeof(*neighbor));
		if (!neighbor)
			return;
		if (hash_table_put(&neighbors->by_end, key_of(near), neighbor) != 0) {
			free(neighbor);
			return;
		}
	}
	*neighbor = (struct neighbor){.near = *near, .far = *far};
	neighbors->is_changed = true;
}

void neighbors_remember(struct neighbors *neighbors, const struct neighbor_end *a,
			const struct neighbor_end *b)
{
	remember_one_way(neighbors, a, b);
	remember_one_way(neighbors, b, a);
}

uint64_t neighbors_find(const struct neighbors *neighbors, const struct neighbor_end *end)
{
	const struct neighbor *neighbor = hash_table_get(&neighbors->by_end, key_of(end));

	return neighbor && ends_are_equal(&neighbor->near, end) ? neighbor->far.port_guid : 0;
}

char *neighbors_text(const struct neighbors *neighbors)
{
	const struct hash_table *table = &neighbors->by_end;
	char *text = malloc((table->count + 1u) * (size_t)LINE_BYTES_MAX);
	size_t length = 0;

	if (!text)
		return NULL;
	text[0] = '\0';
	for (uint32_t i = 0; i < table->capacity; i++) {
		const struct neighbor *neighbor = table->entries[i].value;

		if (!neighbor)
			continue;
		length += (size_t)snprintf(
			text + length, LINE_BYTES_MAX, "0x%016llx:%u 0x%016llx:%u\n",
			(unsigned long long)neighbor->near.port_guid, neighbor->near.port_number,
			(unsigned long long)neighbor->far.port_guid, neighbor->far.port_number);
	}
	return text;
}

/* Advances the text past the end of a link. */
static bool read_end(const char **text, struct neighbor_end *ret_end)
{
	char *rest;
	uint64_t guid = strtoull(*text, &rest, 16);
	unsigned long number;

	if (rest == *text || *rest != ':' || !guid)
		return false;
	*text = rest + 1;
	number = strtoul(*text, &rest, 10);
	if (rest == *text || number > UINT8_MAX)
		return false;
	*text = rest;
	*ret_end = (struct neighbor_end){.port_guid = guid, .port_number = (uint8_t)number};
	return true;
}

uint32_t neighbors_read(struct neighbors *neighbors, const char *text)
{
	uint32_t ignored_count = 0;

	while (*text) {
		struct neighbor_end near, far;
		const char *rest = text;
		size_t length = strcspn(text, "\n");
		bool is_blank = strspn(text, " \t\r") == length || *text == '#';

		if (!is_blank) {
			if (read_end(&rest, &near) && *rest == ' ' && read_end(&rest, &far) &&
			    rest <= text + length)
				remember_one_way(neighbors, &near, &far);
			else
				ignored_count++;
		}
		text += length + (text[length] == '\n');
	}
	return ignored_count;
}
