/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that misuses what softibd shares with it: files, pages, rings, doorbells, and the words
 * beside a ring by which peers exchange RMA.
 *
 *   hostile_shared SOCKET HOST ATTACK SEED VICTIM
 *
 * VICTIM is a file with "LID QPN" of somebody else's queue pair, as kill_traffic writes it. Exit
 * code 0: the attack ran to its end, and was refused where it must be.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/random.h"
#include "hostile_attacker.h"
#include "ipc/doorbell.h"
#include "ipc/memory_file.h"
#include "ipc/rma_area.h"

enum {
	IDS_TRIED = 2000,
	DEATHS = 30,
	HEIRS = 4,
	DOORBELL_ROUNDS = 2000,
	AREA_WORDS = 200000,
	QUESTIONS = 20000,
	PAGE_BYTES = 4096,
	PIPE_BYTES_MAX = 1 << 20,
};

static size_t size_of(int file)
{
	struct stat status;

	CHECK(fstat(file, &status) == 0);
	return (size_t)status.st_size;
}

/* Another open file of the same memory, with all rights that the system gives. */
static int reopen(int file)
{
	char path[32];
	int copy;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	copy = open(path, O_RDWR | O_CLOEXEC);
	CHECK(copy >= 0);
	return copy;
}

/* Rings that softibd gave to others: their numbers are easy to guess. */
static void attack_foreign_rings(struct attacker *attacker)
{
	char text[64];

	attacker_attach(attacker);
	for (unsigned id = 0; id < IDS_TRIED; id++) {
		snprintf(text, sizeof(text), "{\"command\":\"ring\",\"id\":%u}", id);
		CHECK(attacker_is_refused(attacker, text, -1, ENOENT));
		snprintf(text, sizeof(text), "{\"command\":\"exposure\",\"id\":%u}", id);
		CHECK(attacker_is_refused(attacker, text, -1, ENOENT));
		snprintf(text, sizeof(text), "{\"command\":\"refuse\",\"id\":%u}", id);
		CHECK(attacker_is_refused(attacker, text, -1, ENOENT));
	}
	attacker_leave(attacker);
}

/* A peer that maps the file would get SIGBUS beyond its new end. */
static void resize(int file)
{
	const off_t byte_count = (off_t)size_of(file);
	const off_t sizes[] = {0, byte_count / 2, byte_count + PAGE_BYTES};
	int copy = reopen(file);

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		CHECK(ftruncate(file, sizes[i]) != 0 && errno == EPERM);
		CHECK(ftruncate(copy, sizes[i]) != 0 && errno == EPERM);
	}
	CHECK(fallocate(copy, 0, byte_count, PAGE_BYTES) != 0 && errno == EPERM);
	CHECK((off_t)size_of(file) == byte_count);
	close(copy);
}

static void attack_resized_files(struct attacker *attacker)
{
	struct control_message message;
	struct direct direct;

	attacker_attach(attacker);
	attacker_fetch_ring(attacker, attacker_find_ring(attacker), &direct, &message);
	for (unsigned i = 0; i < ATTACHED_FILES; i++)
		resize(attacker->files[i]);
	resize(message.descriptors[0]);
	control_message_release(&message);
	direct_close(&direct);
	attacker_leave(attacker);
}

/* The pages of a file go back to the system, while others read and write there. */
static void attack_punched_files(struct attacker *attacker)
{
	struct control_message message;
	struct direct direct;

	attacker_attach(attacker);
	attacker_fetch_ring(attacker, attacker_find_ring(attacker), &direct, &message);

	const int files[] = {attacker->files[PROCESS_MEMORY], attacker->files[EXPORTED_RKEYS],
			     message.descriptors[0]};

	for (unsigned round = 0; round < 100; round++) {
		for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++)
			CHECK(fallocate(files[i], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
					(off_t)size_of(files[i])) == 0);
		doorbell_ring(direct.doorbell);
		doorbell_ring(attacker->softibd_doorbell);
	}
	control_message_release(&message);
	direct_close(&direct);
	attacker_leave(attacker);
}

/* The page that softibd alone may write: a word there ends every program of the fabric. */
static void attack_fabric_page(struct attacker *attacker)
{
	attacker_attach(attacker);

	const int page = attacker->files[FABRIC_PAGE];
	const int copy = reopen(page);
	const uint32_t is_down = 1;
	const struct fabric_page *seen = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, copy, 0);
	const int files[] = {page, copy};

	CHECK(seen != MAP_FAILED);
	for (unsigned i = 0; i < 2; i++) {
		CHECK(mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, files[i], 0) ==
			      MAP_FAILED &&
		      errno == EPERM);
		CHECK(pwrite(files[i], &is_down, sizeof(is_down),
			     offsetof(struct fabric_page, is_down)) < 0 &&
		      errno == EPERM);
		CHECK(fallocate(files[i], FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
				PAGE_BYTES) != 0 &&
		      errno == EPERM);
	}
	CHECK(mprotect((void *)(uintptr_t)seen, PAGE_BYTES, PROT_READ | PROT_WRITE) != 0 &&
	      errno == EACCES);
	CHECK(!seen->is_down && seen->program_count >= 3);
	munmap((void *)(uintptr_t)seen, PAGE_BYTES);
	close(copy);
	attacker_leave(attacker);
}

/* Grants, progress, hazard words and pinned ranges of both ways, as the victim reads them. */
static void attack_rma_words(struct attacker *attacker)
{
	struct direct_layout layout = direct_layout();
	struct direct direct;

	attacker_attach(attacker);
	attacker_get_ring(attacker, &direct);
	for (unsigned i = 0; i < AREA_WORDS; i++) {
		uint8_t *area = (uint8_t *)direct.memory +
				layout.area_offset[random_below(&attacker->random, 2)];
		/* Half of the words among those of the first queue pairs, and the hazard word. */
		size_t room = random_below(&attacker->random, 2) ? 1024 : sizeof(struct rma_area);
		uint64_t *word = (uint64_t *)(void *)area +
				 random_below(&attacker->random, room / sizeof(*word));

		__atomic_store_n(word, random_next(&attacker->random), __ATOMIC_RELAXED);
		if (i % 1000 == 0)
			doorbell_ring(direct.doorbell);
	}
	/* It leaves in the middle of accesses to the victim's memory, as it were. */
	for (unsigned way = 0; way < 2; way++)
		((struct rma_area *)(void *)((uint8_t *)direct.memory + layout.area_offset[way]))
			->hazard = 1;
	CHECK(attacker_is_served(attacker));
	direct_close(&direct);
	attacker_leave(attacker);
}

static void put_expose(struct attacker *attacker, uint32_t ring_id)
{
	struct ring_record *record = attacker_reserve(&attacker->up, 0);

	record->kind = RECORD_EXPOSE;
	record->word = ring_id;
	record->byte_count = 0;
	ring_commit(&attacker->up, record);
	(void)!ring_publish(&attacker->up);
	doorbell_ring(attacker->softibd_doorbell);
}

/* Keys of its own that say anything, which the victim is told to map; and those of rings that are
 * not its own. */
static void attack_exported_rkeys(struct attacker *attacker)
{
	const size_t key_bytes = rkey_export_layout().shared_offset;
	struct direct direct;

	attacker_attach(attacker);

	const uint32_t ring_id = attacker_find_ring(attacker);
	struct control_message message;
	uint64_t *words = mmap(NULL, key_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			       attacker->files[EXPORTED_RKEYS], 0);

	CHECK(words != MAP_FAILED);
	attacker_fetch_ring(attacker, ring_id, &direct, &message);
	control_message_release(&message);
	for (uint32_t id = 0; id < ring_id + 10; id++)
		put_expose(attacker, id);
	for (size_t i = 0; i < key_bytes / sizeof(words[0]); i++)
		__atomic_store_n(&words[i], random_next(&attacker->random), __ATOMIC_RELAXED);
	CHECK(attacker_is_served(attacker));
	munmap(words, key_bytes);
	direct_close(&direct);
	attacker_leave(attacker);
}

static void flood_doorbell(struct attacker *attacker, int doorbell)
{
	static uint8_t bytes[PIPE_BYTES_MAX];
	const int sizes[] = {PAGE_BYTES, PIPE_BYTES_MAX};
	const int flags[] = {O_NONBLOCK, O_NONBLOCK | O_DIRECT /* a read takes one ring */};

	for (unsigned round = 0; round < DOORBELL_ROUNDS; round++) {
		size_t count = 1 + random_below(&attacker->random, sizeof(bytes));

		/* EBUSY: it holds more than that; EPERM: this user's pipes hold all they may. */
		if (round % 100 == 0 && fcntl(doorbell, F_SETPIPE_SZ, sizes[round / 100 % 2]) < 0)
			CHECK(errno == EBUSY || errno == EPERM);
		CHECK(fcntl(doorbell, F_SETFL, flags[round % 2]) == 0);
		if (write(doorbell, bytes, count) < 0)
			CHECK(errno == EAGAIN);
		/* And it takes rings of others. */
		if (round % 2 && read(doorbell, bytes, count) < 0)
			CHECK(errno == EAGAIN);
	}
}

/* Doorbells rung faster than they are emptied, made small and large, and emptied by strangers. */
static void attack_doorbells(struct attacker *attacker)
{
	struct direct direct;

	attacker_attach(attacker);
	attacker_get_ring(attacker, &direct);
	flood_doorbell(attacker, attacker->softibd_doorbell);
	flood_doorbell(attacker, attacker->own_doorbell);
	flood_doorbell(attacker, direct.doorbell);
	CHECK(attacker_is_served(attacker));
	direct_close(&direct);
	attacker_leave(attacker);
}

/* Asks until softibd has no room for the answers, and reads none. */
static void attack_unread_answers(struct attacker *attacker)
{
	attacker_attach(attacker);
	for (unsigned i = 0; i < QUESTIONS && ring_room(&attacker->up) > PAGE_BYTES; i++) {
		attacker_put_question(attacker, i, attacker->victim_lid, attacker->victim_qpn);
		(void)!ring_publish(&attacker->up);
		doorbell_ring(attacker->softibd_doorbell);
	}
	CHECK(attacker_is_served(attacker));
	attacker_leave(attacker);
}

/* In the middle of everything: a record that is half written, an access that has begun, words that
 * say it sleeps and waits for room. */
static void hold_everything(struct attacker *attacker, struct direct *ret_direct)
{
	struct direct_layout layout = direct_layout();
	struct ring_record *record;

	attacker_attach(attacker);
	attacker_get_ring(attacker, ret_direct);
	record = attacker_reserve(&ret_direct->out, 1024);
	memset(record->body, 0xa5, 1024);
	for (unsigned way = 0; way < 2; way++)
		((struct rma_area *)(void *)((uint8_t *)ret_direct->memory +
					     layout.area_offset[way]))
			->hazard = 1;
	ret_direct->in->consumer_sleeping = 1;
	ret_direct->out.shared->producer_waiting = 1;
	attacker_put_question(attacker, 0, attacker->victim_lid, attacker->victim_qpn);
}

static void attack_deaths(struct attacker *attacker)
{
	for (unsigned i = 0; i < DEATHS; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (child == 0) {
			struct direct direct;

			hold_everything(attacker, &direct);
			raise(SIGKILL);
		}

		int status;

		CHECK(waitpid(child, &status, 0) == child);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
}

/* Waits until the other end of the pipe is closed, and holds all that its parent had. */
static void inherit(int pipe_end)
{
	char byte;

	CHECK(read(pipe_end, &byte, 1) == 0);
	_exit(0);
}

/* A program that is gone, and children of it that hold its sockets, memory and doorbells. */
static void attack_heirs(struct attacker *attacker)
{
	int ends[2];
	unsigned reaped = 0;

	CHECK(pipe(ends) == 0);
	CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);

	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0) {
		struct direct direct;

		close(ends[1]);
		hold_everything(attacker, &direct);
		for (unsigned i = 0; i < HEIRS; i++) {
			pid_t heir = fork();

			CHECK(heir >= 0);
			if (heir == 0)
				inherit(ends[0]);
		}
		_exit(0);
	}

	int status;

	CHECK(waitpid(child, &status, 0) == child && status == 0);
	/* Its heirs live; others get on. */
	attacker_attach(attacker);
	CHECK(attacker_is_served(attacker));
	attacker_leave(attacker);
	close(ends[0]);
	close(ends[1]);
	while (wait(&status) > 0) {
		CHECK(status == 0);
		reaped++;
	}
	CHECK(reaped == HEIRS);
}

static const struct attack attacks[] = {
	{"foreign_rings", attack_foreign_rings},
	{"resized_files", attack_resized_files},
	{"punched_files", attack_punched_files},
	{"fabric_page", attack_fabric_page},
	{"rma_words", attack_rma_words},
	{"exported_rkeys", attack_exported_rkeys},
	{"doorbells", attack_doorbells},
	{"unread_answers", attack_unread_answers},
	{"deaths", attack_deaths},
	{"heirs", attack_heirs},
	{NULL, NULL},
};

int main(int argument_count, char **arguments)
{
	return attacker_main(argument_count, arguments, attacks);
}
