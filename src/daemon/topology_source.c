/* SPDX-License-Identifier: Apache-2.0 */
/* The source of a fabric's topology: a number of hosts, a generator's name, or a file. */
#include "daemon/topology_source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/core/log.h"
#include "daemon/daemon.h"
#include "fabric/topology/topology.h"

/* Enough for some 10,000 nodes with all their ports. */
enum { FILE_BYTES_MAX = 64 << 20, GENERATOR_BYTES = 64 };

static bool is_generator(const char *topology)
{
	static const char *const names[] = {
		"star:", "ring:", "fat-tree:", "mesh:", "torus:", "routed:"};

	for (unsigned index = 0; index < ARRAY_COUNT(names); index++) {
		if (strncmp(topology, names[index], strlen(names[index])) == 0)
			return true;
	}
	return false;
}

static int generate(struct fabric *fabric, const char *generator)
{
	struct topology_error problem = {0};
	int error = topology_generate(fabric, generator, &problem);

	if (error)
		log_line("topology %s: %s", generator,
			 problem.reason[0] ? problem.reason : strerror(-error));
	return error;
}

static int read_file(const char *path, char **ret_text, size_t *ret_bytes)
{
	FILE *file = fopen(path, "re");

	if (!file)
		return -errno;

	size_t room = 1 << 16;
	size_t byte_count = 0;
	char *text = malloc(room);
	int error = text ? 0 : -ENOMEM;

	while (!error) {
		byte_count += fread(text + byte_count, 1, room - byte_count, file);
		if (ferror(file))
			error = errno ? -errno : -EIO;
		if (error || byte_count < room)
			break;
		room *= 2;

		char *larger = room <= FILE_BYTES_MAX ? realloc(text, room) : NULL;

		if (!larger)
			error = room <= FILE_BYTES_MAX ? -ENOMEM : -EFBIG;
		else
			text = larger;
	}
	fclose(file);
	if (error) {
		free(text);
		return error;
	}
	*ret_text = text;
	*ret_bytes = byte_count;
	return 0;
}

static int parse_file(struct fabric *fabric, const char *path)
{
	struct topology_error problem = {0};
	char *text = NULL;
	size_t byte_count = 0;
	int error = read_file(path, &text, &byte_count);

	if (error) {
		log_line("%s: %s (a topology is a file, or star:N, ring:N, fat-tree:K, mesh:AxB, "
			 "torus:AxB[xC], routed:AxB)",
			 path, strerror(-error));
		return error;
	}
	error = topology_parse(fabric, text, byte_count, &problem);
	free(text);
	if (error && problem.line)
		log_line("%s:%u: %s", path, problem.line, problem.reason);
	else if (error)
		log_line("%s: %s", path, problem.reason[0] ? problem.reason : strerror(-error));
	return error;
}

int topology_build(const struct daemon_options *options, struct fabric *fabric)
{
	char generator[GENERATOR_BYTES];
	int length;

	if (options->topology && !is_generator(options->topology)) {
		if (!options->tca_count)
			return parse_file(fabric, options->topology);
		log_line("a topology file has its own target channel adapters, as Tca records: "
			 "leave out --tcas");
		return -EINVAL;
	}
	if (options->topology)
		length = snprintf(generator, sizeof(generator), "%s", options->topology);
	else
		length = snprintf(generator, sizeof(generator), "star:%u", options->host_count);
	if (options->tca_count && length < (int)sizeof(generator))
		length += snprintf(generator + length, sizeof(generator) - (size_t)length, "+%u",
				   options->tca_count);
	if (length >= (int)sizeof(generator)) {
		log_line("topology %.32s...: too long", options->topology);
		return -EINVAL;
	}
	return generate(fabric, generator);
}
