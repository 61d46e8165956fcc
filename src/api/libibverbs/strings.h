/* SPDX-License-Identifier: Apache-2.0 */
/* String functions that rdma-core's public header of Debian 12 does not declare. */
#ifndef SOFTIB_API_LIBIBVERBS_STRINGS_H
#define SOFTIB_API_LIBIBVERBS_STRINGS_H

#include <infiniband/verbs.h>

/* In rdma-core's private symbol node up to 44, in verbs.h since 49. */
const char *ibv_wr_opcode_str(enum ibv_wr_opcode opcode);

#endif
