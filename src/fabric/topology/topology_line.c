/* SPDX-License-Identifier: Apache-2.0 */
/* The elements of a line of a topology text: names, GUIDs, port numbers. */
#include "fabric/topology/topology_line.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/topology/topology.h"

const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

int line_read_quoted(struct topology_line *line, const char **at, const char *what, size_t room,
		     char *ret_name)
{
	const char *start = skip_blanks(*at);
	const char *end = *start == '"' ? strchr(start + 1, '"') : NULL;

	if (!end)
		return topology_fail(line->error, line->line,
				     "%s: a name in double quotes is missing", what);

	size_t length = (size_t)(end - start - 1);

	if (length == 0 || length >= room)
		return topology_fail(line->error, line->line, "%s: a name has 1 to %zu characters",
				     what, room - 1);
	memcpy(ret_name, start + 1, length);
	ret_name[length] = '\0';
	*at = end + 1;
	return 0;
}

int line_read_guid(struct topology_line *line, const char *text, uint64_t *ret_guid)
{
	char *end;

	errno = 0;

	unsigned long long guid = strtoull(text, &end, 16);

	if (!isxdigit((unsigned char)*text) || errno || guid == 0)
		return topology_fail(line->error, line->line, "bad GUID \"%.24s\"", text);
	if (*end != '\0' && !strchr(" \t()#", *end))
		return topology_fail(line->error, line->line, "bad GUID \"%.24s\"", text);
	*ret_guid = guid;
	return 0;
}

bool read_bracketed(const char **at, unsigned *ret_number)
{
	char *end;

	if (**at != '[' || !isdigit((unsigned char)(*at)[1]))
		return false;

	unsigned long number = strtoul(*at + 1, &end, 0);

	if (*end != ']')
		return false;
	*ret_number = number > 255 ? 256 : (unsigned)number;
	*at = end + 1;
	return true;
}
