"""What a set of features is worth: scores by cross-validation, of all neighbours of a set at once.

Each criterion has ``score(selected)`` and ``around(selected, units, joining)``. ``refit`` works for any estimator; the
others give the same scores without fitting from scratch, and NaN where only a refit can tell.
"""
