/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the counters in sysfs up to date. */
#include "daemon/sysfs/counter_files.h"

#include "daemon/core/daemon_core.h"
#include "daemon/core/flow_table.h"
#include "daemon/sysfs/sysfs_tree.h"

/* Every host's turn comes once in this time, if there are few enough. */
#define ROUND SECONDS(1)

/* Programs move packets past the fabric, so every program that is there may have moved some. */
static bool may_have_changed(const struct counter_files *files, const struct daemon_core *core)
{
	return core->clients.client_count != 0 || core->fabric.work.tail != files->work_seen;
}

time_ns counter_files_deadline(const struct counter_files *files, const struct daemon_core *core,
			       const struct sysfs_tree *tree)
{
	if (tree->rendered_count == 0 || (files->hosts_left == 0 && !may_have_changed(files, core)))
		return TIME_NEVER;

	time_ns period = ROUND / tree->rendered_count;

	return files->written_at + (period > COUNTER_FILES_PERIOD ? period : COUNTER_FILES_PERIOD);
}

static const struct host *host_at(const struct host_table *table, uint32_t index)
{
	return index < table->host_count ? table->hosts[index]
					 : table->devices[index - table->host_count];
}

/* There is at least one. */
static const struct host *next_rendered(struct counter_files *files, const struct host_table *table)
{
	uint32_t count = table->host_count + table->device_count;
	const struct host *host = NULL;

	for (uint32_t tried = 0; tried < count && (!host || !host->sysfs_is_rendered); tried++)
		host = host_at(table, files->next_host++ % count);
	return host;
}

void counter_files_run(struct counter_files *files, struct daemon_core *core,
		       struct sysfs_tree *tree)
{
	if (core->loop.now < counter_files_deadline(files, core, tree))
		return;
	if (may_have_changed(files, core))
		files->hosts_left = tree->rendered_count;
	files->work_seen = core->fabric.work.tail;
	files->written_at = core->loop.now;
	files->hosts_left--;
	flows_fold_all(core);
	sysfs_tree_update_counters(tree, next_rendered(files, &core->hosts));
}
