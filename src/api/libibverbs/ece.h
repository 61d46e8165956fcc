/* SPDX-License-Identifier: Apache-2.0 */
/* Enhanced connection establishment. */
#ifndef SOFTIB_API_LIBIBVERBS_ECE_H
#define SOFTIB_API_LIBIBVERBS_ECE_H

struct qp;

/* Sets a new QP's options to the default, which holds until ibv_set_ece changes it. */
void ece_set_default(struct qp *qp);

#endif
