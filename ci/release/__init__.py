# SPDX-License-Identifier: Apache-2.0
"""Makes a release: static programs, modules, the runner, packages, sums and a signature."""
