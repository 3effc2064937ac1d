"""The finished offsets beyond a commit, as a short string in the commit's metadata.

Brokers refuse more than 4,096 bytes of metadata. Three spellings are tried and the shortest is kept: a bitmap, the
bitmap deflated, and run lengths deflated. A checksum over the bytes and the committed offset goes with them. Reading is
total: text of another origin, or moved to another offset, means "nothing known", which costs a re-run and never a loss.
The idea is that of Confluent's Parallel Consumer.
"""

from __future__ import annotations

import binascii
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Set

METADATA_CAP = 4096
_BITS_CAP = 1 << 20  # a reader's bound: no partition ever has more offsets under way
_DEFLATE_FROM = 48  # bytes; below that deflate only adds


def encode(base: int, finished: Set[int]) -> str:
    """Offsets above ``base`` in at most METADATA_CAP ASCII characters; the highest are left out when too many."""
    offsets = sorted(offset for offset in finished if base < offset <= base + _BITS_CAP)
    while offsets:
        text = _shortest(base, offsets)
        if len(text) <= METADATA_CAP:
            return text
        del offsets[len(offsets) * 3 // 4 :]
    return ""


def decode(base: int, metadata: str) -> set[int]:
    """The offsets that ``encode(base, ...)`` put there. Anything else, whatever it is, gives the empty set."""
    if not 2 < len(metadata) <= METADATA_CAP:
        return set()
    read = _READERS.get(metadata[:2])
    try:
        sealed = b64decode(metadata[2:], validate=True)
        if read is None or sealed[:4] != _checksum(base, sealed[4:]):
            return set()
        return {base + step for step in read(sealed[4:])}
    except (binascii.Error, ValueError, zlib.error):
        return set()


def _shortest(base: int, offsets: list[int]) -> str:
    bitmap = _bitmap(base, offsets)
    spellings = [("b:", bitmap)]
    if len(bitmap) > _DEFLATE_FROM:
        spellings += [("z:", zlib.compress(bitmap, 6)), ("r:", zlib.compress(_run_lengths(base, offsets), 6))]
    tag, raw = min(spellings, key=lambda spelling: len(spelling[1]))
    return tag + b64encode(_checksum(base, raw) + raw).decode()


def _checksum(base: int, raw: bytes) -> bytes:
    return zlib.crc32(raw, base & 0xFFFFFFFF).to_bytes(4, "big")


def _bitmap(base: int, offsets: list[int]) -> bytes:
    bits = bytearray((offsets[-1] - base + 8) // 8)
    for offset in offsets:
        step = offset - base
        bits[step >> 3] |= 1 << (step & 7)
    return bytes(bits)


def _run_lengths(base: int, offsets: list[int]) -> bytes:
    """Unfinished, finished, unfinished, ... lengths from ``base`` on, 7 bits a byte, the high bit says "more"."""
    out = bytearray()
    start = previous = offsets[0]
    gap = start - base
    for offset in offsets[1:]:
        if offset != previous + 1:
            _put(out, gap)
            _put(out, previous + 1 - start)
            gap, start = offset - previous - 1, offset
        previous = offset
    _put(out, gap)
    _put(out, previous + 1 - start)
    return bytes(out)


def _put(out: bytearray, number: int) -> None:
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)


def _read_bitmap(raw: bytes) -> Iterator[int]:
    for index, byte in enumerate(raw):
        if byte:
            yield from (index * 8 + bit for bit in range(8) if byte >> bit & 1)


def _read_run_lengths(raw: bytes) -> Iterator[int]:
    position, finished = 0, False
    for length in _numbers(raw):
        if position + length > _BITS_CAP + 1:
            raise ValueError("runs beyond the bound")
        if finished:
            yield from range(position, position + length)
        position, finished = position + length, not finished


def _numbers(raw: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in raw:
        number |= (byte & 127) << shift
        shift += 7
        if shift > 28:
            raise ValueError("a number beyond the bound")
        if byte < 128:
            yield number
            number = shift = 0


def _inflate(raw: bytes) -> bytes:
    # Bounded: four kilobytes of hostile metadata may inflate to four megabytes.
    return zlib.decompressobj().decompress(raw, _BITS_CAP // 8 + 1)


_READERS: dict[str, Callable[[bytes], Iterator[int]]] = {
    "b:": _read_bitmap,
    "z:": lambda raw: _read_bitmap(_inflate(raw)),
    "r:": lambda raw: _read_run_lengths(_inflate(raw)),
}
