# SPDX-License-Identifier: Apache-2.0
"""Reads the bugs that prove the tests: mutants, lies, false claims and regressions, with the rules that they break."""
