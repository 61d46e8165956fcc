/* SPDX-License-Identifier: Apache-2.0 */
/* Notices that are sent as reports, and changes of the subnet (management 3.7, 4.8). */
#include "mgmt/sa/notices.h"

#include <string.h>
#include "mgmt/sa/members.h"
#include "mgmt/sa/pruning.h"
#include "mgmt/sa/request.h"
#include "mgmt/sa/sa.h"
#include "mgmt/subnet/subnet_copy.h"

/* Offset of the GID in the details of traps 64 to 67 (management 5.2). */
enum { DETAILS_GID_OFFSET = 6 };

/* The subject of a notice, which determines the subscribers that may get it. */
struct audience {
	const struct subnet_port *subject; /* a port, or */
	uint16_t pkey;			   /* the partition of a group; 0: see subject */
};

static bool may_hear(const struct sa *sa, const struct subscription *subscription,
		     const struct notice *notice, const struct audience *audience)
{
	const struct subnet_port *listener =
		subnet_port_by_guid(sa->subnet, subscription->port_guid);

	if (!listener)
		return false;
	if (subscription->is_trusted)
		return true;
	/* Only trusted subscribers get notices of key violations (management 4.5). */
	if (notice->header.type == NOTICE_SECURITY)
		return false;
	if (audience->pkey)
		return sa_port_holds_pkey(listener, audience->pkey);
	return audience->subject && sa_ports_share_partition(listener, audience->subject);
}

/* o13-17.1.2: a subscription to ports that its owner may not see is removed. A subscription to all
 * ports stays and covers the ports that the owner may see. */
static bool names_forbidden_ports(const struct subscription *subscription,
				  const struct notice *notice)
{
	return subscription->info.lid_range_begin != INFORM_ANY_LID &&
	       notice->header.type != NOTICE_SECURITY;
}

static void end_subscription(struct sa *sa, struct subscription *subscription)
{
	reports_forget(&sa->reports, subscription);
	subscriptions_remove(&sa->subscriptions, subscription);
}

static void report(struct sa *sa, const struct notice *notice, const struct gid *issuer,
		   const struct audience *audience)
{
	struct report_notice *made = NULL;

	list_for_each_safe (link, &sa->subscriptions.subscriptions) {
		struct subscription *subscription = subscription_of(link);

		if (!inform_info_matches(&subscription->info, notice, issuer))
			continue;
		if (!may_hear(sa, subscription, notice, audience)) {
			if (names_forbidden_ports(subscription, notice))
				end_subscription(sa, subscription);
			continue;
		}
		if (!made)
			made = report_notice_make(notice, issuer);
		if (!made)
			return;
		reports_send(&sa->reports, subscription, made);
	}
	if (made)
		report_notice_release(made);
}

/* A notice of the SA about a GID (traps 64 to 67). */
static void report_gid(struct sa *sa, enum trap_number trap, const struct gid *about,
		       const struct audience *audience)
{
	const struct subnet_port *own = subnet_port_by_guid(sa->subnet, sa->options.port_guid);
	struct gid issuer = gid_from(sa->subnet->gid_prefix, sa->options.port_guid);
	struct notice notice = {
		.header = {.is_generic = 1,
			   .type = NOTICE_SUBNET_MANAGEMENT,
			   .producer_type = PRODUCER_CLASS_MANAGER,
			   .trap_number = (uint16_t)trap,
			   .issuer_lid = own ? own->lid : 0},
	};

	memcpy(notice.details + DETAILS_GID_OFFSET, about->bytes, sizeof(about->bytes));
	report(sa, &notice, &issuer, audience);
}

void notices_multicast(struct sa *sa, time_ns now, enum trap_number trap, const struct gid *mgid,
		       uint16_t pkey)
{
	const struct audience audience = {.pkey = pkey};

	(void)now;
	report_gid(sa, trap, mgid, &audience);
}

static bool is_there(const struct subnet *subnet, const struct subnet_port *port)
{
	return subnet && subnet_port_by_guid(subnet, port->guid);
}

static void report_difference(struct sa *sa, enum trap_number trap, const struct subnet *those,
			      const struct subnet *without)
{
	for (unsigned lid = LID_UNICAST_FIRST; those && lid <= those->lid_max; lid++) {
		const struct subnet_port *port = those->by_lid[lid];

		if (!port || port->lid != lid || is_there(without, port))
			continue;

		const struct audience audience = {.subject = port};
		struct gid gid = gid_from(those->gid_prefix, port->guid);

		report_gid(sa, trap, &gid, &audience);
	}
}

/* Reports end ports that are in one subnet but not in the other. Either may be NULL. Called before
 * the new subnet replaces the old one. */
static void notices_ports(struct sa *sa, time_ns now, const struct subnet *before,
			  const struct subnet *after)
{
	(void)now;
	/* There are no subscriptions before the first sweep. */
	if (!before || !sa->subscriptions.count)
		return;
	report_difference(sa, TRAP_GID_OUT_OF_SERVICE, before, after);
	report_difference(sa, TRAP_GID_IN_SERVICE, after, before);
}

static void forget_port(struct sa *sa, time_ns now, uint64_t port_guid)
{
	members_drop_port(sa, now, port_guid);
	services_drop_port(sa, port_guid);
	alias_guids_drop_port(&sa->alias_guids, port_guid);
	list_for_each_safe (link, &sa->subscriptions.subscriptions) {
		struct subscription *subscription = subscription_of(link);

		if (subscription->port_guid == port_guid)
			end_subscription(sa, subscription);
	}
}

/* Drops the memberships, services, alias GUIDs and subscriptions of ports that are gone. */
static void forget_missing(struct sa *sa, time_ns now, const struct subnet *before)
{
	for (unsigned lid = LID_UNICAST_FIRST; before && lid <= before->lid_max; lid++) {
		const struct subnet_port *port = before->by_lid[lid];

		if (port && port->lid == lid && !is_there(sa->subnet, port))
			forget_port(sa, now, port->guid);
	}
}

/* Updates the address of subscribers whose LID changed. */
static void move_subscriptions(struct sa *sa)
{
	list_for_each (link, &sa->subscriptions.subscriptions) {
		struct subscription *subscription = subscription_of(link);
		const struct subnet_port *port =
			subnet_port_by_guid(sa->subnet, subscription->port_guid);
		uint16_t lid = subscription->subscriber.lid;

		if (port && subnet_port_by_lid(sa->subnet, lid) != port)
			subscription->subscriber.lid = port->lid;
	}
}

void sa_subnet_changed(struct sa *sa, time_ns now, const struct subnet *subnet)
{
	struct subnet *before = sa->subnet;
	struct subnet *after = subnet_copy(subnet);

	if (!after)
		return;
	sa->subnet = after;
	forget_missing(sa, now, before);
	move_subscriptions(sa);
	pruning_start(sa, now);
	notices_ports(sa, now, before, after);
	subnet_copy_destroy(before);
}

void sa_notice(struct sa *sa, time_ns now, const struct notice *notice)
{
	struct gid issuer = {0};
	struct audience audience = {0};

	(void)now;
	if (!sa->subnet)
		return;
	audience.subject = subnet_port_by_lid(sa->subnet, notice->header.issuer_lid);
	if (audience.subject)
		issuer = sa_port_gid(sa, audience.subject);
	report(sa, notice, &issuer, &audience);
}
