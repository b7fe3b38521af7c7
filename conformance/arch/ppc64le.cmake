# SPDX-License-Identifier: Apache-2.0
set(PMUCONF_BPF_ARCH powerpc)  # as in __TARGET_ARCH_powerpc of bpf_tracing.h
