/* SPDX-License-Identifier: Apache-2.0 */
/* Decides the faults of a link's packets, from a seed or a record. */
#include "fabric/faults/fault_judge.h"

#include "base/attributes.h"

/* Every link has a random sequence of its own, so that other links' traffic changes nothing
 * here. */
void fault_judge_seed(struct fault_judge *judge, uint64_t seed, uint64_t node_guid,
		      unsigned port_number)
{
	struct random mixer = random_seeded(seed);

	mixer.state = random_next(&mixer) ^ node_guid;
	mixer.state = random_next(&mixer) ^ port_number;
	judge->random = random_seeded(random_next(&mixer));
}

static bool happens(struct random *random, uint64_t chance)
{
	return chance && (random_next(random) >> 32) < chance;
}

static struct fault_decision decide(struct fault_judge *judge)
{
	const struct fault_settings *settings = &judge->settings;
	const struct {
		uint64_t chance;
		enum fault_action action;
	} chances[] = {
		{settings->drop, FAULT_DROP},
		{settings->corrupt, FAULT_CORRUPT},
		{settings->corrupt_inside, FAULT_CORRUPT_INSIDE},
		{settings->duplicate, FAULT_DUPLICATE},
		{settings->reorder, FAULT_REORDER},
		{settings->credit_loss, FAULT_CREDIT_LOSS},
	};
	struct fault_decision decision = {.sequence = judge->sequence};

	for (unsigned index = 0; index < ARRAY_COUNT(chances); index++)
		if (happens(&judge->random, chances[index].chance))
			decision.actions |= chances[index].action;
	if (settings->jitter) {
		decision.jitter = random_below(&judge->random, settings->jitter + 1);
		if (decision.jitter)
			decision.actions |= FAULT_DELAY;
	}
	if (decision.actions & (FAULT_CORRUPT | FAULT_CORRUPT_INSIDE))
		decision.bit = random_next(&judge->random);
	return decision;
}

static struct fault_decision recall(struct fault_judge *judge)
{
	struct fault_decision nothing = {.sequence = judge->sequence};

	while (judge->script_next < judge->script_count) {
		const struct fault_decision *next = &judge->script[judge->script_next];

		if (next->sequence > judge->sequence)
			return nothing;
		judge->script_next++;
		if (next->sequence == judge->sequence)
			return *next;
	}
	return nothing;
}

struct fault_decision fault_judge_next(struct fault_judge *judge)
{
	judge->sequence++;
	return judge->script ? recall(judge) : decide(judge);
}
