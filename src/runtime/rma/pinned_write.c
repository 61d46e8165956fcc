/* SPDX-License-Identifier: Apache-2.0 */
/* Short WRITEs to pages that the peer has pinned for us. */
#include "runtime/rma/pinned_write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>
#include "runtime/flows.h"
#include "runtime/rma/rma_state.h"
#include "ipc/protocol.h"

enum {
	HALF_BYTES = 4 * RKEY_EXPORT_PAGE_BYTES, /* put into the pipe at a time */
	STAGING_BYTES = 2 * HALF_BYTES,
	WRITES_PER_QUESTION = 8,
	DOUBLINGS_MAX = 9, /* of that count, after requests that were refused */
	WRITERS_MAX = 64,  /* each takes files of the program's limit */
};

static_assert((int)PINNED_WRITE_BYTES_MAX <= (int)HALF_BYTES, "the other half is in the pipe");

/* Protected by the lock of the process runtime, of which a process has one. */
static unsigned writer_count;

static bool give_to_pipe(const struct pinned_write *pinned, uint32_t offset, size_t byte_count)
{
	const struct iovec pages = {pinned->staging + offset, byte_count};

	return vmsplice(pinned->pipe, &pages, 1, SPLICE_F_NONBLOCK) == (ssize_t)byte_count;
}

/* The mapping is shared, so that copy-on-write after a fork does not give us other pages than the
 * pipe has. */
static bool make_staging(struct pinned_write *pinned)
{
	void *memory = mmap(NULL, STAGING_BYTES, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	(void)madvise(memory, STAGING_BYTES, MADV_DONTFORK);
	pinned->staging = memory;
	pinned->cursor = 0;
	return true;
}

/* Opens the ring that the peer shows. Its number is not trusted. */
static bool open_ring(struct pinned_write *pinned, const struct peer_memory *peer_memory,
		      const struct pinned_ranges *shared, int source)
{
	const uint32_t number = __atomic_load_n(&shared->ring_number, __ATOMIC_ACQUIRE);

	/* The owner of the ring can change the requests that we submit. A peer that has read the
	 * proof can access our memory anyway. */
	if (!number || number > INT32_MAX || shared->proof != pinned->proof)
		return false;

	int file = kernel_ring_fetch(peer_memory->memory.pid, (int)number - 1);

	if (file < 0)
		return false;
	/* The pid still belongs to the same process. */
	if (cma_is_there(&peer_memory->memory) &&
	    kernel_ring_open(&pinned->ring, file, source) == 0)
		return true;
	close(file);
	return false;
}

static bool open_writer(struct pinned_write *pinned, const struct peer_memory *peer_memory,
			const struct pinned_ranges *shared)
{
	int ends[2];

	if (writer_count >= WRITERS_MAX || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		return false;
	pinned->pipe = ends[1];
	if (!make_staging(pinned))
		goto close_pipe;
	if (!open_ring(pinned, peer_memory, shared, ends[0]))
		goto unmap;
	if (!give_to_pipe(pinned, 0, STAGING_BYTES))
		goto close_ring;
	/* The ring keeps its own reference. */
	close(ends[0]);
	writer_count++;
	return true;

close_ring:
	kernel_ring_close(&pinned->ring);
unmap:
	munmap(pinned->staging, STAGING_BYTES);
close_pipe:
	close(ends[0]);
	close(ends[1]);
	return false;
}

void pinned_write_close(struct pinned_write *pinned)
{
	if (pinned->state == PINNED_OPEN) {
		kernel_ring_close(&pinned->ring);
		munmap(pinned->staging, STAGING_BYTES);
		close(pinned->pipe);
		writer_count--;
	}
	pinned->state = PINNED_OFF;
}

void pinned_write_abandon(struct pinned_write *pinned)
{
	if (pinned->state == PINNED_OPEN) {
		kernel_ring_abandon(&pinned->ring);
		close(pinned->pipe);
		writer_count--;
	}
	pinned->state = PINNED_OFF;
}

static bool begin(struct pinned_write *pinned, const struct peer_memory *peer_memory)
{
	pinned->state = PINNED_OFF;
	if (peer_memory->memory.is_self || !kernel_ring_is_allowed() ||
	    getrandom(&pinned->proof, sizeof(pinned->proof), GRND_NONBLOCK) !=
		    (ssize_t)sizeof(pinned->proof))
		return false;
	pinned->state = PINNED_CLOSED;
	return true;
}

static inline bool covers(const struct pinned_write *pinned, const struct pinned_ranges *shared,
			  unsigned index, const struct pinned_request *request)
{
	const struct pinned_copy *copy = &pinned->copies[index];

	return copy->key_id == request->key_id && copy->serial % 2 &&
	       request->address - copy->begin < copy->byte_count &&
	       request->byte_count <= copy->byte_count - (request->address - copy->begin) &&
	       __atomic_load_n(&shared->ranges[index].serial, __ATOMIC_SEQ_CST) == copy->serial;
}

static bool find(struct pinned_write *pinned, const struct pinned_ranges *shared,
		 const struct pinned_request *request)
{
	for (unsigned index = 0; index < PINNED_RANGES_MAX; index++) {
		if (!covers(pinned, shared, index, request))
			continue;
		pinned->last = index;
		return true;
	}
	return false;
}

static void copy_windows(struct pinned_write *pinned, const struct pinned_ranges *shared)
{
	for (unsigned index = 0; index < PINNED_RANGES_MAX; index++) {
		const struct pinned_range *range = &shared->ranges[index];
		const uint32_t serial = __atomic_load_n(&range->serial, __ATOMIC_ACQUIRE);
		struct pinned_copy *copy = &pinned->copies[index];

		*copy = (struct pinned_copy){range->key_id, range->begin, range->byte_count,
					     serial};
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&range->serial, __ATOMIC_RELAXED) != serial)
			copy->serial = 0;
	}
}

/* Looks whether the peer answered the last pin request with a range. */
static void look_at_answer(struct pinned_write *pinned, const struct peer_memory *peer_memory,
			   const struct pinned_ranges *shared)
{
	pinned->answered = pinned->asked;
	copy_windows(pinned, shared);
	if (!find(pinned, shared, &pinned->asked_for)) {
		pinned->refused_count += pinned->refused_count < DOUBLINGS_MAX;
		return;
	}
	pinned->refused_count = 0;
	if (pinned->state == PINNED_CLOSED)
		pinned->state = open_writer(pinned, peer_memory, shared) ? PINNED_OPEN : PINNED_OFF;
}

static void ask(const struct rma *rma, const struct pinned_request *request)
{
	struct channel *channel = rma->channel;
	struct pinned_write *pinned = &channel->peer->pinned;
	const struct pin_ask question = {
		.key = request->key,
		.ask_number = pinned->asked + 1,
		.address = request->address,
		.proof_address = (uintptr_t)&pinned->proof,
	};
	struct ring_record *record = list_is_empty(&channel->waiting)
					     ? ring_reserve(&channel->out, sizeof(question))
					     : NULL;

	if (!record)
		return;
	pinned->asked++;
	pinned->asked_for = *request;
	memcpy(record->body, &question, sizeof(question));
	record->kind = RECORD_PIN_ASKED;
	record->port = rma->flow->destination_port;
	record->packet_count = 0;
	record->word = 0;
	record->byte_count = sizeof(question);
	ring_commit(&channel->out, record);
	channel_publish(channel);
}

/* Asks for a pinned range once many short WRITEs went to a block. One request is outstanding at a
 * time. */
static void count(const struct rma *rma, const struct pinned_request *request)
{
	struct pinned_write *pinned = &rma->channel->peer->pinned;
	const uint64_t block = request->address / PINNED_RANGE_BYTES;
	struct pinned_candidate *candidate =
		&pinned->candidates[(block ^ request->key >> KEY_TAG_BITS) % PINNED_CANDIDATES];

	/* A WRITE that crosses blocks fits no range. */
	if (pinned->asked != pinned->answered ||
	    (request->address + request->byte_count - 1) / PINNED_RANGE_BYTES != block)
		return;
	if (candidate->block != block || candidate->key != request->key)
		*candidate = (struct pinned_candidate){block, request->key, 0};
	if (++candidate->count < (uint32_t)WRITES_PER_QUESTION << pinned->refused_count)
		return;
	candidate->count = 0;
	ask(rma, request);
}

/* The range that was used last does not cover the request. */
static bool find_other(const struct rma *rma, const struct pinned_request *request)
{
	const struct channel *channel = rma->channel;
	const struct pinned_ranges *shared = &channel->rma_out->pinned;
	struct pinned_write *pinned = &channel->peer->pinned;

	if (pinned->state == PINNED_UNKNOWN && !begin(pinned, &channel->peer->peer_memory))
		return false;
	if (pinned->asked != pinned->answered &&
	    __atomic_load_n(&shared->answered, __ATOMIC_ACQUIRE) == pinned->asked)
		look_at_answer(pinned, &channel->peer->peer_memory, shared);
	if (pinned->state == PINNED_OPEN && find(pinned, shared, request))
		return true;
	if (pinned->state != PINNED_OFF)
		count(rma, request);
	return false;
}

/* Puts the bytes where the pipe reads next. */
static void stage(const struct pinned_write *pinned, const struct pinned_request *request)
{
	const uint32_t room = STAGING_BYTES - pinned->cursor;

	if (likely(request->byte_count <= room)) {
		memcpy(pinned->staging + pinned->cursor, request->bytes, request->byte_count);
		return;
	}
	memcpy(pinned->staging + pinned->cursor, request->bytes, room);
	memcpy(pinned->staging, request->bytes + room, request->byte_count - room);
}

/* The ring has read the bytes. A staging half that is used up goes into the pipe again. */
static bool advance(struct pinned_write *pinned, uint32_t byte_count)
{
	const uint32_t before = pinned->cursor;

	pinned->cursor = (before + byte_count) % STAGING_BYTES;
	if (likely(before / HALF_BYTES == pinned->cursor / HALF_BYTES))
		return true;
	return give_to_pipe(pinned, before / HALF_BYTES * HALF_BYTES, HALF_BYTES);
}

int pinned_write(const struct rma *rma, const struct pinned_request *request)
{
	struct pinned_write *pinned = &rma->channel->peer->pinned;
	const struct pinned_ranges *shared = &rma->channel->rma_out->pinned;

	if (unlikely(pinned->state == PINNED_OFF))
		return 0;
	if (unlikely(pinned->state != PINNED_OPEN ||
		     !covers(pinned, shared, pinned->last, request)) &&
	    !find_other(rma, request))
		return 0;
	stage(pinned, request);

	const int moved = kernel_ring_read(&pinned->ring, pinned->last, request->address,
					   request->byte_count);

	if (likely(moved == (int)request->byte_count && advance(pinned, request->byte_count)))
		return moved;
	/* From now on WRITEs go by CMA. */
	pinned_write_close(pinned);
	return moved >= 0 || moved == -EINPROGRESS ? moved : 0;
}
