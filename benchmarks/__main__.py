"""``python -m benchmarks [NAME...] [--real] [--json]``: all benches, or the named ones.

Exit code 1: a target is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable

from benchmarks import latency, memory, throughput, waiting
from benchmarks.figures import Figure
from benchmarks.ground import Ground, ground

BENCHES: dict[str, Callable[[Ground], list[Figure]]] = {
    "rules": throughput.rules,
    "cache": throughput.cache,
    "http": waiting.http,
    "tail": waiting.tail,
    "latency": latency.latency,
    "memory": memory.memory,
}


def main() -> int:
    arguments = _parser().parse_args()
    figures: list[Figure] = []
    for name in arguments.names or BENCHES:
        with ground(real=arguments.real) as services:
            for figure in BENCHES[name](services):
                figures.append(figure)
                if not arguments.json:
                    _show(figure)
    if arguments.json:
        print(json.dumps([figure.as_json() for figure in figures], indent=2))
    return 0 if all(figure.met for figure in figures) else 1


def _show(figure: Figure) -> None:
    print(figure.line(), *(f"{'':10}{note}" for note in figure.notes), sep="\n", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks", description="Ratios against bare baselines, in one run.")
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*BENCHES, []], help=", ".join(BENCHES))
    parser.add_argument("--real", action="store_true", help="a real Kafka and Redis instead of the embedded broker")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of lines")
    return parser


if __name__ == "__main__":
    sys.exit(main())
