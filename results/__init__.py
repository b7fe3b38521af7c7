# SPDX-License-Identifier: Apache-2.0
"""The results of runs for people: a page of one file, and a history."""
