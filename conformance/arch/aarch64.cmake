# SPDX-License-Identifier: Apache-2.0
set(PMUCONF_BPF_ARCH arm64)  # as in __TARGET_ARCH_arm64 of bpf_tracing.h
