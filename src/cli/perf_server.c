/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server of softib perf --serve, by libmicrohttpd. One thread runs the performance manager
 * and the server: both are polled from the loop of mad_engine.c.
 *
 * A request for /metrics starts a sweep and waits for it. All requests of one sweep get the same
 * text, so many clients cost little more than one.
 */
#include "cli/perf_server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/perf_source.h"
#include "mgmt/perf/perf_metrics.h"

enum {
	CONNECTIONS_MAX = 32,
	CONNECTION_SECONDS_MAX = 15, /* without progress */
	CONNECTION_BYTES_MAX = 16384,
	PORT_MAX = 65535,
};

/* Requests within this time of a sweep get its figures. */
#define SWEEP_FRESH MILLISECONDS(500)

struct perf_server {
	struct perf_source *source;
	struct MHD_Daemon *http;
	struct MHD_Connection *waiting[CONNECTIONS_MAX];
	unsigned waiting_count;
	struct MHD_Response *metrics; /* of the last sweep; NULL: none */
	uint64_t metrics_sweep;	      /* its number */
	time_ns now, deadline;
};

const char *perf_server_address(const char *text, bool allows_remote,
				struct sockaddr_storage *ret_address)
{
	const char *colon = strrchr(text, ':');
	bool is_ipv6 = text[0] == '[';
	struct sockaddr_in ipv4 = {.sin_family = AF_INET};
	struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6};
	char host[64];
	unsigned long port;

	if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")] ||
	    strlen(colon) > 6 || (size_t)(colon - text) >= sizeof(host))
		return "write ADDRESS:PORT";
	port = strtoul(colon + 1, NULL, 10);
	if (port > PORT_MAX || (is_ipv6 && colon[-1] != ']'))
		return "write ADDRESS:PORT";
	snprintf(host, sizeof(host), "%.*s", (int)(colon - text) - 2 * is_ipv6, text + is_ipv6);
	*ret_address = (struct sockaddr_storage){0};
	if (!is_ipv6 && inet_pton(AF_INET, host, &ipv4.sin_addr) == 1) {
		ipv4.sin_port = htons((uint16_t)port);
		memcpy(ret_address, &ipv4, sizeof(ipv4));
		return allows_remote || ntohl(ipv4.sin_addr.s_addr) >> 24 == 127
			       ? NULL
			       : "that is not a loopback address; --serve-remote allows others";
	}
	if (is_ipv6 && inet_pton(AF_INET6, host, &ipv6.sin6_addr) == 1) {
		ipv6.sin6_port = htons((uint16_t)port);
		memcpy(ret_address, &ipv6, sizeof(ipv6));
		return allows_remote || IN6_IS_ADDR_LOOPBACK(&ipv6.sin6_addr)
			       ? NULL
			       : "that is not a loopback address; --serve-remote allows others";
	}
	return "write an IPv4 address, or an IPv6 address in brackets";
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *text,
			      const char *allowed_methods)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result = MHD_NO;

	if (!response)
		return MHD_NO;
	if (!allowed_methods ||
	    MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, allowed_methods) == MHD_YES)
		result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

/* libmicrohttpd frees the text with free() when the last client has read it. */
static void render(struct perf_server *server)
{
	const struct perf_manager *manager = &server->source->manager;
	char *text = NULL;
	size_t byte_count = 0;
	FILE *file = open_memstream(&text, &byte_count);

	if (server->metrics)
		MHD_destroy_response(server->metrics);
	server->metrics = NULL;
	server->metrics_sweep = manager->last.number;
	if (!file)
		return;
	perf_metrics_write(manager, file);
	if (fclose(file) == 0)
		server->metrics =
			MHD_create_response_from_buffer(byte_count, text, MHD_RESPMEM_MUST_FREE);
	if (!server->metrics) {
		free(text);
		return;
	}
	MHD_add_response_header(server->metrics, MHD_HTTP_HEADER_CONTENT_TYPE,
				"text/plain; version=0.0.4; charset=utf-8");
}

static bool is_fresh(const struct perf_server *server)
{
	const struct perf_manager *manager = &server->source->manager;

	return perf_manager_is_idle(manager) && manager->last.number &&
	       server->now - manager->last.ended_at < SWEEP_FRESH;
}

static enum MHD_Result answer_metrics(struct perf_server *server, struct MHD_Connection *connection)
{
	const struct perf_manager *manager = &server->source->manager;

	if (manager->last.error && !manager->nodes.port_count)
		return answer(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			      "subnet administration does not answer\n", NULL);
	if (server->metrics_sweep != manager->last.number || !server->metrics)
		render(server);
	if (!server->metrics)
		return answer(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory\n", NULL);
	return MHD_queue_response(connection, MHD_HTTP_OK, server->metrics);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload_data,
			      size_t *upload_data_size, void **connection_context)
{
	static int headers_read, has_waited;
	struct perf_server *server = context;

	(void)version;
	(void)upload_data;
	/* The first call has only the headers. */
	if (!*connection_context) {
		*connection_context = &headers_read;
		return MHD_YES;
	}
	if (*upload_data_size) {
		*upload_data_size = 0;
		return MHD_YES;
	}
	if (strcmp(url, "/metrics") != 0)
		return answer(connection, MHD_HTTP_NOT_FOUND, "there is only /metrics\n", NULL);
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n",
			      "GET, HEAD");
	if (*connection_context != &has_waited && !is_fresh(server) &&
	    server->waiting_count < CONNECTIONS_MAX) {
		*connection_context = &has_waited;
		perf_source_refresh_port(server->source);
		perf_manager_ask_sweep(&server->source->manager);
		MHD_suspend_connection(connection);
		server->waiting[server->waiting_count++] = connection;
		return MHD_YES;
	}
	return answer_metrics(server, connection);
}

static void receive(void *context, time_ns now, const struct mad_message *message)
{
	perf_manager_receive(&((struct perf_server *)context)->source->manager, now, message);
}

static unsigned transmit(void *context, time_ns now, unsigned messages_max,
			 struct mad_message ret_messages[])
{
	return perf_manager_transmit(&((struct perf_server *)context)->source->manager, now,
				     messages_max, ret_messages);
}

static time_ns deadline(const void *context)
{
	const struct perf_server *server = context;

	return time_earlier(server->deadline, perf_manager_deadline(&server->source->manager));
}

/* Runs the server once a turn; the work is never done. */
static bool serve(void *context, time_ns now)
{
	struct perf_server *server = context;
	MHD_UNSIGNED_LONG_LONG timeout_ms;

	server->now = now;
	if (perf_manager_is_idle(&server->source->manager)) {
		for (unsigned i = 0; i < server->waiting_count; i++)
			MHD_resume_connection(server->waiting[i]);
		server->waiting_count = 0;
	}
	MHD_run(server->http);
	server->deadline = MHD_get_timeout(server->http, &timeout_ms) == MHD_YES
				   ? now + MILLISECONDS(timeout_ms)
				   : TIME_NEVER;
	return false;
}

static void wake(void *context, time_ns now)
{
	(void)context;
	(void)now;
}

static struct MHD_Daemon *listen_at(struct perf_server *server, struct sockaddr_storage *address)
{
	unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;

	if (address->ss_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	return MHD_start_daemon(flags, 0, NULL, NULL, handle, server, MHD_OPTION_SOCK_ADDR,
				(struct sockaddr *)address, MHD_OPTION_CONNECTION_LIMIT,
				(unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
				(unsigned)CONNECTION_SECONDS_MAX,
				MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES_MAX,
				MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
}

int perf_server_run(struct perf_source *source, const char *address, bool allows_remote)
{
	static struct perf_server server;
	struct sockaddr_storage place;
	const char *refusal = perf_server_address(address, allows_remote, &place);
	int error;

	if (refusal) {
		fprintf(stderr, "softib perf: --serve %s: %s\n", address, refusal);
		return EXIT_FAILURE;
	}
	server = (struct perf_server){.source = source, .deadline = 0};
	source->manager.options.thresholds = source->thresholds;
	server.http = listen_at(&server, &place);
	if (!server.http) {
		fprintf(stderr, "softib perf: can't listen at %s\n", address);
		return EXIT_FAILURE;
	}

	const struct mad_engine engine = {
		.context = &server,
		.receive = receive,
		.transmit = transmit,
		.deadline = deadline,
		.is_done = serve,
		.descriptor = MHD_get_daemon_info(server.http, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
		.readable = wake,
	};

	printf("serving http://%.*s:%u/metrics\n", (int)(strrchr(address, ':') - address), address,
	       MHD_get_daemon_info(server.http, MHD_DAEMON_INFO_BIND_PORT)->port);
	fflush(stdout);
	error = mad_engine_run(&source->port, &engine);
	for (unsigned i = 0; i < server.waiting_count; i++)
		MHD_resume_connection(server.waiting[i]);
	MHD_stop_daemon(server.http);
	if (server.metrics)
		MHD_destroy_response(server.metrics);
	return error ? EXIT_FAILURE : EXIT_SUCCESS;
}
