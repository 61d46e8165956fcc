/* SPDX-License-Identifier: Apache-2.0 */
/* Actions of "softib io" on controllers of a fabric: listing, describing, removing, testing. */
#ifndef SOFTIB_CLI_IO_CONTROLLERS_H
#define SOFTIB_CLI_IO_CONTROLLERS_H

#include <jansson.h>
#include <stdbool.h>
#include "base/attributes.h"

struct io_found_unit;
struct io_manager;
struct mad_engine_port;

enum { IO_PLACE_NODE_BYTES = 64 };

struct io_place {
	char node[IO_PLACE_NODE_BYTES];
	unsigned slot; /* 1 to 255 */
};

/* NODE:SLOT */
MUST_USE bool io_place_parse(const char *text, struct io_place *ret_place);

/* A controller that is only described. */
struct io_description {
	json_t *profile;
	json_t *services;
	unsigned slot;	/* 0: the first free one */
	unsigned count; /* of such controllers */
};

void io_description_init(struct io_description *description);
void io_description_release(struct io_description *description);
/* NAME=ID and FIELD=VALUE. NULL, or why the text is refused. */
MUST_USE const char *io_description_add_service(struct io_description *description,
						const char *text);
MUST_USE const char *io_description_set(struct io_description *description, const char *text);

/* Each returns the exit code. */
MUST_USE int io_controllers_list(const char *fabric, bool wants_json);
MUST_USE int io_controllers_describe(const char *fabric, const char *node,
				     const struct io_description *description);
/* The first slot of the node without a controller. 0 after printing the error. */
MUST_USE unsigned io_controllers_first_free(const char *fabric, const char *node);
MUST_USE int io_controllers_remove(const char *fabric, const struct io_place *place);
MUST_USE int io_controllers_test(struct mad_engine_port *port, const struct io_manager *manager,
				 const struct io_found_unit *unit, unsigned slot);

#endif
