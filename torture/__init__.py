"""Hostile inputs, damaged files, kills, signals and a lack of memory, in worker processes with a time limit.

``python -m torture --help`` lists the options; ``make torture`` runs all kinds of cases.
"""
