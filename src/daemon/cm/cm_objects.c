/* SPDX-License-Identifier: Apache-2.0 */
/* What the objects of connection management do without any unit above them: a program's end, and
 * its ids by number. */
#include "daemon/cm/cm_objects.h"

#include "daemon/core/host_table.h"
#include "daemon/core/log.h"

void cm_program_end(struct cm_program *program, const char *reason)
{
	if (program->is_ending)
		return;
	program->is_ending = true;
	if (reason)
		log_line("a program of host %s is cut off from connection management: %s",
			 program->host->host->name, reason);
	list_remove(&program->link);
	list_append(&program->host->fabric->ended, &program->link);
}

struct cm_id *cm_program_find_id(const struct cm_program *program, uint32_t number)
{
	return hash_table_get(&program->ids, number);
}
