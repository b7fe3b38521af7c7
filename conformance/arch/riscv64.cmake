# SPDX-License-Identifier: Apache-2.0
set(PMUCONF_BPF_ARCH riscv)  # as in __TARGET_ARCH_riscv of bpf_tracing.h
