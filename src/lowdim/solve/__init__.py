"""Solvers: eigenpairs, signs and the number of components. They take and return arrays and depend on no method."""
