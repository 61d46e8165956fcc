/* SPDX-License-Identifier: Apache-2.0 */
/* Assignment of LIDs: a port keeps its LID within a run, under another manager, and across runs if
 * the manager saved the LIDs as text (management 3.3). */
#include "mgmt/subnet/subnet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum choice { CHOOSE_REMEMBERED, CHOOSE_PRESENT, CHOOSE_LOWEST, CHOICE_COUNT };

enum { LINE_BYTES_MAX = 48, LMC_MAX = 7 };

static uint16_t remembered_lid(const struct subnet *subnet, uint64_t port_guid)
{
	return (uint16_t)(uintptr_t)hash_table_get(&subnet->lid_by_port_guid, port_guid);
}

static bool is_unused(const struct subnet *subnet, unsigned lid, uint8_t lmc)
{
	for (unsigned i = 0; i < 1u << lmc; i++) {
		if (lid + i > LID_UNICAST_LAST || subnet->by_lid[lid + i])
			return false;
	}
	return true;
}

/* Not saved for any other port. */
static bool is_forgotten(const struct subnet *subnet, unsigned lid, uint8_t lmc, uint64_t port_guid)
{
	for (unsigned i = 0; i < 1u << lmc; i++) {
		if (lid + i > LID_UNICAST_LAST ||
		    (subnet->lid_owner[lid + i] && subnet->lid_owner[lid + i] != port_guid))
			return false;
	}
	return true;
}

/* Aligned to the LMC and inside the unicast range (management 3.3). */
static bool fits(unsigned lid, uint8_t lmc)
{
	return lid >= LID_UNICAST_FIRST && (lid & ((1u << lmc) - 1)) == 0 &&
	       lid + (1u << lmc) - 1 <= LID_UNICAST_LAST;
}

static uint16_t lowest_free(const struct subnet *subnet, uint8_t lmc, uint16_t *start)
{
	unsigned step = 1u << lmc;

	for (unsigned lid = (*start + step - 1) & ~(step - 1); fits(lid, lmc); lid += step) {
		/* A port that is absent keeps its LID. */
		if (is_unused(subnet, lid, lmc) && is_forgotten(subnet, lid, lmc, 0)) {
			*start = (uint16_t)(lid + step);
			return (uint16_t)lid;
		}
	}
	*start = LID_UNICAST_LAST + 1;
	return 0;
}

static void forget(struct subnet *subnet, uint64_t port_guid)
{
	unsigned lid = remembered_lid(subnet, port_guid);

	for (unsigned i = lid; i && i <= LID_UNICAST_LAST && subnet->lid_owner[i] == port_guid; i++)
		subnet->lid_owner[i] = 0;
	hash_table_remove(&subnet->lid_by_port_guid, port_guid);
}

/* The former owner of the LID loses it. Without memory the next run assigns a LID anew; in this run
 * the port keeps its present one. */
static void remember(struct subnet *subnet, uint64_t port_guid, uint16_t lid, uint8_t lmc)
{
	uintptr_t value = lid;

	if (remembered_lid(subnet, port_guid) != lid) {
		forget(subnet, port_guid);
		if (hash_table_put(&subnet->lid_by_port_guid, port_guid, (void *)value) != 0)
			return;
	}
	for (unsigned i = lid; i < lid + (1u << lmc); i++) {
		if (subnet->lid_owner[i] && subnet->lid_owner[i] != port_guid)
			forget(subnet, subnet->lid_owner[i]);
		subnet->lid_owner[i] = port_guid;
	}
}

static void give(struct subnet *subnet, struct subnet_port *port, uint16_t lid, uint8_t lmc)
{
	unsigned last = lid + (1u << lmc) - 1;

	if (port->lid_before != lid || port->lmc != lmc) {
		subnet->lids_changed = true;
		port->node->is_settled = false;
	}
	port->lid = lid;
	port->lmc = lmc;
	for (unsigned i = lid; i <= last; i++)
		subnet->by_lid[i] = port;
	if (last > subnet->lid_max)
		subnet->lid_max = (uint16_t)last;
	/* If another port already has this GUID, this port is found by its LID only. */
	if (hash_table_put(&subnet->by_port_guid, port->guid, port) == 0)
		remember(subnet, port->guid, lid, lmc);
}

static uint16_t choose(const struct subnet *subnet, const struct subnet_port *port, uint8_t lmc,
		       enum choice choice, uint16_t *lowest)
{
	uint16_t lid = 0;

	switch (choice) {
	case CHOOSE_REMEMBERED:
		lid = remembered_lid(subnet, port->guid);
		break;
	case CHOOSE_PRESENT:
		lid = port->info.lid;
		if (!subnet->prefers_present_lids && !is_forgotten(subnet, lid, lmc, port->guid))
			lid = 0;
		break;
	case CHOOSE_LOWEST:
		return lowest_free(subnet, lmc, lowest);
	case CHOICE_COUNT:
		break;
	}
	return fits(lid, lmc) && is_unused(subnet, lid, lmc) ? lid : 0;
}

/* Base switch port 0 has one LID, and enhanced port 0 gets one LID too. */
static uint8_t wanted_lmc(const struct subnet *subnet, const struct subnet_port *port)
{
	return subnet_node_is_switch(port->node) ? 0 : subnet->lmc;
}

uint32_t subnet_assign_lids(struct subnet *subnet)
{
	uint32_t without_count = 0;
	uint16_t lowest = LID_UNICAST_FIRST;

	static const enum choice orders[][CHOICE_COUNT] = {
		{CHOOSE_REMEMBERED, CHOOSE_PRESENT, CHOOSE_LOWEST},
		{CHOOSE_PRESENT, CHOOSE_REMEMBERED, CHOOSE_LOWEST},
	};

	subnet->lids_changed = false;
	memset(subnet->by_lid, 0, sizeof(subnet->by_lid));
	hash_table_release(&subnet->by_port_guid);
	for (unsigned turn = 0; turn < CHOICE_COUNT; turn++) {
		enum choice choice = orders[subnet->prefers_present_lids][turn];

		list_for_each (link, &subnet->nodes) {
			struct subnet_node *node = container_of(link, struct subnet_node, link);
			/* Only port 0 of a switch has a LID. */
			unsigned last = subnet_node_is_switch(node) ? 0 : node->port_count;

			for (unsigned i = 0; i <= last; i++) {
				struct subnet_port *port = &node->ports[i];
				uint8_t lmc = wanted_lmc(subnet, port);

				if (turn == 0) {
					port->lid_before = port->lid;
					port->lid = 0;
				}
				if (!subnet_port_is_end_port(port) || port->lid)
					continue;

				uint16_t lid = choose(subnet, port, lmc, choice, &lowest);

				if (lid)
					give(subnet, port, lid, lmc);
				else if (choice == CHOOSE_LOWEST)
					without_count++;
			}
		}
	}
	return without_count;
}

static int compare_by_lid(const void *a, const void *b)
{
	const struct hash_entry *left = a;
	const struct hash_entry *right = b;

	return ((uintptr_t)left->value > (uintptr_t)right->value) -
	       ((uintptr_t)left->value < (uintptr_t)right->value);
}

char *subnet_lids_text(const struct subnet *subnet)
{
	const struct hash_table *table = &subnet->lid_by_port_guid;
	struct hash_entry *entries = calloc(table->count + 1u, sizeof(*entries));
	char *text = malloc((table->count + 1u) * (size_t)LINE_BYTES_MAX);
	size_t length = 0;
	uint32_t count = 0;

	if (!entries || !text) {
		free(entries);
		free(text);
		return NULL;
	}
	for (uint32_t i = 0; i < table->capacity; i++) {
		if (table->entries[i].value)
			entries[count++] = table->entries[i];
	}
	qsort(entries, count, sizeof(*entries), compare_by_lid);
	text[0] = '\0';
	for (uint32_t i = 0; i < count; i++) {
		unsigned lid = (unsigned)(uintptr_t)entries[i].value;
		const struct subnet_port *port = subnet->by_lid[lid];
		unsigned lmc = port && port->guid == entries[i].key ? port->lmc : 0;

		length += (size_t)snprintf(
			text + length, LINE_BYTES_MAX, "0x%016llx 0x%04x 0x%04x\n",
			(unsigned long long)entries[i].key, lid, lid + (1u << lmc) - 1);
	}
	free(entries);
	return text;
}

static bool remember_line(struct subnet *subnet, const char *line)
{
	char *end;
	uint64_t guid = strtoull(line, &end, 16);
	unsigned long low = strtoul(end, &end, 16);
	unsigned long high = strtoul(end, &end, 16);
	uint8_t lmc = 0;

	while (lmc < LMC_MAX && low + (1ul << lmc) - 1 < high)
		lmc++;
	if (*end || !guid || high < low || low > LID_UNICAST_LAST || high > LID_UNICAST_LAST ||
	    low + (1ul << lmc) - 1 != high || !fits((unsigned)low, lmc))
		return false;
	if (remembered_lid(subnet, guid) || !is_forgotten(subnet, (unsigned)low, lmc, guid))
		return false;
	remember(subnet, guid, (uint16_t)low, lmc);
	return true;
}

uint32_t subnet_lids_remember(struct subnet *subnet, const char *text, size_t text_bytes)
{
	const char *end = text + text_bytes;
	uint32_t ignored_count = 0;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);
		char line[LINE_BYTES_MAX + 1];

		if (length && text[length - 1] == '\r')
			length--;
		if (length && text[0] != '#') {
			snprintf(line, sizeof(line), "%.*s", (int)(length < 1000 ? length : 1000),
				 text);
			ignored_count += length > LINE_BYTES_MAX || !remember_line(subnet, line);
		}
		text = newline ? newline + 1 : end;
	}
	return ignored_count;
}
