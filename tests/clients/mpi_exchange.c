/* SPDX-License-Identifier: Apache-2.0 */
/* MPI ranks exchange messages of several sizes, each with each, and check each byte; then they use
 * reduce, broadcast and scatter. The client test "mpi" compiles it with mpicc. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES_MAX = 1 << 20, SUM_COUNT = 1000, BLOCK = 3000 };

static const int sizes[] = {0, 1, 100, 5000, 70000, BYTES_MAX};

enum { SIZE_COUNT = sizeof(sizes) / sizeof(sizes[0]) };

static unsigned char pattern(int from, int to, int round, int index)
{
	return (unsigned char)(from * 101 + to * 17 + round * 31 + index * 7 + (index >> 8));
}

static int complain(const char *what, int rank, int peer, int index)
{
	fprintf(stderr, "rank %d: byte %d of %s with %d is wrong\n", rank, index, what, peer);
	return 1;
}

/* To one rank and from another at the same time. */
static int exchange(int rank, int to, int from, int round, unsigned char *mine,
		    unsigned char *theirs)
{
	int bytes = sizes[round];

	for (int i = 0; i < bytes; i++) {
		mine[i] = pattern(rank, to, round, i);
		theirs[i] = (unsigned char)~pattern(from, rank, round, i);
	}
	MPI_Sendrecv(mine, bytes, MPI_UNSIGNED_CHAR, to, round, theirs, bytes, MPI_UNSIGNED_CHAR,
		     from, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < bytes; i++)
		if (theirs[i] != pattern(from, rank, round, i))
			return complain("a message", rank, from, i);
	return 0;
}

static int sum_up(int rank, int rank_count)
{
	long mine[SUM_COUNT], all[SUM_COUNT];

	for (long i = 0; i < SUM_COUNT; i++)
		mine[i] = i * (rank + 1);
	MPI_Allreduce(mine, all, SUM_COUNT, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	for (long i = 0; i < SUM_COUNT; i++)
		if (all[i] != i * rank_count * (rank_count + 1) / 2)
			return complain("the sum", rank, -1, (int)i);
	return 0;
}

static int all_to_all(int rank, int rank_count, unsigned char *mine, unsigned char *theirs)
{
	for (int to = 0; to < rank_count; to++)
		for (int i = 0; i < BLOCK; i++)
			mine[to * BLOCK + i] = pattern(rank, to, 99, i);
	MPI_Alltoall(mine, BLOCK, MPI_UNSIGNED_CHAR, theirs, BLOCK, MPI_UNSIGNED_CHAR,
		     MPI_COMM_WORLD);
	for (int from = 0; from < rank_count; from++)
		for (int i = 0; i < BLOCK; i++)
			if (theirs[from * BLOCK + i] != pattern(from, rank, 99, i))
				return complain("a block", rank, from, i);
	return 0;
}

static int spread(int rank, unsigned char *bytes)
{
	for (int i = 0; i < BYTES_MAX; i++)
		bytes[i] = rank == 0 ? pattern(0, 0, 7, i) : 0;
	MPI_Bcast(bytes, BYTES_MAX, MPI_UNSIGNED_CHAR, 0, MPI_COMM_WORLD);
	for (int i = 0; i < BYTES_MAX; i++)
		if (bytes[i] != pattern(0, 0, 7, i))
			return complain("the broadcast", rank, 0, i);
	return 0;
}

int main(int argument_count, char **arguments)
{
	unsigned char *mine = malloc(BYTES_MAX), *theirs = malloc(BYTES_MAX);
	int rank, rank_count, faults = 0, all_faults = -1;

	MPI_Init(&argument_count, &arguments);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
	if (rank_count < 2 || rank_count > BYTES_MAX / BLOCK || !mine || !theirs)
		MPI_Abort(MPI_COMM_WORLD, 2);
	for (int shift = 1; shift < rank_count; shift++)
		for (int round = 0; round < SIZE_COUNT; round++)
			faults += exchange(rank, (rank + shift) % rank_count,
					   (rank + rank_count - shift) % rank_count, round, mine,
					   theirs);
	faults += sum_up(rank, rank_count);
	faults += all_to_all(rank, rank_count, mine, theirs);
	faults += spread(rank, mine);
	MPI_Allreduce(&faults, &all_faults, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d on %s: %d faults\n", rank, getenv("SOFTIB_HOST"), all_faults);
	MPI_Finalize();
	free(mine);
	free(theirs);
	return all_faults != 0;
}
