# SPDX-License-Identifier: Apache-2.0
"""Gets kernels, builds images, runs guests and carries their lines; knows no rule, judges nothing."""
