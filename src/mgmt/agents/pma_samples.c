/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PortSamplesControl and PortSamplesResult: the counts of a port over an interval that the
 * requester chose (management 6.1).
 *
 * A node samples one port at a time and keeps the last result until the next sample starts. A tick
 * is a microsecond.
 */
#include "mgmt/agents/gs_agent.h"

#include <stdlib.h>
#include <string.h>
#include "wire/performance.h"

enum {
	/* The unit is the byte time of a 2.5 Gb/s lane, less one: 250 x 4 ns. */
	TICK_CODE = 249,
	COUNTER_WIDTH_32 = 4,
	CAN_CHOOSE_ANY = 1,
};

#define TICK MICROSECONDS(1)

struct pma_sample {
	struct list link; /* in the agents' memory */
	struct node *node;
	struct port_samples_control control; /* as set, with the present sample_status */
	time_ns begins_at;
	time_ns ends_at;
	uint64_t counts[SAMPLE_COUNTERS]; /* the counters at the start, then the increments */
};

static struct pma_sample *sample_of(struct list *link)
{
	return container_of(link, struct pma_sample, link);
}

static struct pma_sample *find_sample(const struct agent_memory *memory, const struct node *node)
{
	if (!memory)
		return NULL;
	list_for_each (link, &memory->samples) {
		if (sample_of(link)->node == node)
			return sample_of(link);
	}
	return NULL;
}

void pma_samples_forget(struct agent_memory *memory, const struct node *node)
{
	list_for_each_safe (link, &memory->samples) {
		if (node && sample_of(link)->node != node)
			continue;
		list_remove(link);
		free(sample_of(link));
	}
}

/* The fifteen CounterSelect fields in the struct. */
static uint16_t *selects(struct port_samples_control *control)
{
	static_assert(offsetof(struct port_samples_control, counter_select14) -
				      offsetof(struct port_samples_control, counter_select0) ==
			      (SAMPLE_COUNTERS - 1) * sizeof(uint16_t),
		      "the selects lie in a row");
	return &control->counter_select0;
}

static uint64_t counter_value(const struct link_counters *counters, uint16_t select)
{
	switch ((enum sample_counter)select) {
	case SAMPLE_XMIT_DATA:
		return counters->transmit_words;
	case SAMPLE_RCV_DATA:
		return counters->receive_words;
	case SAMPLE_XMIT_PACKETS:
		return counters->transmit_packets;
	case SAMPLE_RCV_PACKETS:
		return counters->receive_packets;
	case SAMPLE_XMIT_WAIT:
		return counters->transmit_wait;
	case SAMPLE_NOTHING:
		break;
	}
	return 0;
}

static void take_counts(const struct agent_environment *environment, struct pma_sample *sample)
{
	struct port *port = &sample->node->ports[sample->control.port_select];

	if (environment->refresh_counters)
		environment->refresh_counters(environment->context, sample->node);
	for (unsigned i = 0; i < SAMPLE_COUNTERS; i++)
		sample->counts[i] = counter_value(&port->counters, selects(&sample->control)[i]) -
				    sample->counts[i];
}

static time_ns sample_deadline(const struct pma_sample *sample)
{
	switch ((enum sample_status)sample->control.sample_status) {
	case SAMPLE_STARTING:
		return sample->begins_at;
	case SAMPLE_RUNNING:
		return sample->ends_at;
	case SAMPLE_DONE:
		break;
	}
	return TIME_NEVER;
}

static void advance(const struct agent_environment *environment, struct pma_sample *sample,
		    time_ns now)
{
	if (sample->control.sample_status == SAMPLE_STARTING && sample->begins_at <= now) {
		memset(sample->counts, 0, sizeof(sample->counts));
		take_counts(environment, sample);
		sample->control.sample_status = SAMPLE_RUNNING;
	}
	if (sample->control.sample_status == SAMPLE_RUNNING && sample->ends_at <= now) {
		take_counts(environment, sample);
		sample->control.sample_status = SAMPLE_DONE;
	}
}

void pma_samples_run(const struct agent_environment *environment, time_ns now)
{
	if (!environment->memory || environment->memory->samples_due_at > now)
		return;
	environment->memory->samples_due_at = TIME_NEVER;
	list_for_each (link, &environment->memory->samples) {
		struct pma_sample *sample = sample_of(link);

		advance(environment, sample, now);
		environment->memory->samples_due_at =
			time_earlier(environment->memory->samples_due_at, sample_deadline(sample));
	}
}

/* The agent's capabilities and the requested values. */
static void show_control(const struct port_samples_control *control, uint8_t *ret_data)
{
	struct port_samples_control shown = *control;

	shown.tick = TICK_CODE;
	shown.counter_width = COUNTER_WIDTH_32;
	memset(&shown.counter_mask0, CAN_CHOOSE_ANY, SAMPLE_COUNTERS);
	shown.sample_mechanisms = 0;
	shown.option_mask = 0;
	shown.vendor_mask = 0;
	shown.samples_only_option_mask = 0;
	port_samples_control_encode(&shown, ret_data);
}

static bool port_exists(const struct node *node, uint8_t port_number)
{
	return port_number >= (node_is_switch(node) ? 0 : 1) && port_number <= node->port_count;
}

enum mad_status pma_samples_control_get(const struct gs_request *request, uint8_t *ret_data)
{
	struct port_samples_control control;

	pma_samples_run(request->environment, request->now);
	port_samples_control_decode(request->data, &control);
	if (request->header.attribute_modifier || !port_exists(request->node, control.port_select))
		return MAD_STATUS_BAD_FIELD;

	const struct pma_sample *sample = find_sample(request->environment->memory, request->node);
	const struct port_samples_control idle = {.port_select = control.port_select};

	show_control(sample ? &sample->control : &idle, ret_data);
	return MAD_STATUS_OK;
}

static bool can_sample(const struct node *node, struct port_samples_control *control)
{
	for (unsigned i = 0; i < SAMPLE_COUNTERS; i++) {
		if (selects(control)[i] > SAMPLE_XMIT_WAIT)
			return false;
	}
	return port_exists(node, control->port_select);
}

enum mad_status pma_samples_control_set(const struct gs_request *request, uint8_t *ret_data)
{
	struct agent_memory *memory = request->environment->memory;
	struct port_samples_control control;

	pma_samples_run(request->environment, request->now);
	port_samples_control_decode(request->data, &control);
	if (request->header.attribute_modifier || !can_sample(request->node, &control))
		return MAD_STATUS_BAD_FIELD;

	struct pma_sample *sample = find_sample(memory, request->node);

	/* A running sample goes on, and the response shows it. */
	if (sample && sample->control.sample_status != SAMPLE_DONE) {
		show_control(&sample->control, ret_data);
		return MAD_STATUS_OK;
	}
	if (!sample && memory) {
		sample = calloc(1, sizeof(*sample));
		if (sample)
			list_append(&memory->samples, &sample->link);
	}
	if (!sample)
		return MAD_STATUS_BUSY;
	sample->node = request->node;
	sample->control = control;
	sample->control.sample_status = SAMPLE_STARTING;
	sample->begins_at = request->now + control.sample_start * TICK;
	sample->ends_at = sample->begins_at + control.sample_interval * TICK;
	memory->samples_due_at = time_earlier(memory->samples_due_at, sample->begins_at);
	pma_samples_run(request->environment, request->now);
	show_control(&sample->control, ret_data);
	return MAD_STATUS_OK;
}

static uint64_t result_of(const struct pma_sample *sample, unsigned index)
{
	return sample->control.sample_status == SAMPLE_DONE ? sample->counts[index] : 0;
}

/* The sample that a result shows; NULL: none. */
static enum mad_status find_result(const struct gs_request *request,
				   const struct pma_sample **ret_sample)
{
	pma_samples_run(request->environment, request->now);
	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	*ret_sample = find_sample(request->environment->memory, request->node);
	return MAD_STATUS_OK;
}

enum mad_status pma_samples_result_get(const struct gs_request *request, uint8_t *ret_data)
{
	struct port_samples_result result = {0};
	const struct pma_sample *sample;
	enum mad_status status;

	static_assert(offsetof(struct port_samples_result, counter14) -
				      offsetof(struct port_samples_result, counter0) ==
			      (SAMPLE_COUNTERS - 1) * sizeof(uint32_t),
		      "the counters lie in a row");
	status = find_result(request, &sample);
	if (status != MAD_STATUS_OK)
		return status;
	if (sample) {
		result.tag = sample->control.tag;
		result.sample_status = sample->control.sample_status;
		for (unsigned i = 0; i < SAMPLE_COUNTERS; i++) {
			uint64_t count = result_of(sample, i);

			(&result.counter0)[i] = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
		}
	}
	port_samples_result_encode(&result, ret_data);
	return MAD_STATUS_OK;
}

enum mad_status pma_samples_result_extended_get(const struct gs_request *request, uint8_t *ret_data)
{
	struct port_samples_result_extended result = {.extended_width = SAMPLES_EXTENDED_WIDTH_64};
	const struct pma_sample *sample;
	enum mad_status status;

	status = find_result(request, &sample);
	if (status != MAD_STATUS_OK)
		return status;
	if (sample) {
		result.tag = sample->control.tag;
		result.sample_status = sample->control.sample_status;
		for (unsigned i = 0; i < SAMPLE_COUNTERS; i++)
			(&result.counter0)[i] = result_of(sample, i);
	}
	port_samples_result_extended_encode(&result, ret_data);
	return MAD_STATUS_OK;
}
