"""``scripts/services``: real Kafka and Redis around a command, or until Ctrl-C.

scripts/services fetch                     get the jars and say where they are
scripts/services up [--nodes 3]            run both until Ctrl-C
scripts/services run [--nodes 3] -- CMD    run CMD with ASSAY_KAFKA and ASSAY_REDIS set, then stop both
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys

from tests.services.jars import kafka_jars, why_no_kafka
from tests.services.kafka import RealKafka
from tests.services.process import ServiceFailed
from tests.services.redis import RealRedis, why_no_redis


def main() -> int:
    arguments = _parser().parse_args()
    missing = [why for why in (why_no_kafka(), why_no_redis()) if why]
    if missing:
        sys.exit("; ".join(missing))
    try:
        if arguments.what == "fetch":
            sys.stdout.write(f"{kafka_jars()}\n")
            return 0
        with RealKafka(nodes=arguments.nodes) as kafka, RealRedis() as redis:
            where = {f"ASSAY_{prefix}KAFKA": kafka.bootstrap for prefix in ("", "TEST_")}
            where |= {f"ASSAY_{prefix}REDIS": redis.url for prefix in ("", "TEST_")}
            return _up(where) if arguments.what == "up" else _run(arguments.command, where)
    except ServiceFailed as failed:
        sys.exit(str(failed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("scripts/services", description=__doc__, formatter_class=_Raw)
    parser.add_argument("what", choices=("fetch", "up", "run"))
    parser.add_argument("--nodes", type=int, choices=(1, 3), default=1)
    parser.add_argument("command", nargs="*", metavar="-- CMD")
    return parser


_Raw = argparse.RawDescriptionHelpFormatter


def _up(where: dict[str, str]) -> int:
    sys.stdout.write("".join(f"export {name}={value}\n" for name, value in where.items()))
    sys.stdout.flush()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):
        signal.pause()
    return 0


def _run(command: list[str], where: dict[str, str]) -> int:
    if not command:
        sys.exit("run needs a command after --")
    try:
        return subprocess.run(command, env={**os.environ, **where}).returncode
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
