/* SPDX-License-Identifier: Apache-2.0 */
/* Alternate paths that softibd's connection manager loads into queue pairs of this process. */
#include "runtime/alternate_paths.h"

#include <string.h>
#include "base/index_table.h"
#include "runtime/runtime_state.h"
#include "runtime/xrc/leased_targets.h"

static bool load(struct qp_object *object, time_ns now, const struct alternate_path *path)
{
	const struct qp_attributes attributes = {
		.alternate_address = path->address,
		.alternate_pkey_index = path->pkey_index,
		.alternate_timeout = path->timeout,
		.path_migration = PATH_REARM,
	};

	return qp_object_modify(object, now, &attributes,
				QP_HAS_ALTERNATE_PATH | QP_HAS_PATH_MIGRATION) == 0;
}

void alternate_path_receive(struct process_runtime *runtime, time_ns now,
			    const struct ring_record *record)
{
	struct adapter *adapter = runtime_adapter(runtime, record->port >> 8);
	struct alternate_path path;

	if (!adapter || record->byte_count != sizeof(path))
		return;
	memcpy(&path, record->body, sizeof(path));

	struct qp_object *object = index_table_get(&adapter->hca.qps, record->word);
	bool is_loaded = object && load(object, now, &path);

	xrc_leases_say(adapter, is_loaded ? RECORD_ALTERNATE_LOADED : RECORD_ALTERNATE_REFUSED,
		       record->word);
}
