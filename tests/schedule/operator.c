/* SPDX-License-Identifier: Apache-2.0 */
/* Commands to softibd: see operator.h. */
#include "operator.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "conduct.h"
#include "turns.h"

enum { ANSWER_BYTES = 1 << 16, ANSWER_SECONDS_MAX = 10 };

int operator_connect(unsigned softibd)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/run/default/operator", run.folder);
	if (connect(connection, (struct sockaddr *)&address, sizeof(address)) != 0) {
		const int reason = errno;

		close(connection);
		errno = reason;
		connection = -1;
	}
	news_of_kernel();
	/* softibd ends after the programs, and removes the socket first. */
	if (connection < 0 && errno != ENOENT && !run_is_gone(softibd))
		run_fail("softibd lets no operator in: %s", strerror(errno));
	return connection;
}

void operator_ask(unsigned softibd, int connection, const char *command)
{
	static char answer[ANSWER_BYTES];
	const uint64_t end = schedule->now + ANSWER_SECONDS_MAX * 1000000000ull;
	ssize_t count = -1;

	if (connection < 0 || send(connection, command, strlen(command), MSG_NOSIGNAL) < 0)
		return;
	news_of_kernel();
	while (!run_has_failed() && !run_is_gone(softibd) && schedule->now < end) {
		count = recv(connection, answer, sizeof(answer) - 1, MSG_DONTWAIT);
		if (count >= 0 || errno != EAGAIN)
			break;
		run_await_news();
	}
	news_of_kernel();
	if (run_has_failed() || run_is_gone(softibd))
		return;
	answer[count > 0 ? count : 0] = '\0';
	if (!strstr(answer, "\"ok\":true"))
		run_fail("softibd answers %s with: %.100s", command, answer);
}

void operator_order(unsigned softibd, const char *command)
{
	const int connection = operator_connect(softibd);

	operator_ask(softibd, connection, command);
	if (connection >= 0)
		close(connection);
	news_of_kernel();
}
