"""A worker that waits for a model over HTTP: how close 400 calls in flight come to what the model's latency allows."""

from __future__ import annotations

from benchmarks.figures import Figure, at_least
from benchmarks.ground import Child, Ground, publish
from benchmarks.load import draft, http_bom
from benchmarks.model import LATENCIES, model

IN_FLIGHT = 400
IN_HAND = 500
"""Records handled at a time: those that are read, remembered and produced keep no call from being made."""

STEADY_S = 12
"""Seconds of full load that are measured, after two means of ramping up."""


def http(ground: Ground) -> list[Figure]:
    """A model that answers after exactly 1 s."""
    return [_against_the_ideal(ground, "http", "model over HTTP at 1 s, 400 in flight", "steady", target=0.9)]


def tail(ground: Ground) -> list[Figure]:
    """A model with a long tail: 0.5 to 5 s."""
    what = f"model over HTTP, lognormal, mean {LATENCIES['lognormal'].mean_s():.2f} s"
    return [_against_the_ideal(ground, "tail", what, "lognormal", target=0.8)]


def _against_the_ideal(ground: Ground, bench: str, what: str, latency: str, *, target: float) -> Figure:
    mean_s = LATENCIES[latency].mean_s()
    ideal = IN_FLIGHT / mean_s
    ramp, measured = 2 * IN_FLIGHT, int(STEADY_S * ideal)
    with model(latency) as endpoint:
        settings = ground.fresh(
            ground.bom(http_bom), model_base_url=endpoint.url, concurrency=IN_HAND, model_max_in_flight=IN_FLIGHT
        )
        drafts = [draft(number, salt=f"-{bench}") for number in range(ramp + measured + 2 * IN_FLIGHT)]
        publish(settings, drafts)  # more than are measured: the last ones must not run on a half-empty worker
        with Child("judge", settings, records=ramp + measured) as child:
            run = child.result()
        most = endpoint.most_in_flight()
    rate, cpu_s = run.between(ramp, ramp + measured)
    return at_least(
        bench,
        what,
        f"{rate:,.0f} drafts/s",
        f"ideal {IN_FLIGHT}/{mean_s:.2f} s = {ideal:,.0f} drafts/s",
        ratio=rate / ideal,
        target=target,
        notes=(
            f"{measured} drafts in steady state; one criterion; claims and verdicts in {ground.cache}; nothing dropped",
            f"CPU a draft {1e6 * cpu_s:,.0f} us: {run.shares()}",
            f"{most} calls at the model at most, {IN_HAND} records in hand; "
            f"the limit on calls fell {run.counted['assay_model_throttled_total']:.0f} times; "
            f"{run.counted['assay_model_waits_total']:.0f} calls waited for their turn; "
            f"{run.counted['assay_commits_refused_total']:.0f} commits refused",
        ),
    )
