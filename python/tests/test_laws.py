"""The numbers: typed, and those of `truebloom eval`."""

import inspect
import json
import math
import subprocess
import sys

import pytest
from truebloom import PlanError, Rate, audit, fpr, laws


def test_rates():
    exact = fpr(bits=9585, items=1000, probes=7)
    assert isinstance(exact, Rate) and exact.method == "exact" and exact.lower <= exact.value <= exact.upper
    # Fractions: 8 bits, one item, one probe: 1/8. Two items: (1/8 + 7/8 * 2/8).
    assert fpr(bits=8, items=1, probes=1).value == 1 / 8
    assert fpr(bits=8, items=2, probes=1).value == 1 / 8 + 7 / 64
    assert fpr(bits=100, items=0, probes=3) == Rate(0.0, 0.0, 0.0, -math.inf, -math.inf, -math.inf, "exact")
    assert fpr(bits=9585, items=1e3, probes=7, scheme="double").value > exact.value
    blocked = fpr(bits=512 * 20, items=1000, probes=7, variant="blocked", block_bits=512, in_block="independent")
    assert blocked.value > fpr(bits=512 * 20, items=1000, probes=7).value
    assert laws.fpr_at_fill(bits=8, probes=3, ones=4).value == 1 / 8
    assert laws.approximation("bloom", bits=9585, items=1000, probes=7) == pytest.approx((1 - (1 - 7 / 9585) ** 1000) ** 7)
    assert laws.set_fpr("union", bits=9585, probes=7, items=[500, 500]).value == pytest.approx(exact.value)


def test_sizes():
    best = laws.min_bits(items=1000, fpr="1%")
    assert best.fpr.upper <= 0.01 and laws.max_items(bits=best.bits, fpr=0.01).items == 1000 and best.items == 1000
    assert laws.max_items(bits=1, fpr=1e-9) == laws.Size(bits=1, items=0, probes=None, fpr=None)
    assert laws.optimal_probes(bits=9585, items=1000).probes == 7
    assert 0.6 < laws.efficiency(bits=9585, items=1000, probes=7) < 1
    assert laws.peak_efficiency(bits=1000, probes=3).probes == 3 and laws.max_efficiency(bits=100).value < 1
    assert 0 < laws.crossover(3) < laws.crossover(2)


def test_estimates_and_laws():
    found = laws.estimate_items(bits=9585, probes=7, ones=4000)
    assert found.lower < found.value < found.upper
    assert laws.estimate_bits(items=1000, probes=7, ones=4000).value > 0
    hits = laws.false_positives(bits=9585, items=1000, probes=7, queries=1000, quantiles=[0.5])
    assert hits.mean == pytest.approx(1000 * fpr(bits=9585, items=1000, probes=7).value) and 9 <= hits.quantiles[0] <= 11
    law = laws.occupancy(bits=8, items=1, probes=2, pmf=True, moments=1)
    assert law.pmf[1] == 1 / 8 and law.mean == pytest.approx(1 / 8 + 2 * 7 / 8) and law.raw == [law.mean]
    assert laws.occupancy("union", bits=10, committees=[[3, 2]]).mean == pytest.approx(10 * (1 - 0.7**2))


def test_recycling_and_sketches():
    size = laws.recycling_min_bits(items_per_cycle=1000, fpr=0.01)
    assert size.fpr.value <= 0.01 and size.items_per_cycle >= 1000
    run = laws.recycling(bits=size.bits, probes=size.probes, sigma=size.sigma, cycle=True, quantiles=[0.5])
    assert run.fpr.value == pytest.approx(size.fpr.value) and run.cycle.quantiles and run.worst.value > run.fpr.value
    assert laws.recycling(bits=1000, probes=3, sigma=400).cycle is None
    assert laws.recycling_capacity(bits=size.bits, fpr=0.01).items_per_cycle >= 1000
    assert 0 <= laws.forgetting(bits=1000, probes=3, sigma=400, gap=100).probability <= 1
    assert laws.n_bounded(bits=100, probes=3, items=10, kind="worst").fpr.value > 0
    assert laws.count_min(epsilon=0.01, delta=0.01).width == 272


def test_the_mode_of_a_recycling_filter():
    """All four questions about recycling filters take the same words, and refuse others."""
    two = laws.recycling(bits=1000, probes=3, sigma=400, phases=2)
    assert two != laws.recycling(bits=1000, probes=3, sigma=400) and two == laws.recycling(bits=1000, probes=3, sigma=400, phases=2, shared_hash=True)
    one, other = (laws.recycling_capacity(bits=10_000, fpr=0.01, **mode) for mode in ({}, {"phases": 2}))
    assert one.items_per_cycle != other.items_per_cycle
    asked = dict(bits=1000, probes=3, sigma=400, gap=300)
    assert laws.forgetting(**asked).probability != laws.forgetting(**asked, phases=2).probability
    for question in (laws.recycling, laws.recycling_capacity, laws.recycling_min_bits, laws.forgetting):
        with pytest.raises(TypeError, match="phase is not an argument; the mode of a recycling filter has phases"):
            _ask(question, phase=2)


def _ask(question, **mode):
    """With the arguments that the question needs."""
    needed = {name for name, found in inspect.signature(question).parameters.items() if found.default is found.empty and found.kind is found.KEYWORD_ONLY}
    values = dict(bits=1000, probes=3, sigma=400, gap=3, fpr=0.1, items_per_cycle=3)
    return question(**{name: values[name] for name in needed}, **mode)


def test_certificates_are_accepted_by_a_program_that_shares_nothing_with_the_library(golden, tmp_path):
    checker = golden.parents[2] / "math/tests/reference/check_certificate.py"
    for number, claim in enumerate(({"items": 1000, "fpr": 0.01}, {"items": 1000, "fpr": "1%", "confidence": 0.999}, {"items": 50, "fpr": 0.1, "bits": 400})):
        proof = laws.certificate(**claim)
        assert proof["claim"]["law"] == "standard"
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(proof))
        assert subprocess.run([sys.executable, checker, path], capture_output=True).returncode == 0
        path.write_text(json.dumps({**proof, "claim": {**proof["claim"], "items": 2000}}))
        assert subprocess.run([sys.executable, checker, path], capture_output=True).returncode != 0


def test_errors_are_texts_for_people():
    for call in (lambda: fpr(bits=0, items=1, probes=1), lambda: fpr(items=1, probes=1), lambda: laws.eval({"fn": "none"})):
        with pytest.raises(PlanError):
            call()


def test_audit():
    rows = {row.library: row for row in audit(100, 1e-6, ["guava", "truebloom", "rbloom"], queries=1_000_000)}
    assert rows["truebloom"].kept and rows["truebloom"].share >= 0.999 and rows["truebloom"].fpr.method == "exact"
    assert rows["guava"].kept is False and rows["guava"].fpr.method == "simulation"
    with pytest.raises(PlanError, match="not a known library"):
        audit(100, 0.01, ["none"])
