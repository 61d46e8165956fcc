/* SPDX-License-Identifier: Apache-2.0 */
/* QP attributes and capabilities: conversion between the verbs' structs and the transport's. */
#ifndef SOFTIB_API_LIBIBVERBS_QP_ATTRIBUTES_H
#define SOFTIB_API_LIBIBVERBS_QP_ATTRIBUTES_H

#include <infiniband/verbs.h>
#include "net/transport/qp.h"

struct qp_attributes attributes_from(const struct ibv_qp_attr *attr);
struct ibv_qp_attr attributes_to(const struct qp_attributes *attributes);

struct qp_capabilities capabilities_from(const struct ibv_qp_cap *cap);
struct ibv_qp_cap capabilities_to(const struct qp_capabilities *capabilities);

#endif
