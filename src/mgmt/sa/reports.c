/* SPDX-License-Identifier: Apache-2.0 */
/* Reports to subscribers (management 4.8). */
#include "mgmt/sa/reports.h"

#include <stdlib.h>
#include <string.h>
#include "wire/sa_mad.h"
#include "wire/smp.h"

struct report_notice {
	unsigned holder_count;
	uint8_t bytes[REPORT_NOTICE_BYTES];
};

/* The reports of one subscription. It outlives the subscription while reports are under way. */
struct report_line {
	struct list link;	/* reports.lines */
	struct list ready_link; /* reports.ready, if it may send */
	struct subscription *subscription;
	unsigned on_wire_count;
	unsigned first, count;
	struct report_notice *waiting[REPORTS_WAITING_PER_LINE]; /* a ring buffer */
};

struct report_notice *report_notice_make(const struct notice *notice, const struct gid *issuer)
{
	struct report_notice *made = malloc(sizeof(*made));

	if (!made)
		return NULL;
	made->holder_count = 1;
	notice_encode(notice, made->bytes);
	memcpy(made->bytes + NOTICE_BYTES, issuer->bytes, sizeof(issuer->bytes));
	return made;
}

void report_notice_release(struct report_notice *notice)
{
	if (--notice->holder_count == 0)
		free(notice);
}

static struct report_line *line_of(struct list *link)
{
	return container_of(link, struct report_line, link);
}

static void take_first(struct report_line *line)
{
	report_notice_release(line->waiting[line->first]);
	line->first = (line->first + 1) % REPORTS_WAITING_PER_LINE;
	line->count--;
}

static void destroy_line(struct report_line *line)
{
	while (line->count)
		take_first(line);
	list_remove(&line->ready_link);
	list_remove(&line->link);
	free(line);
}

int reports_init(struct reports *reports, struct subscriptions *subscriptions,
		 const struct mad_transactions_options *options)
{
	static const struct report_class administration = {MAD_CLASS_SUBNET_ADMINISTRATION,
							   SA_CLASS_VERSION, SA_DATA_OFFSET};

	return reports_init_for_class(reports, &administration, subscriptions, options);
}

int reports_init_for_class(struct reports *reports, const struct report_class *class,
			   struct subscriptions *subscriptions,
			   const struct mad_transactions_options *options)
{
	*reports = (struct reports){.class = *class, .subscriptions = subscriptions};
	list_init(&reports->lines);
	list_init(&reports->ready);
	return mad_transactions_init(&reports->transactions, options);
}

void reports_release(struct reports *reports)
{
	while (!list_is_empty(&reports->lines))
		destroy_line(line_of(list_first(&reports->lines)));
	mad_transactions_release(&reports->transactions);
}

static void update_ready(struct reports *reports, struct report_line *line)
{
	bool is_ready =
		line->subscription && line->count && line->on_wire_count < REPORTS_ON_WIRE_PER_LINE;

	if (is_ready && !list_is_linked(&line->ready_link))
		list_append(&reports->ready, &line->ready_link);
	if (!is_ready && list_is_linked(&line->ready_link))
		list_remove(&line->ready_link);
}

static struct report_line *line_for(struct reports *reports, struct subscription *subscription)
{
	if (!subscription->reports) {
		struct report_line *line = calloc(1, sizeof(*line));

		if (!line)
			return NULL;
		list_init(&line->ready_link);
		list_append(&reports->lines, &line->link);
		line->subscription = subscription;
		subscription->reports = line;
	}
	return subscription->reports;
}

void reports_send(struct reports *reports, struct subscription *subscription,
		  struct report_notice *notice)
{
	struct report_line *line = line_for(reports, subscription);

	if (!line)
		return;
	if (line->count == REPORTS_WAITING_PER_LINE)
		take_first(line);
	line->waiting[(line->first + line->count) % REPORTS_WAITING_PER_LINE] = notice;
	notice->holder_count++;
	line->count++;
	update_ready(reports, line);
}

void reports_forget(struct reports *reports, struct subscription *subscription)
{
	struct report_line *line = subscription->reports;

	if (!line)
		return;
	subscription->reports = NULL;
	line->subscription = NULL;
	update_ready(reports, line);
	if (line->on_wire_count == 0)
		destroy_line(line);
}

static void make_report(const struct reports *reports, const struct report_line *line,
			struct mad_message *ret_message)
{
	const struct mad_header header = {.base_version = MAD_BASE_VERSION,
					  .management_class = reports->class.management_class,
					  .class_version = reports->class.class_version,
					  .method = MAD_REPORT,
					  .attribute_id = ATTRIBUTE_NOTICE};

	memset(ret_message, 0, sizeof(*ret_message));
	ret_message->address = line->subscription->subscriber;
	mad_header_encode(&header, ret_message->bytes);
	memcpy(ret_message->bytes + reports->class.data_offset, line->waiting[line->first]->bytes,
	       REPORT_NOTICE_BYTES);
}

/* Round robin: a line with more reports goes to the end. */
static void send_next(struct reports *reports)
{
	struct list *link;

	while (mad_transactions_has_room(&reports->transactions) &&
	       (link = list_pop(&reports->ready))) {
		struct report_line *line = container_of(link, struct report_line, ready_link);
		struct mad_message report;

		make_report(reports, line, &report);
		take_first(line);
		line->on_wire_count++;
		reports->sent_count++;
		mad_transactions_send(&reports->transactions, &report,
				      (struct mad_purpose){.subject = line});
		update_ready(reports, line);
	}
}

static void end_one(struct reports *reports, struct report_line *line)
{
	line->on_wire_count--;
	if (line->subscription)
		update_ready(reports, line);
	else if (line->on_wire_count == 0)
		destroy_line(line);
}

void reports_receive(struct reports *reports, const struct mad_message *message)
{
	struct mad_purpose purpose;

	if (message->bytes[3] != MAD_REPORT_RESPONSE ||
	    !mad_transactions_receive(&reports->transactions, message, &purpose))
		return;

	struct report_line *line = purpose.subject;

	if (line->subscription)
		line->subscription->failure_count = 0;
	end_one(reports, line);
}

static void fail_one(struct reports *reports, struct report_line *line)
{
	struct subscription *subscription = line->subscription;

	reports->failed_count++;
	if (subscription && ++subscription->failure_count >= REPORTS_FAILURES_MAX) {
		reports_forget(reports, subscription);
		subscriptions_remove(reports->subscriptions, subscription);
	}
	end_one(reports, line);
}

unsigned reports_transmit(struct reports *reports, time_ns now, unsigned messages_max,
			  struct mad_message ret_messages[])
{
	struct mad_message request;
	struct mad_purpose purpose;

	mad_transactions_transmit(&reports->transactions, now, 0, NULL);
	while (mad_transactions_take_failed(&reports->transactions, &purpose, &request))
		fail_one(reports, purpose.subject);
	send_next(reports);
	return mad_transactions_transmit(&reports->transactions, now, messages_max, ret_messages);
}

time_ns reports_deadline(const struct reports *reports)
{
	if (!list_is_empty(&reports->ready) && mad_transactions_has_room(&reports->transactions))
		return 0;
	return mad_transactions_deadline(&reports->transactions);
}
