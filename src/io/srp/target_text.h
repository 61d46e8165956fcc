/* SPDX-License-Identifier: Apache-2.0 */
/* The text by which srptools name an SRP target: "id_ext=…,ioc_guid=…,dgid=…,pkey=…,service_id=…".
 */
#ifndef SOFTIB_IO_SRP_TARGET_TEXT_H
#define SOFTIB_IO_SRP_TARGET_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"

struct srp_target_text {
	uint64_t id_ext;
	uint64_t ioc_guid;
	uint8_t dgid[16];
	uint16_t pkey;
	uint64_t service_id;
	uint64_t initiator_ext; /* optional; 0 */
};

/* False: *ret_problem says what is missing, wrong or there twice. Keys that only the kernel's
 * driver knows (max_sect, max_cmd_per_lun, …) are passed over. */
MUST_USE bool srp_target_text_read(const char *text, struct srp_target_text *ret_target,
				   const char **ret_problem);

#endif
