/* SPDX-License-Identifier: Apache-2.0 */
/*
 * softib-raw-send: two hosts send raw packets to each other: EtherType frames that come back or,
 * with -6, ICMPv6 echo requests and replies, printed as ping does.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "echo.h"
#include "raw_port.h"

enum { DATA_BYTES_MAX = 8000, GID_BYTES = 16 };

struct options {
	const char *server_name; /* NULL: this is the server */
	const char *tcp_port;
	const char *device_name;
	uint8_t ib_port;
	uint8_t sl;
	bool is_ipv6;
	uint32_t ethertype;
	uint32_t data_bytes;
	unsigned packet_count;
	unsigned timeout_ms;
	uint16_t dlid; /* 0: the server's LID */
	bool has_group;
	union ibv_gid group; /* dlid is its MLID */
};

/* What each side must know of the other. Sent as it is, since both programs run on one machine. */
struct peer {
	uint16_t lid;
	uint8_t gid[GID_BYTES];
};

static void usage(const char *program)
{
	printf("Usage:\n"
	       "  %s            send back what arrives, until the client goes\n"
	       "  %s <host>     send to the server at <host>\n"
	       "\n"
	       "Options:\n"
	       "  -6, --ipv6             raw IPv6: ICMPv6 echo requests (default raw EtherType)\n"
	       "  -t, --ethertype=<type> of the frames (default 0x88b5)\n"
	       "  -n, --count=<count>    number of packets (default 5)\n"
	       "  -s, --size=<size>      bytes of data in each (default 56)\n"
	       "  -w, --timeout=<ms>     wait so long for an answer (default 1000)\n"
	       "  -L, --lid=<lid>        send to this LID instead, such as a router's\n"
	       "  -G, --group=<gid>      to the multicast group <gid>, whose LID is <lid>\n"
	       "  -p, --port=<port>      meet at TCP port <port> (default 18515)\n"
	       "  -d, --ib-dev=<dev>     use IB device <dev> (default first device found)\n"
	       "  -i, --ib-port=<port>   use port <port> of IB device (default 1)\n"
	       "  -l, --sl=<sl>          service level value\n",
	       program, program);
}

static const struct option long_options[] = {
	{"ipv6", 0, NULL, '6'},
	{"ethertype", 1, NULL, 't'},
	{"count", 1, NULL, 'n'},
	{"size", 1, NULL, 's'},
	{"timeout", 1, NULL, 'w'},
	{"lid", 1, NULL, 'L'},
	{"port", 1, NULL, 'p'},
	{"ib-dev", 1, NULL, 'd'},
	{"ib-port", 1, NULL, 'i'},
	{"sl", 1, NULL, 'l'},
	{"group", 1, NULL, 'G'},
	{"help", 0, NULL, 'h'},
	{0},
};

/* Nonzero: an unknown option or an invalid value. */
static int take_option(struct options *options, int letter, const char *value)
{
	long number = value ? strtol(value, NULL, 0) : 0;

	switch (letter) {
	case '6':
		options->is_ipv6 = true;
		return 0;
	case 't':
		options->ethertype = (uint32_t)number;
		return number < 0 || number > 0xffff;
	case 'n':
		options->packet_count = (unsigned)number;
		return number < 1 || number > 1 << 30;
	case 's':
		options->data_bytes = (uint32_t)number;
		return number < 0 || number > DATA_BYTES_MAX;
	case 'w':
		options->timeout_ms = (unsigned)number;
		return number < 1 || number > 3600000;
	case 'L':
		options->dlid = (uint16_t)number;
		return number < 1 || number > 0xffff;
	case 'G':
		options->has_group = true;
		return inet_pton(AF_INET6, value, options->group.raw) != 1;
	case 'p':
		options->tcp_port = value;
		return 0;
	case 'd':
		options->device_name = value;
		return 0;
	case 'i':
		options->ib_port = (uint8_t)number;
		return number < 1 || number > 255;
	case 'l':
		options->sl = (uint8_t)number;
		return number < 0 || number > 15;
	default:
		return 1;
	}
}

static int read_options(int argc, char **argv, struct options *ret_options)
{
	int letter;

	*ret_options = (struct options){
		.tcp_port = "18515",
		.ib_port = 1,
		.ethertype = 0x88b5,
		.data_bytes = 56,
		.packet_count = 5,
		.timeout_ms = 1000,
	};
	while ((letter = getopt_long(argc, argv, "6t:n:s:w:L:G:p:d:i:l:h", long_options, NULL)) !=
	       -1)
		if (take_option(ret_options, letter, optarg))
			return 1;
	if (optind == argc - 1)
		ret_options->server_name = argv[optind];
	return optind < argc - 1 || (ret_options->has_group && !ret_options->dlid);
}

static int open_socket(const struct options *options, const struct addrinfo *address)
{
	int file = socket(address->ai_family, SOCK_STREAM, 0);
	int one = 1;

	if (file < 0)
		return -1;
	if (options->server_name) {
		if (connect(file, address->ai_addr, address->ai_addrlen) == 0)
			return file;
		close(file);
		return -1;
	}
	setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));

	int connection = -1;

	if (bind(file, address->ai_addr, address->ai_addrlen) == 0 && listen(file, 1) == 0)
		connection = accept(file, NULL, NULL);

	close(file);
	return connection;
}

/* Returns the connection, or -1 after printing the error. */
static int meet(const struct options *options, const struct raw_port *port, struct peer *ret_peer)
{
	struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
	struct addrinfo *addresses;
	struct peer own = {.lid = port->attributes.lid};
	int file = -1;

	memcpy(own.gid, port->gid.raw, sizeof(own.gid));
	hints.ai_flags = options->server_name ? 0 : AI_PASSIVE;
	if (getaddrinfo(options->server_name, options->tcp_port, &hints, &addresses) == 0) {
		file = open_socket(options, addresses);
		freeaddrinfo(addresses);
	}
	if (file >= 0 && send(file, &own, sizeof(own), MSG_NOSIGNAL) == sizeof(own) &&
	    recv(file, ret_peer, sizeof(*ret_peer), MSG_WAITALL) == sizeof(*ret_peer))
		return file;
	fprintf(stderr, "no connection with the other side: %s\n", strerror(errno));
	if (file >= 0)
		close(file);
	return -1;
}

static int answer(struct raw_port *port, const struct options *options,
		  const struct raw_packet *packet)
{
	struct echo echo;
	uint32_t byte_count = packet->byte_count;

	if (options->is_ipv6) {
		if (!echo_read(packet->bytes, packet->byte_count, &echo) || echo.is_reply)
			return 0;

		struct echo reply = echo;

		/* A multicast group's address cannot be the source of a reply. */
		memcpy(reply.source, options->has_group ? port->gid.raw : echo.destination,
		       sizeof(reply.source));
		memcpy(reply.destination, echo.source, sizeof(reply.destination));
		reply.hop_limit = 64;
		reply.is_reply = true;
		byte_count = echo_write(&reply, raw_port_outbox(port));
	} else {
		memcpy(raw_port_outbox(port), packet->bytes, byte_count);
	}
	return raw_port_send(port, packet->slid, packet->ethertype, byte_count);
}

/* Serves until the client closes the connection. */
static int serve(struct raw_port *port, const struct options *options, int connection)
{
	unsigned count = 0;
	char byte;

	while (recv(connection, &byte, 1, MSG_DONTWAIT) != 0) {
		struct raw_packet packet;

		do {
			if (raw_port_receive(port, &packet))
				return 1;
			if (!packet.bytes)
				continue;
			count++;
			if (answer(port, options, &packet) || raw_port_give_back(port, &packet))
				return 1;
		} while (packet.bytes);
	}
	printf("%u packets received\n", count);
	return 0;
}

static double milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1000. + (double)now.tv_nsec / 1000000.;
}

static uint8_t data_byte(unsigned sequence, uint32_t index)
{
	return (uint8_t)(index + sequence);
}

/* Writes packet number `sequence` to the outbox and returns its length. */
static uint32_t write_request(const struct raw_port *port, const struct options *options,
			      const struct peer *peer, unsigned sequence)
{
	uint8_t *outbox = raw_port_outbox(port);
	uint8_t *data = options->is_ipv6 ? outbox + ECHO_HEADER_BYTES : outbox;
	struct echo echo = {
		.identifier = (uint16_t)getpid(),
		.sequence = (uint16_t)sequence,
		.hop_limit = 64,
		.data = data,
		.data_bytes = options->data_bytes,
	};

	for (uint32_t i = 0; i < options->data_bytes; i++)
		data[i] = data_byte(sequence, i);
	if (!options->is_ipv6)
		return options->data_bytes;
	memcpy(echo.source, port->gid.raw, sizeof(echo.source));
	memcpy(echo.destination, options->has_group ? options->group.raw : peer->gid,
	       sizeof(echo.destination));
	return echo_write(&echo, outbox);
}

/* Whether the packet answers packet number `sequence`; prints what is wrong with it. */
static bool is_answer(const struct raw_packet *packet, const struct options *options,
		      const struct peer *peer, unsigned sequence, struct echo *ret_echo)
{
	*ret_echo = (struct echo){.data = packet->bytes, .data_bytes = packet->byte_count};
	if (options->is_ipv6) {
		if (!echo_read(packet->bytes, packet->byte_count, ret_echo)) {
			fprintf(stderr, "not an echo, or a wrong checksum\n");
			return false;
		}
		if (!ret_echo->is_reply || ret_echo->sequence != (uint16_t)sequence ||
		    memcmp(ret_echo->source, peer->gid, GID_BYTES) != 0)
			return false;
	} else if (packet->ethertype != options->ethertype) {
		fprintf(stderr, "EtherType 0x%04x\n", packet->ethertype);
		return false;
	}
	for (uint32_t i = 0; i < options->data_bytes; i++) {
		if (ret_echo->data_bytes == options->data_bytes &&
		    ret_echo->data[i] == data_byte(sequence, i))
			continue;
		fprintf(stderr, "wrong data at byte %u\n", i);
		return false;
	}
	return true;
}

static void print_answer(const struct raw_packet *packet, const struct options *options,
			 const struct echo *echo, unsigned sequence, double elapsed_ms)
{
	char text[INET6_ADDRSTRLEN];

	if (options->is_ipv6) {
		inet_ntop(AF_INET6, echo->source, text, sizeof(text));
		printf("%u bytes from %s: icmp_seq=%u hlim=%u time=%.3f ms\n",
		       echo->data_bytes + ECHO_HEADER_BYTES - 40, text, sequence, echo->hop_limit,
		       elapsed_ms);
	} else {
		printf("%u bytes from LID 0x%04x: EtherType 0x%04x seq=%u time=%.3f ms\n",
		       packet->byte_count, packet->slid, packet->ethertype, sequence, elapsed_ms);
	}
}

/* Nonzero: the program cannot continue. */
static int ask_once(struct raw_port *port, const struct options *options, const struct peer *peer,
		    unsigned sequence, bool *ret_is_answered)
{
	double begin = milliseconds();
	uint32_t byte_count = write_request(port, options, peer, sequence);

	*ret_is_answered = false;
	if (raw_port_send(port, options->dlid ? options->dlid : peer->lid, options->ethertype,
			  byte_count))
		return 1;
	while (!*ret_is_answered && milliseconds() - begin < options->timeout_ms) {
		struct raw_packet packet;
		struct echo echo;

		if (raw_port_receive(port, &packet))
			return 1;
		if (!packet.bytes)
			continue;
		*ret_is_answered = is_answer(&packet, options, peer, sequence, &echo);
		if (*ret_is_answered)
			print_answer(&packet, options, &echo, sequence, milliseconds() - begin);
		if (raw_port_give_back(port, &packet))
			return 1;
	}
	return 0;
}

static int ask(struct raw_port *port, const struct options *options, const struct peer *peer)
{
	char text[INET6_ADDRSTRLEN];
	unsigned answered = 0;

	inet_ntop(AF_INET6, peer->gid, text, sizeof(text));
	if (options->is_ipv6)
		printf("PING %s (LID 0x%04x): %u data bytes\n", text, peer->lid,
		       options->data_bytes);
	for (unsigned sequence = 1; sequence <= options->packet_count; sequence++) {
		bool is_answered;

		if (ask_once(port, options, peer, sequence, &is_answered))
			return 1;
		answered += is_answered;
	}
	if (options->is_ipv6)
		printf("--- %s ping statistics ---\n", text);
	printf("%u packets transmitted, %u received, %u%% packet loss\n", options->packet_count,
	       answered, 100 * (options->packet_count - answered) / options->packet_count);
	return answered != options->packet_count;
}

int main(int argc, char **argv)
{
	struct options options;
	struct raw_port port;
	struct peer peer;
	int result = 1;

	if (read_options(argc, argv, &options)) {
		usage(argv[0]);
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (raw_port_open(&port, options.device_name, options.ib_port, options.sl,
			  options.is_ipv6 ? SOFTIB_QPT_RAW_IPV6 : SOFTIB_QPT_RAW_ETHERTYPE) == 0) {
		port.group = options.group;

		/* Only the server receives packets to the group. */
		bool is_ready = !options.has_group || options.server_name ||
				!raw_port_join(&port, options.dlid);
		int connection = is_ready ? meet(&options, &port, &peer) : -1;

		if (connection >= 0) {
			result = options.server_name ? ask(&port, &options, &peer)
						     : serve(&port, &options, connection);
			close(connection);
		}
	}
	raw_port_close(&port);
	return result;
}
