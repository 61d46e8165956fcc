/* SPDX-License-Identifier: Apache-2.0 */
/* softib perf --serve in a build without libmicrohttpd. */
#include <stdio.h>
#include <stdlib.h>
#include "cli/perf_server.h"

int perf_server_run(struct perf_source *source, const char *address, bool allows_remote)
{
	(void)source;
	(void)address;
	(void)allows_remote;
	fprintf(stderr, "softib perf: this build has no --serve: libmicrohttpd was not found\n");
	return EXIT_FAILURE;
}
