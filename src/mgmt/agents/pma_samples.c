/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PortSamplesControl and PortSamplesResult: the counts of a port over an interval that the
 * requester chose (management 6.1).
 *
 * A node samples one port at a time and keeps the last result until the next sample starts. A tick
 * is a microsecond.
 */
#include "mgmt/agents/counter_attribute.h"

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
	struct timer timer; /* in the agents' memory: when it begins, then when it ends */
	struct node *node;
	bool chose_opcode;		     /* the port counts an opcode for this sample alone */
	struct port_samples_control control; /* as set, with the present sample_status */
	time_ns begins_at;
	time_ns ends_at;
	uint64_t counts[SAMPLE_COUNTERS]; /* the counters at the start, then the increments */
};

static uint64_t key_of(const struct node *node)
{
	return (uint64_t)(uintptr_t)node;
}

static struct pma_sample *find_sample(const struct agent_memory *memory, const struct node *node)
{
	return memory ? hash_table_get(&memory->samples, key_of(node)) : NULL;
}

void pma_samples_forget(struct agent_memory *memory, const struct node *node)
{
	struct pma_sample *sample = node ? find_sample(memory, node) : NULL;

	if (sample) {
		timer_queue_cancel(&memory->sample_timers, &sample->timer);
		hash_table_remove(&memory->samples, key_of(node));
		free(sample);
	}
	if (node)
		return;
	for (uint32_t i = 0; i < memory->samples.capacity; i++)
		free(memory->samples.entries[i].value);
	hash_table_release(&memory->samples);
	timer_queue_release(&memory->sample_timers);
}

/* A sample for this node; NULL: out of memory, or the agents have no memory. */
static struct pma_sample *obtain_sample(struct agent_memory *memory, struct node *node)
{
	struct pma_sample *sample = find_sample(memory, node);

	if (sample || !memory ||
	    timer_queue_reserve(&memory->sample_timers, memory->samples.count + 1) != 0)
		return sample;
	sample = calloc(1, sizeof(*sample));
	if (!sample)
		return NULL;
	sample->node = node;
	if (hash_table_put(&memory->samples, key_of(node), sample) != 0) {
		free(sample);
		return NULL;
	}
	return sample;
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

/* A counter that can be sampled. */
struct sampled_counter {
	uint16_t select;	    /* enum sample_counter */
	struct shown_counter first; /* of a counter per VL: that of VL0 */
	uint16_t vl_stride;	    /* 0: the counter is not one of a VL */
};

#define LEVEL_STRIDE  sizeof(struct level_counters)
#define DETAIL_STRIDE sizeof(uint64_t)

/* clang-format off */
static const struct sampled_counter sampled_counters[] = {
	{SAMPLE_XMIT_DATA,       {.home = LINK_COUNTER(transmit_words)}, 0},
	{SAMPLE_RCV_DATA,        {.home = LINK_COUNTER(receive_words)}, 0},
	{SAMPLE_XMIT_PACKETS,    {.home = LINK_COUNTER(transmit_packets)}, 0},
	{SAMPLE_RCV_PACKETS,     {.home = LINK_COUNTER(receive_packets)}, 0},
	{SAMPLE_XMIT_WAIT,       {.home = LINK_COUNTER(transmit_wait)}, 0},
	{SAMPLE_VL_XMIT_DATA,    {.home = LINK_COUNTER(transmit_levels[0].vl_words)}, LEVEL_STRIDE},
	{SAMPLE_VL_RCV_DATA,     {.home = LINK_COUNTER(receive_levels[0].vl_words)}, LEVEL_STRIDE},
	{SAMPLE_VL_XMIT_PACKETS, {.home = LINK_COUNTER(transmit_levels[0].vl_packets)}, LEVEL_STRIDE},
	{SAMPLE_VL_RCV_PACKETS,  {.home = LINK_COUNTER(receive_levels[0].vl_packets)}, LEVEL_STRIDE},
	{SAMPLE_LOCAL_PHYSICAL_ERRORS,    {.home = LINK_COUNTER(receive_physical_errors)}, 0},
	{SAMPLE_MALFORMED_PACKET_ERRORS,  {.home = LINK_COUNTER(receive_malformed_packets)}, 0},
	{SAMPLE_BUFFER_OVERRUN_ERRORS,    {.home = LINK_COUNTER(drops[DROP_OVERRUN])}, 0},
	{SAMPLE_DLID_MAPPING_ERRORS,      {.home = LINK_COUNTER(drops[DROP_NO_ROUTE])}, 0},
	{SAMPLE_VL_MAPPING_ERRORS,        {.home = LINK_COUNTER(drops[DROP_VL_MAPPING])}, 0},
	{SAMPLE_LOOPING_ERRORS,           {.home = LINK_COUNTER(drops[DROP_LOOPING])}, 0},
	{SAMPLE_INACTIVE_DISCARDS,        {.home = LINK_COUNTER(drops[DROP_PORT_INACTIVE])}, 0},
	{SAMPLE_NEIGHBOR_MTU_DISCARDS,    {.home = LINK_COUNTER(drops[DROP_MTU])}, 0},
	{SAMPLE_SWITCH_LIFETIME_DISCARDS, {.home = LINK_COUNTER(transmit_lifetime_discards)}, 0},
	{SAMPLE_SWITCH_HOQ_DISCARDS,      {.home = LINK_COUNTER(drops[DROP_HEAD_OF_QUEUE])}, 0},
	{SAMPLE_OP_RCV_PACKETS,   {.home = DETAIL_COUNTER(opcode.packets)}, 0},
	{SAMPLE_OP_RCV_DATA,      {.home = DETAIL_COUNTER(opcode.words)}, 0},
	{SAMPLE_XMIT_FLOW_PACKETS, {.home = LINK_COUNTER(transmit_flow_packets)}, 0},
	{SAMPLE_RCV_FLOW_PACKETS,  {.home = LINK_COUNTER(receive_flow_packets)}, 0},
	{SAMPLE_VL_OP_PACKETS,    {.home = DETAIL_COUNTER(opcode.vl_packets)}, DETAIL_STRIDE},
	{SAMPLE_VL_OP_DATA,       {.home = DETAIL_COUNTER(opcode.vl_words)}, DETAIL_STRIDE},
	{SAMPLE_VL_XMIT_FLOW_CTL_UPDATE_ERRORS, {.home = DETAIL_COUNTER(vl_update_errors)}, DETAIL_STRIDE},
	{SAMPLE_VL_XMIT_WAIT,     {.home = DETAIL_COUNTER(vl_transmit_wait)}, DETAIL_STRIDE},
	{SAMPLE_SW_PORT_VL_CONGESTION, {.home = DETAIL_COUNTER(vl_congestion)}, DETAIL_STRIDE},
};
/* clang-format on */

/* False: no such counter can be sampled. */
static bool find_counter(uint16_t select, struct shown_counter *ret_counter)
{
	unsigned vl = (select & SAMPLE_VL_MASK) >> SAMPLE_VL_SHIFT;

	for (size_t i = 0; i < ARRAY_COUNT(sampled_counters); i++) {
		const struct sampled_counter *sampled = &sampled_counters[i];
		uint16_t own = sampled->vl_stride ? select & (uint16_t)~SAMPLE_VL_MASK : select;

		if (sampled->select != own)
			continue;
		*ret_counter = sampled->first;
		ret_counter->kept_at = (uint16_t)(sampled->first.kept_at + vl * sampled->vl_stride);
		return true;
	}
	return false;
}

static uint64_t counter_value(struct port *port, uint16_t select)
{
	struct shown_counter counter;
	const uint64_t *kept =
		find_counter(select, &counter) ? counter_in_port(port, &counter) : NULL;

	return kept ? *kept : 0;
}

static struct port *sampled_port(const struct pma_sample *sample)
{
	return &sample->node->ports[sample->control.port_select];
}

static void take_counts(const struct agent_environment *environment, struct pma_sample *sample,
			time_ns now)
{
	unsigned port_number = sample->control.port_select;
	struct port *port = sampled_port(sample);

	counters_refresh(environment, sample->node, port_number, port_number, now);
	for (unsigned i = 0; i < SAMPLE_COUNTERS; i++)
		sample->counts[i] =
			counter_value(port, selects(&sample->control)[i]) - sample->counts[i];
}

static void advance(const struct agent_environment *environment, struct pma_sample *sample,
		    time_ns now)
{
	if (sample->control.sample_status == SAMPLE_STARTING && sample->begins_at <= now) {
		memset(sample->counts, 0, sizeof(sample->counts));
		take_counts(environment, sample, now);
		sample->control.sample_status = SAMPLE_RUNNING;
	}
	if (sample->control.sample_status == SAMPLE_RUNNING && sample->ends_at <= now) {
		take_counts(environment, sample, now);
		sample->control.sample_status = SAMPLE_DONE;
		if (sample->chose_opcode)
			counter_stop_opcode(environment, sampled_port(sample));
		sample->chose_opcode = false;
	}
}

void pma_samples_run(const struct agent_environment *environment, time_ns now)
{
	struct timer *timer;

	while (environment->memory &&
	       (timer = timer_queue_pop(&environment->memory->sample_timers, now))) {
		struct pma_sample *sample = container_of(timer, struct pma_sample, timer);

		advance(environment, sample, now);
		if (sample->control.sample_status == SAMPLE_RUNNING)
			timer_queue_arm(&environment->memory->sample_timers, timer,
					sample->ends_at);
	}
}

static uint64_t bits(unsigned first, unsigned last)
{
	return (UINT64_MAX >> (63 - last)) & ~((UINT64_C(1) << first) - 1);
}

/* OptionMask: every optional counter but the lengths of queues. */
static uint64_t options(const struct node *node)
{
	unsigned congestion_first = OPTION_SW_PORT_VL_CONGESTION + (node_is_switch(node) ? 0 : 1);

	return bits(OPTION_VL_XMIT_DATA, OPTION_EXTENDED_SPEEDS) |
	       bits(congestion_first, OPTION_RCV_DATA_SL);
}

/* The agent's capabilities and the requested values. */
static void show_control(const struct node *node, const struct port_samples_control *control,
			 uint8_t *ret_data)
{
	struct port_samples_control shown = *control;

	shown.tick = TICK_CODE;
	shown.counter_width = COUNTER_WIDTH_32;
	memset(&shown.counter_mask0, CAN_CHOOSE_ANY, SAMPLE_COUNTERS);
	shown.sample_mechanisms = 0;
	shown.option_mask = options(node);
	shown.vendor_mask = 0;
	shown.samples_only_option_mask = 0;
	port_samples_control_encode(&shown, ret_data);
}

enum mad_status pma_samples_control_get(const struct gs_request *request, uint8_t *ret_data)
{
	struct port_samples_control control;

	pma_samples_run(request->environment, request->now);
	port_samples_control_decode(request->data, &control);
	if (request->header.attribute_modifier ||
	    !counter_port_exists(request->node, control.port_select))
		return MAD_STATUS_BAD_FIELD;

	const struct pma_sample *sample = find_sample(request->environment->memory, request->node);
	const struct port_samples_control idle = {.port_select = control.port_select};

	show_control(request->node, sample ? &sample->control : &idle, ret_data);
	return MAD_STATUS_OK;
}

static bool can_sample(const struct node *node, struct port_samples_control *control)
{
	for (unsigned i = 0; i < SAMPLE_COUNTERS; i++) {
		uint16_t select = selects(control)[i];
		struct shown_counter counter;

		if (select != SAMPLE_NOTHING && !find_counter(select, &counter))
			return false;
	}
	return counter_port_exists(node, control->port_select);
}

static bool counts_opcode(uint16_t select)
{
	unsigned of_a_lane = select & ~(unsigned)SAMPLE_VL_MASK;

	return select == SAMPLE_OP_RCV_PACKETS || select == SAMPLE_OP_RCV_DATA ||
	       of_a_lane == SAMPLE_VL_OP_PACKETS || of_a_lane == SAMPLE_VL_OP_DATA;
}

/* A sample of packets of one opcode lets the port count it while the sample lasts. An opcode that
 * the port counts already for a manager goes on to be counted afterwards. False: out of memory. */
static bool choose_opcode(const struct agent_environment *environment, struct pma_sample *sample)
{
	struct port *port = sampled_port(sample);
	bool is_needed = false;

	for (unsigned i = 0; i < SAMPLE_COUNTERS; i++)
		is_needed |= counts_opcode(selects(&sample->control)[i]);
	sample->chose_opcode = is_needed && !port->counts_opcode;
	return !is_needed || counter_choose_opcode(environment, port, sample->control.op_code) == 0;
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
		show_control(request->node, &sample->control, ret_data);
		return MAD_STATUS_OK;
	}
	sample = obtain_sample(memory, request->node);
	if (!sample)
		return MAD_STATUS_BUSY;
	sample->control = control;
	if (!choose_opcode(request->environment, sample))
		return MAD_STATUS_BUSY;
	sample->control.sample_status = SAMPLE_STARTING;
	sample->begins_at = request->now + control.sample_start * TICK;
	sample->ends_at = sample->begins_at + control.sample_interval * TICK;
	timer_queue_arm(&memory->sample_timers, &sample->timer, sample->begins_at);
	pma_samples_run(request->environment, request->now);
	show_control(request->node, &sample->control, ret_data);
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
