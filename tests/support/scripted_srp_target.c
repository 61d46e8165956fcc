/* SPDX-License-Identifier: Apache-2.0 */
/* srp_connection_*() in one process: what the session sends goes into a list, what the test sends
 * comes out of a poll. */
#include "support/scripted_srp_target.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/random.h"
#include "io/nbdkit/srp_connection.h"

struct scripted_srp_target scripted;

struct arrival {
	uint8_t unit[SRP_RSP_BYTES_MAX];
	uint32_t byte_count;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static time_ns now_ns;

/* The channel that is open. */
static struct {
	bool is_broken;
	bool is_armed;
	unsigned outstanding;
	struct rdma_event_channel events;
	struct ibv_comp_channel completions;
	struct ibv_mr data;
	const uint8_t *memory;
	size_t memory_bytes;
	unsigned first, count;
	struct arrival arrivals[CONNECTION_RECEIVES];
} channel;

static struct random choices;

void scripted_reset(uint32_t request_limit)
{
	memset(&scripted, 0, sizeof(scripted));
	scripted.request_limit = request_limit;
	choices = random_seeded(request_limit);
}

void scripted_advance(time_ns by)
{
	__atomic_add_fetch(&now_ns, by, __ATOMIC_RELAXED);
}

time_ns srp_clock_now(void)
{
	return __atomic_add_fetch(&now_ns, MICROSECONDS(1), __ATOMIC_RELAXED);
}

/* A real sleep of a millisecond at a time: the test's clock wakes nobody. */
int srp_milliseconds_until(time_ns deadline)
{
	if (deadline == TIME_NEVER)
		return -1;
	return deadline <= srp_clock_now() ? 0 : 1;
}

void scripted_answer_at_random(void)
{
	pthread_mutex_lock(&mutex);
	scripted.answers_at_random = true;
	pthread_mutex_unlock(&mutex);
}

void scripted_set_open_error(int error)
{
	pthread_mutex_lock(&mutex);
	scripted.open_error = error;
	pthread_mutex_unlock(&mutex);
}

void scripted_set_at_close(void (*at_close)(void *context), void *context)
{
	pthread_mutex_lock(&mutex);
	scripted.at_close = at_close;
	scripted.context = context;
	pthread_mutex_unlock(&mutex);
}

static void await(const unsigned *number, unsigned least)
{
	pthread_mutex_lock(&mutex);
	while (*number < least)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

void scripted_await_requests(unsigned count)
{
	await(&scripted.request_count, count);
}

void scripted_await_opens(unsigned count)
{
	await(&scripted.open_count, count);
}

void scripted_await_closing(void)
{
	await(&scripted.closing_count, 1);
}

void scripted_await_closes(unsigned count)
{
	await(&scripted.close_count, count);
}

void scripted_await_armed(void)
{
	pthread_mutex_lock(&mutex);
	while (!channel.is_armed)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void ring(int file)
{
	const uint64_t one = 1;

	if (write(file, &one, sizeof(one)) != sizeof(one))
		abort();
}

/* An event, if the queue is armed: one, as a completion queue makes. */
static void notify(void)
{
	if (channel.is_armed)
		ring(channel.completions.fd);
	channel.is_armed = false;
}

static void queue(const uint8_t *unit, size_t byte_count)
{
	assert(channel.count < CONNECTION_RECEIVES && byte_count <= SRP_RSP_BYTES_MAX);

	struct arrival *arrival =
		&channel.arrivals[(channel.first + channel.count++) % CONNECTION_RECEIVES];

	memcpy(arrival->unit, unit, byte_count);
	arrival->byte_count = (uint32_t)byte_count;
	notify();
}

static void answer(struct scripted_request *request, const struct srp_response *response)
{
	uint8_t bytes[SRP_RSP_BYTES_MAX];

	assert(!request->is_answered && request->channel == scripted.open_count);
	request->is_answered = true;
	channel.outstanding--;
	queue(bytes, srp_response_encode(response, bytes));
}

/* The target's RDMA. */
static void move_data(const struct scripted_request *request)
{
	uint64_t offset = get_be64(request->cdb + 2) * SCSI_BLOCK_BYTES;
	uint8_t *memory = (uint8_t *)(uintptr_t)request->data.address;
	uint32_t byte_count = request->data.byte_count;

	if (!byte_count)
		return;
	assert(offset + byte_count <= sizeof(scripted.disk));
	if (request->is_read)
		memcpy(memory, scripted.disk + offset, byte_count);
	else
		memcpy(scripted.disk + offset, memory, byte_count);
}

static void answer_command(struct scripted_request *request, uint8_t status)
{
	/* The residual says which command is answered. */
	const struct srp_response response = {.rsp = {.tag = request->tag,
						      .request_limit_delta = 1,
						      .status = status,
						      .in_residual = get_be32(request->cdb + 10)}};

	move_data(request);
	answer(request, &response);
}

void scripted_answer(unsigned request, uint8_t status)
{
	pthread_mutex_lock(&mutex);
	answer_command(&scripted.requests[request], status);
	pthread_mutex_unlock(&mutex);
}

void scripted_answer_abort(unsigned request, uint8_t response_code)
{
	const struct srp_response response = {
		.rsp = {.tag = scripted.requests[request].tag, .request_limit_delta = 2},
		.has_response_code = true,
		.response_code = response_code};

	pthread_mutex_lock(&mutex);
	answer(&scripted.requests[request], &response);
	pthread_mutex_unlock(&mutex);
}

void scripted_send(const uint8_t *unit, size_t byte_count)
{
	pthread_mutex_lock(&mutex);
	queue(unit, byte_count);
	pthread_mutex_unlock(&mutex);
}

void scripted_break(void)
{
	pthread_mutex_lock(&mutex);
	channel.is_broken = true;
	notify();
	pthread_mutex_unlock(&mutex);
}

void scripted_disconnect(void)
{
	pthread_mutex_lock(&mutex);
	ring(channel.events.fd);
	pthread_mutex_unlock(&mutex);
}

/* The session's side. */

static bool log_in(struct srp_initiator *ret_initiator)
{
	const struct srp_login_rsp rsp = {.opcode = SRP_LOGIN_RSP,
					  .request_limit_delta = scripted.request_limit,
					  .it_iu_bytes_max = SRP_CMD_BYTES_MAX,
					  .ti_iu_bytes_max = SRP_RSP_BYTES_MAX};
	uint8_t bytes[SRP_LOGIN_RSP_BYTES];
	uint32_t reason;

	srp_login_rsp_encode(&rsp, bytes);
	return srp_initiator_logged_in(ret_initiator, bytes, sizeof(bytes), &reason);
}

int srp_connection_open(struct srp_connection *connection, const struct srp_target_text *target,
			void *data, size_t data_byte_count, int timeout_ms,
			struct srp_initiator *ret_initiator, const char **ret_problem)
{
	pthread_mutex_lock(&mutex);
	assert(timeout_ms > 0 && scripted.open_count < SCRIPTED_CHANNELS_MAX);
	scripted.initiator_exts[scripted.open_count++] = target->initiator_ext;

	int error = scripted.open_error;

	if (error) {
		*ret_problem = "the test says so";
	} else {
		memset(&channel, 0, sizeof(channel));
		channel.events.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		channel.completions.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		channel.data.rkey = 1000 + scripted.open_count;
		channel.memory = data;
		channel.memory_bytes = data_byte_count;
		*connection = (struct srp_connection){
			.events = &channel.events,
			.completions = &channel.completions,
			.received = calloc(CONNECTION_RECEIVES, sizeof(*connection->received)),
			.data = &channel.data};
		if (!connection->received || !log_in(ret_initiator))
			abort();
	}
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
	return error;
}

void srp_connection_close(struct srp_connection *connection)
{
	pthread_mutex_lock(&mutex);
	scripted.closing_count++;
	pthread_cond_broadcast(&changed);

	void (*at_close)(void *) = scripted.at_close;
	void *context = scripted.context;

	pthread_mutex_unlock(&mutex);
	if (at_close)
		at_close(context);
	pthread_mutex_lock(&mutex);
	close(channel.events.fd);
	close(channel.completions.fd);
	free(connection->received);
	connection->received = NULL;
	channel.is_armed = false;
	scripted.close_count++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

static void take_data(const uint8_t *unit, size_t byte_count, struct scripted_request *request)
{
	struct srp_cmd cmd;

	srp_cmd_decode(unit, &cmd);
	memcpy(request->cdb, unit + SRP_CMD_BYTES - SRP_CDB_BYTES, SRP_CDB_BYTES);
	request->is_read = cmd.in_format;
	if (!cmd.in_format && !cmd.out_format)
		return;
	assert(byte_count == SRP_CMD_BYTES + SRP_DESCRIPTOR_BYTES);
	srp_segment_decode(unit + SRP_CMD_BYTES, &request->data);

	size_t offset = (size_t)(request->data.address - (uintptr_t)channel.memory);

	/* Only what this channel's target may reach. */
	assert(request->data.rkey == channel.data.rkey);
	assert(offset <= channel.memory_bytes &&
	       request->data.byte_count <= channel.memory_bytes - offset);
}

int srp_connection_send(struct srp_connection *connection, const uint8_t *unit, size_t byte_count)
{
	struct scripted_request request = {.opcode = unit[0], .tag = get_be64(unit + 8)};
	struct srp_tsk_mgmt management;

	(void)connection;
	if (request.opcode != SRP_CMD && request.opcode != SRP_TSK_MGMT)
		return 0;
	pthread_mutex_lock(&mutex);
	assert(scripted.request_count < SCRIPTED_REQUESTS_MAX);
	request.channel = scripted.open_count;
	if (request.opcode == SRP_CMD) {
		take_data(unit, byte_count, &request);
	} else {
		srp_tsk_mgmt_decode(unit, &management);
		request.task_tag = management.task_tag;
	}
	channel.outstanding++;
	if (channel.outstanding > scripted.outstanding_max)
		scripted.outstanding_max = channel.outstanding;
	scripted.requests[scripted.request_count++] = request;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
	return 0;
}

/* One of the requests without answer, or none. */
static void answer_one(void)
{
	unsigned skip;

	if (!channel.outstanding || random_below(&choices, 2))
		return;
	skip = (unsigned)random_below(&choices, channel.outstanding);
	for (unsigned i = scripted.request_count; i-- > 0;) {
		if (scripted.requests[i].is_answered || skip--)
			continue;
		answer_command(&scripted.requests[i], 0);
		return;
	}
}

int srp_connection_poll(struct srp_connection *connection,
			struct srp_received ret_received[static CONNECTION_ARRIVALS])
{
	int count = 0;

	pthread_mutex_lock(&mutex);
	if (scripted.answers_at_random)
		answer_one();
	while (!channel.is_broken && channel.count && count < CONNECTION_ARRIVALS) {
		const struct arrival *arrival = &channel.arrivals[channel.first];

		memcpy(connection->received[channel.first], arrival->unit, arrival->byte_count);
		ret_received[count++] = (struct srp_received){.index = channel.first,
							      .byte_count = arrival->byte_count};
		channel.first = (channel.first + 1) % CONNECTION_RECEIVES;
		channel.count--;
	}
	if (channel.is_broken)
		count = -ENOTCONN;
	pthread_mutex_unlock(&mutex);
	return count;
}

int srp_connection_arm(struct srp_connection *connection)
{
	(void)connection;
	pthread_mutex_lock(&mutex);
	channel.is_armed = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
	return 0;
}

void srp_connection_disarm(struct srp_connection *connection)
{
	uint64_t count;

	if (read(connection->completions->fd, &count, sizeof(count)) != sizeof(count))
		abort();
}

int srp_connection_repost(struct srp_connection *connection, uint32_t index)
{
	assert(index < CONNECTION_RECEIVES);
	/* Whoever reads a unit that was reposted reads this. */
	memset(connection->received[index], 0xee, sizeof(connection->received[index]));
	return 0;
}
