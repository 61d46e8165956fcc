/* SPDX-License-Identifier: Apache-2.0 */
/* Many management programs at once: each a process with a port and two agents of its own that asks
 * for its own node and for one other's. "umad_many COUNT LID" prints how many got all their
 * answers, waits for a line on its input, kills half of them without warning and lets the others
 * go. */
#include <endian.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/umad.h>

enum { MAD_BYTES = 256, RNR_HOLD_MS = 60000, TIMEOUT_MS = 30000 };

static bool ask(int port, int agent, void *umad, uint8_t management_class, int lid)
{
	uint8_t *mad = umad_get_mad(umad);
	int length = MAD_BYTES;

	memset(umad, 0, umad_size() + MAD_BYTES);
	mad[0] = 1;
	mad[1] = management_class;
	mad[2] = 1;
	mad[3] = 1;
	mad[15] = 7;
	mad[17] = 0x11; /* NodeInfo */
	memset(mad + 32, 0xff, 4);
	umad_set_addr(umad, lid, 0, 0, 0);
	return umad_send(port, agent, umad, MAD_BYTES, TIMEOUT_MS, 2) == 0 &&
	       umad_recv(port, umad, &length, RNR_HOLD_MS) == agent && umad_status(umad) == 0 &&
	       mad[3] == 0x81 && mad[64] == 1;
}

static void live(int lid, int report, int end)
{
	void *umad = umad_alloc(1, umad_size() + MAD_BYTES);
	int port = umad_open_port(NULL, 0);
	int directed = umad_register(port, 0x81, 1, 0, NULL);
	int routed = umad_register(port, 0x01, 1, 0, NULL);
	char verdict = port >= 0 && directed == 0 && routed == 1 &&
				       ask(port, directed, umad, 0x81, 0xffff) &&
				       ask(port, routed, umad, 0x01, lid)
			       ? 'y'
			       : 'n';

	if (write(report, &verdict, 1) != 1)
		_exit(1);
	/* Until the parent closes its end. */
	_exit(read(end, &verdict, 1) != 0);
}

/* 0 when it is none. */
static int number(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	return *end || value < 0 || value > 65535 ? 0 : (int)value;
}

int main(int argument_count, char **arguments)
{
	int count = argument_count == 3 ? number(arguments[1]) : 0;
	int lid = argument_count == 3 ? number(arguments[2]) : 0;
	pid_t *children = calloc((size_t)count + 1, sizeof(*children));
	int report[2], end[2];
	int good = 0;
	char letter;

	if (!count || !children || pipe(report) != 0 || pipe(end) != 0)
		return 2;
	for (int i = 0; i < count; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			close(end[1]);
			live(lid, report[1], end[0]);
		}
	}
	for (int i = 0; i < count; i++)
		good += read(report[0], &letter, 1) == 1 && letter == 'y';
	printf("%d of %d were answered\n", good, count);
	fflush(stdout);
	letter = (char)getchar();
	for (int i = 0; i < count; i += 2)
		kill(children[i], SIGKILL);
	close(end[1]);
	for (int i = 0; i < count; i++)
		waitpid(children[i], NULL, 0);
	free(children);
	return good != count;
}
