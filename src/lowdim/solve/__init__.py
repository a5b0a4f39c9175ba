"""Solvers: eigenpairs, signs and the number of components. Arrays in, arrays out; no method's particulars."""
