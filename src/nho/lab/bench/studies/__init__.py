"""The studies of `nho bench`, by name."""

from __future__ import annotations

from nho.lab.bench.studies import (
    ablation_default,
    ablation_paper,
    confidence,
    cost,
    learned,
    main_tables,
    nam_start,
    next_anchor,
    operator,
    overlap,
    pictures,
    readings,
    robustness,
    variants,
)
from nho.lab.bench.studies.study import Findings, Study, StudyRequest

__all__ = ["STUDIES", "Findings", "StudyRequest", "Study"]

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        main_tables.STUDY,
        learned.STUDY,
        ablation_paper.STUDY,
        readings.STUDY,
        *variants.STUDIES,
        nam_start.STUDY,
        ablation_default.STUDY,
        *robustness.STUDIES,
        overlap.STUDY,
        confidence.STUDY,
        next_anchor.STUDY,
        cost.STUDY,
        operator.STUDY,
        pictures.STUDY,
    )
}
