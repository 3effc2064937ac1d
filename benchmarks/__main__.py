"""``python -m benchmarks [NAME...] [--real] [--json]``: all benches, or the named ones.

``chaos [--minutes M] [--seed N]`` and ``scale [--drafts N] [--per-s N]`` take minutes, on a real Kafka and Redis: they
run only when they are named.

Exit code 1: a target is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable

from benchmarks import chaos, inflight, latency, memory, parse, scale, throughput, waiting
from benchmarks.figures import Figure
from benchmarks.ground import Ground, ground

BENCHES: dict[str, Callable[[Ground], list[Figure]]] = {
    "rules": throughput.rules,
    "cache": throughput.cache,
    "http": waiting.http,
    "tail": waiting.tail,
    "inflight": inflight.inflight,
    "latency": latency.latency,
    "memory": memory.memory,
}
ALONE: dict[str, Callable[[], list[Figure]]] = {"parse": parse.parse}
"""Benches that need no services."""

LONG: dict[str, Callable[[argparse.Namespace], list[Figure]]] = {
    "chaos": lambda asked: chaos.chaos(minutes=asked.minutes, seed=asked.seed),
    "scale": lambda asked: _on_real(lambda on: scale.scale(on, drafts=asked.drafts, per_s=asked.per_s)),
}
"""Benches of minutes on a real Kafka: they run only when they are named."""


def main() -> int:
    arguments = _parser().parse_args()
    figures: list[Figure] = []
    for name in arguments.names or [*BENCHES, *ALONE]:
        for figure in _figures(name, arguments):
            figures.append(figure)
            if not arguments.json:
                _show(figure)
    if arguments.json:
        print(json.dumps([figure.as_json() for figure in figures], indent=2))
    return 0 if all(figure.met for figure in figures) else 1


def _figures(name: str, arguments: argparse.Namespace) -> list[Figure]:
    if name in LONG:
        return LONG[name](arguments)
    if name in ALONE:
        return ALONE[name]()
    with ground(real=arguments.real) as services:
        return BENCHES[name](services)


def _on_real(bench: Callable[[Ground], list[Figure]]) -> list[Figure]:
    with ground(real=True) as services:
        return bench(services)


def _show(figure: Figure) -> None:
    print(figure.line(), *(f"{'':10}{note}" for note in figure.notes), sep="\n", flush=True)


def _parser() -> argparse.ArgumentParser:
    names = [*BENCHES, *ALONE, *LONG]
    parser = argparse.ArgumentParser("python -m benchmarks", description="Ratios against bare baselines, in one run.")
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*names, []], help=", ".join(names))
    parser.add_argument("--real", action="store_true", help="a real Kafka and Redis instead of the embedded broker")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long chaos lasts (default: 10)")
    parser.add_argument("--seed", type=int, default=1, help="which faults chaos commits, and when (default: 1)")
    parser.add_argument("--drafts", type=int, default=200_000, help="how many drafts scale sends (default: 200,000)")
    parser.add_argument("--per-s", type=int, default=700, help="how many of them a second (default: 700)")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of lines")
    return parser


if __name__ == "__main__":
    sys.exit(main())
