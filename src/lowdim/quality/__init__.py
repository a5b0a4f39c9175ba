"""Measures of quality, computed from the data and a map, independently of the method."""

from lowdim.quality.coranking import rnx_auc, rnx_curve
from lowdim.quality.density import density_preservation
from lowdim.quality.dimension import intrinsic_dimension
from lowdim.quality.distance_scores import reconstruction_error, residual_variance, shepard_correlation, stress
from lowdim.quality.drivers import Drivers, drivers
from lowdim.quality.fitted_map import Interval
from lowdim.quality.islands import Island, islands
from lowdim.quality.label_scores import knn_accuracy, neighbor_hit, silhouette
from lowdim.quality.measure import Measure
from lowdim.quality.neighborhood_scores import (
    Distortion,
    continuity,
    distortion,
    lcmc,
    neighborhood_recall,
    trustworthiness,
)
from lowdim.quality.reliability import Reliability, reliability
from lowdim.quality.report import Report, report
from lowdim.quality.separation import Separation, separation
from lowdim.quality.structure import Structure, structure

__all__ = [
    "Distortion",
    "Drivers",
    "Interval",
    "Island",
    "Measure",
    "Reliability",
    "Report",
    "Separation",
    "Structure",
    "continuity",
    "density_preservation",
    "distortion",
    "drivers",
    "intrinsic_dimension",
    "islands",
    "knn_accuracy",
    "lcmc",
    "neighbor_hit",
    "neighborhood_recall",
    "reconstruction_error",
    "reliability",
    "report",
    "residual_variance",
    "rnx_auc",
    "rnx_curve",
    "separation",
    "shepard_correlation",
    "silhouette",
    "stress",
    "structure",
    "trustworthiness",
]
