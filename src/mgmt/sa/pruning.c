/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast pruning. */
#include "mgmt/sa/pruning.h"

#include "mgmt/sa/members.h"
#include "mgmt/sa/sa.h"

void pruning_init(struct sa *sa)
{
	sa->pruning = (struct pruning){.ask_at = TIME_NEVER, .check_at = TIME_NEVER};
}

void pruning_start(struct sa *sa, time_ns now)
{
	if (sa->options.prune_interval && sa->options.owner.ask_reregistration &&
	    sa->pruning.ask_at == TIME_NEVER)
		sa->pruning.ask_at = now + sa->options.prune_interval;
}

void pruning_confirm(struct multicast_member *member, uint64_t registrar_guid, uint8_t join_state)
{
	member->registrar_guid = registrar_guid;
	member->confirmed_states |= join_state;
}

/* The port that joined; the member itself if that port is gone. */
static uint64_t port_to_ask(const struct sa *sa, const struct multicast_member *member)
{
	return subnet_port_by_guid(sa->subnet, member->registrar_guid) ? member->registrar_guid
								       : member->port_guid;
}

static void ask(struct sa *sa, struct multicast_member *member)
{
	const struct sa_owner *owner = &sa->options.owner;

	member->is_asked = true;
	member->confirmed_states = 0;
	member->answer_until = TIME_NEVER;
	owner->ask_reregistration(owner->context, port_to_ask(sa, member));
}

static void ask_all(struct sa *sa)
{
	list_for_each (group_link, &sa->groups->groups) {
		list_for_each (link, &multicast_group_of(group_link)->members)
			ask(sa, multicast_member_of(link));
	}
}

static time_ns answer_time(const struct sa *sa)
{
	return time_earlier(sa->options.prune_interval, PRUNING_ANSWER_TIME_MAX);
}

void sa_reregistration_asked(struct sa *sa, time_ns now, uint64_t port_guid)
{
	if (!sa->subnet)
		return;
	list_for_each (group_link, &sa->groups->groups) {
		list_for_each (link, &multicast_group_of(group_link)->members) {
			struct multicast_member *member = multicast_member_of(link);

			if (!member->is_asked || member->answer_until != TIME_NEVER ||
			    port_to_ask(sa, member) != port_guid)
				continue;
			member->answer_until = now + answer_time(sa);
			sa->pruning.check_at =
				time_earlier(sa->pruning.check_at, member->answer_until);
		}
	}
}

/* Returns whether a member left. */
static bool check_members(struct sa *sa, time_ns now, struct multicast_group *group)
{
	bool has_left = false;

	list_for_each_safe (link, &group->members) {
		struct multicast_member *member = multicast_member_of(link);
		uint8_t unconfirmed = member->join_state & (uint8_t)~member->confirmed_states;

		if (!member->is_asked || member->answer_until > now) {
			if (member->is_asked)
				sa->pruning.check_at =
					time_earlier(sa->pruning.check_at, member->answer_until);
			continue;
		}
		member->is_asked = false;
		if (!unconfirmed)
			continue;
		sa->pruned_count += multicast_group_leave(group, member, unconfirmed) == 0;
		has_left = true;
	}
	return has_left;
}

static void check_all(struct sa *sa, time_ns now)
{
	sa->pruning.check_at = TIME_NEVER;
	list_for_each_safe (link, &sa->groups->groups) {
		struct multicast_group *group = multicast_group_of(link);

		if (check_members(sa, now, group))
			members_left(sa, now, group);
	}
}

void pruning_run(struct sa *sa, time_ns now)
{
	struct pruning *pruning = &sa->pruning;

	if (!sa->subnet)
		return;
	if (now >= pruning->check_at)
		check_all(sa, now);
	if (now < pruning->ask_at)
		return;
	pruning->ask_at = now + sa->options.prune_interval;
	/* Members that have not answered yet keep their whole answer time. */
	if (pruning->check_at == TIME_NEVER)
		ask_all(sa);
}

time_ns pruning_deadline(const struct sa *sa)
{
	return sa->subnet ? time_earlier(sa->pruning.ask_at, sa->pruning.check_at) : TIME_NEVER;
}
