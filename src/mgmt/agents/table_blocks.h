/* SPDX-License-Identifier: Apache-2.0 */
/* The table codecs beside the ports that hold the tables: both count SLs, under one name. */
#ifndef SOFTIB_MGMT_AGENTS_TABLE_BLOCKS_H
#define SOFTIB_MGMT_AGENTS_TABLE_BLOCKS_H

#define SL_COUNT SL_COUNT_ON_WIRE
#include "wire/smp_tables.h"
#undef SL_COUNT

#endif
