# SPDX-License-Identifier: Apache-2.0
set(PMUCONF_BPF_ARCH x86)  # as in __TARGET_ARCH_x86 of bpf_tracing.h
