"""Combinations of relations and solvers: spectra of rows, classical scaling, first layouts, geodesic maps."""
