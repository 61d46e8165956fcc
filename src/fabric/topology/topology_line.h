/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the reader of topology texts: its position, and the elements of a line. */
#ifndef SOFTIB_FABRIC_TOPOLOGY_TOPOLOGY_LINE_H
#define SOFTIB_FABRIC_TOPOLOGY_TOPOLOGY_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "fabric/topology/topology_reader.h"

enum { KIND_COUNT = NODE_ROUTER + 1, SPEEDS_QDR = 7, WIDTHS_ALL = 31 };

struct topology_line {
	struct declarations *declarations;
	struct topology_error *error;
	unsigned line;
	struct declared_node *current;	/* the node of the following port lines; NULL: none */
	uint64_t next_guid[KIND_COUNT]; /* of the next node of each kind; 0: none given */
	uint64_t next_system_image_guid;
	uint8_t default_widths;
	uint8_t default_speeds;
	int default_extended_speeds;
	uint8_t default_vl_cap;
};

/* Functions that take a cursor move it past the text that they read. Errors are filled in:
 * -EINVAL. */

const char *skip_blanks(const char *at);

/* "name" at the cursor. */
MUST_USE int line_read_quoted(struct topology_line *line, const char **at, const char *what,
			      size_t room, char *ret_name);
MUST_USE int line_read_guid(struct topology_line *line, const char *text, uint64_t *ret_guid);
/* [number] at the cursor. */
MUST_USE bool read_bracketed(const char **at, unsigned *ret_number);

/* [p](guid) "remoteid"[r](guid) options # comment: fabric/topology/topology_ports.c */
MUST_USE int line_read_port(struct topology_line *line, const char *at);
/* The number of data VLs after "vls=", as a VLCap code. */
MUST_USE int line_read_vls(struct topology_line *line, const char *text, uint8_t *ret_vl_cap);
/* @[p] "alias" */
MUST_USE int line_read_alias(struct topology_line *line, const char *at);

#endif
