"""Selects the gates that apply to a CPU, by the CPU features that each gate requires.

A suite may demand more of a CPU with more features, so several gates may have the same subject (`Gate.subject`). Of
these, the gate with the most requirements applies among those whose requirements the CPU meets.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Sequence

from paceline_contract.manifest import Gate, Witness

FORBIDDEN = "!"
"""Prefix of a feature that the CPU must not have."""


def unmet_requirements(
    declared: Gate | Witness, features: Collection[str]
) -> list[str]:
    """Return the requirements that a CPU with `features` does not meet; empty if what is declared can apply."""
    return [term for term in declared.requires if not _holds(term, features)]


def requirements_text(terms: Sequence[str]) -> str:
    """Return requirements as text, such as `avx512bw, sha_ni, no amx_tile`."""
    return ", ".join(
        f"no {term.removeprefix(FORBIDDEN)}" if term.startswith(FORBIDDEN) else term
        for term in terms
    )


def applicable_gates(
    gates: Sequence[Gate], features: Collection[str]
) -> frozenset[int]:
    """Return the indices of the gates that apply to a CPU with `features`."""
    most_required: dict[Hashable, int] = defaultdict(int)
    holding = [
        index
        for index, gate in enumerate(gates)
        if not unmet_requirements(gate, features)
    ]
    for index in holding:
        subject = gates[index].subject
        most_required[subject] = max(most_required[subject], len(gates[index].requires))
    return frozenset(
        index
        for index in holding
        if len(gates[index].requires) == most_required[gates[index].subject]
    )


def feature_dependent_gates(gates: Sequence[Gate]) -> frozenset[int]:
    """Return the indices of the gates for which the features of the CPU decide whether they apply."""
    subjects = {gate.subject for gate in gates if gate.requires}
    return frozenset(
        index for index, gate in enumerate(gates) if gate.subject in subjects
    )


def undecided_pairs(gates: Sequence[Gate]) -> Iterator[tuple[int, int]]:
    """Yield pairs of gates of one subject with equally many requirements, where a CPU may meet those of both.

    Nothing decides which of the two applies to such a CPU.
    """
    with_requirements = [
        (index, gate) for index, gate in enumerate(gates) if gate.requires
    ]
    for (first, a), (second, b) in itertools.combinations(with_requirements, 2):
        if (
            len(a.requires) == len(b.requires)
            and a.subject == b.subject
            and not contradictions([*a.requires, *b.requires])
        ):
            yield first, second


def contradictions(terms: Sequence[str]) -> list[str]:
    """Return the features that are both required and forbidden."""
    return [term for term in dict.fromkeys(terms) if f"{FORBIDDEN}{term}" in terms]


def _holds(term: str, features: Collection[str]) -> bool:
    return (term.removeprefix(FORBIDDEN) in features) is not term.startswith(FORBIDDEN)
