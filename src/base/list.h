/* SPDX-License-Identifier: Apache-2.0 */
/* A doubly linked list whose links are embedded in its elements. */
#ifndef SOFTIB_BASE_LIST_H
#define SOFTIB_BASE_LIST_H

#include <stdbool.h>
#include "base/attributes.h"

struct list {
	struct list *next;
	struct list *previous;
};

static inline void list_init(struct list *list)
{
	list->next = list;
	list->previous = list;
}

static inline bool list_is_empty(const struct list *list)
{
	return list->next == list;
}

/* A link outside any list points to itself, like the head of an empty list. */
static inline bool list_is_linked(const struct list *link)
{
	return link->next != link;
}

static inline void list_append(struct list *list, struct list *link)
{
	link->next = list;
	link->previous = list->previous;
	list->previous->next = link;
	list->previous = link;
}

static inline void list_prepend(struct list *list, struct list *link)
{
	list_append(list->next, link);
}

static inline void list_remove(struct list *link)
{
	link->previous->next = link->next;
	link->next->previous = link->previous;
	list_init(link);
}

static inline struct list *list_first(const struct list *list)
{
	return list_is_empty(list) ? NULL : list->next;
}

static inline struct list *list_pop(struct list *list)
{
	struct list *link = list_first(list);

	if (link)
		list_remove(link);
	return link;
}

#define list_for_each(cursor, head)                                                                \
	for (struct list *cursor = (head)->next; cursor != (head); cursor = cursor->next)

/* The body may remove the cursor. */
#define list_for_each_safe(cursor, head)                                                           \
	for (struct list *cursor = (head)->next, *cursor##_next = cursor->next; cursor != (head);  \
	     cursor = cursor##_next, cursor##_next = cursor->next)

#endif
