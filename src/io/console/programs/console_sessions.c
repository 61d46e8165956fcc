/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions of the console controllers of this process. */
#include "io/console/programs/console_sessions.h"

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { FRAMES_PER_TURN = 256 };

static struct console_session *find(const struct console_sessions *sessions, uint32_t number)
{
	for (unsigned i = 0; i < sessions->count; i++)
		if (sessions->sessions[i]->link.session == number)
			return sessions->sessions[i];
	return NULL;
}

/* A number that a stranger does not guess. */
static int choose_number(const struct console_sessions *sessions, uint32_t *ret_number)
{
	do {
		if (getrandom(ret_number, sizeof(*ret_number), 0) != sizeof(*ret_number))
			return -errno;
	} while (find(sessions, *ret_number));
	return 0;
}

int console_sessions_open(struct console_sessions *sessions, time_ns now,
			  const struct console_controller *controller, uint32_t *ret_session)
{
	struct console_session *session;
	uint32_t number;
	int error =
		sessions->count < CONSOLE_SESSIONS_MAX ? choose_number(sessions, &number) : -ENOSPC;

	if (error)
		return error;
	session = calloc(1, sizeof(*session));
	if (!session)
		return -ENOMEM;
	session->controller = controller;
	console_link_init(&session->link, now, number);
	if (sessions->command)
		error = console_command_start(sessions->command, &session->command);
	if (error) {
		free(session);
		return error;
	}
	sessions->sessions[sessions->count++] = session;
	*ret_session = number;
	return 0;
}

static void close_session(struct console_session *session)
{
	console_command_stop(&session->command);
	if (session->ah)
		ibv_destroy_ah(session->ah);
	free(session);
}

/* The first frame of a session says who the driver is; later ones must come from there. */
static void take_frame(struct console_sessions *sessions, time_ns now,
		       struct console_arrival *arrival)
{
	struct console_frame frame;
	struct console_session *session;

	if (!console_frame_read(arrival->bytes, arrival->byte_count, &frame))
		return;
	session = find(sessions, frame.session);
	if (!session || (session->ah && session->qpn != arrival->completion.src_qp))
		return;
	if (!session->ah) {
		session->ah = ibv_create_ah_from_wc(sessions->port->pd, &arrival->completion,
						    arrival->grh, 1);
		session->qpn = arrival->completion.src_qp;
	}
	console_link_receive(&session->link, now, arrival->bytes, arrival->byte_count);
}

static void answer_line(const struct console_sessions *sessions, struct console_session *session,
			time_ns now)
{
	const struct console_controller *controller = session->controller;
	const struct console_facts facts = {.service_name = controller->service_name,
					    .guid = controller->guid,
					    .service_id = controller->service_id,
					    .slot = controller->slot,
					    .slots = sessions->slots,
					    .slot_count = sessions->slot_count,
					    .session_count = sessions->count,
					    .started_at = controller->plugged_at};
	char text[CONSOLE_REPLY_BYTES_MAX];

	session->line[session->line_bytes] = '\0';
	session->line_bytes = 0;
	console_link_write(&session->link, text,
			   console_shell_answer(&facts, now, session->line, text));
}

/* The built-in console reads a line only where its answer has room. Of a line that is too long it
 * takes the beginning. */
static void run_shell(const struct console_sessions *sessions, struct console_session *session,
		      time_ns now)
{
	struct console_link *link = &session->link;
	char byte;

	while (CONSOLE_BUFFER_BYTES - link->written.byte_count >= CONSOLE_REPLY_BYTES_MAX &&
	       console_link_read(link, 1, &byte)) {
		if (byte == '\n')
			answer_line(sessions, session, now);
		else if (session->line_bytes < sizeof(session->line) - 1)
			session->line[session->line_bytes++] = byte;
	}
	if (!link->has_received_end || link->received.byte_count || link->is_ending)
		return;
	if (session->line_bytes)
		answer_line(sessions, session, now);
	console_link_end(link);
}

static void send_frames(struct console_sessions *sessions, struct console_session *session,
			time_ns now)
{
	uint8_t bytes[CONSOLE_FRAME_BYTES_MAX];
	size_t byte_count;

	while (session->ah && (byte_count = console_link_transmit(&session->link, now, bytes)))
		console_port_send(sessions->port, session->ah, session->qpn, RDMA_UDP_QKEY, bytes,
				  byte_count);
}

static bool is_over(const struct console_session *session, time_ns now)
{
	return session->link.is_dead || console_link_is_done(&session->link) ||
	       (!session->ah && now - session->link.heard_at >= CONSOLE_SILENCE_MAX);
}

bool console_sessions_run(struct console_sessions *sessions, time_ns now)
{
	struct console_arrival arrival;
	unsigned frame_count = 0;

	while (frame_count < FRAMES_PER_TURN && console_port_receive(sessions->port, &arrival)) {
		take_frame(sessions, now, &arrival);
		console_port_give_back(sessions->port, &arrival);
		frame_count++;
	}
	for (unsigned i = 0; i < sessions->count;) {
		struct console_session *session = sessions->sessions[i];

		if (session->command.pid)
			console_command_move(&session->command, &session->link);
		else
			run_shell(sessions, session, now);
		send_frames(sessions, session, now);
		if (is_over(session, now)) {
			close_session(session);
			sessions->sessions[i] = sessions->sessions[--sessions->count];
		} else {
			i++;
		}
	}
	return frame_count > 0;
}

time_ns console_sessions_deadline(const struct console_sessions *sessions)
{
	time_ns deadline = TIME_NEVER;

	for (unsigned i = 0; i < sessions->count; i++) {
		const struct console_session *session = sessions->sessions[i];

		deadline = time_earlier(deadline,
					session->ah ? console_link_deadline(&session->link)
						    : session->link.heard_at + CONSOLE_SILENCE_MAX);
	}
	return deadline;
}

void console_sessions_close(struct console_sessions *sessions)
{
	while (sessions->count)
		close_session(sessions->sessions[--sessions->count]);
}
