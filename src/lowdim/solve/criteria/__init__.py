"""Scores of sets of features by cross-validation, for all sets that differ from one set by a unit at once.

Each criterion has ``score(selected)`` and ``around(selected, units, joining)``. ``refit`` works for any estimator; the
others give the same scores without fitting from scratch, and NaN where a refit is necessary.
"""
