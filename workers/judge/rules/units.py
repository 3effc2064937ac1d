"""Units of measure: what they are called, what they measure, and how they convert.

A unit's value in its dimension's base is ``number * factor + offset``. Data sizes have a second, binary factor, for a
terabyte is sold as 1000 and as 1024 gigabytes. Names that are one letter keep their case: 5G is no weight.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Unit(NamedTuple):
    symbol: str
    dimension: str
    factor: float
    offset: float = 0.0
    binary_factor: float | None = None

    def convert(self, number: float, to: Unit, *, binary: bool = False) -> float:
        """The number in another unit of the same dimension."""
        if binary and self.binary_factor and to.binary_factor:
            return number * self.binary_factor / to.binary_factor
        return (number * self.factor + self.offset - to.offset) / to.factor


def _units(dimension: str, **symbols: float) -> list[Unit]:
    return [Unit(symbol, dimension, factor) for symbol, factor in symbols.items()]


def _bytes() -> list[Unit]:
    names = ("kB", "MB", "GB", "TB", "PB")
    return [Unit(n, "data size", 1000.0**power, 0.0, 1024.0**power) for power, n in enumerate(names, start=1)]


UNITS: Final = {
    unit.symbol: unit
    for unit in [
        *_units("battery charge", mAh=0.001, Ah=1.0),
        *_units("energy", Wh=1.0, kWh=1000.0),
        *_units("power", mW=0.001, W=1.0, kW=1000.0),
        *_units("voltage", mV=0.001, V=1.0, kV=1000.0),
        *_units("current", mA=0.001, amp=1.0),
        *_units("mass", mg=0.001, g=1.0, kg=1000.0, oz=28.349523125, lb=453.59237),
        *_units("length", nm=1e-6, µm=1e-3, mm=1.0, cm=10.0, m=1e3, km=1e6, ft=304.8, yd=914.4, mile=1609344.0),
        Unit("in", "length", 25.4),
        *_bytes(),
        *_units("data rate", Kbps=1e3, Mbps=1e6, Gbps=1e9),
        *_units("data rate in bytes", **{"MB/s": 1.0, "GB/s": 1000.0}),
        *_units("resolution", MP=1.0),
        *_units("frequency", Hz=1.0, kHz=1e3, MHz=1e6, GHz=1e9),
        *_units("time", ms=0.001, s=1.0, min=60.0, h=3600.0, day=86400.0, week=604800.0),
        *_units("calendar time", month=1.0, year=12.0),
        *_units("volume", ml=1.0, cl=10.0, dl=100.0, l=1000.0, gal=3785.411784),
        Unit("fl oz", "volume", 29.5735295625),
        *_units("area", **{"cm²": 1.0, "m²": 1e4}),
        Unit("°C", "temperature", 1.0),
        Unit("°F", "temperature", 5 / 9, -160 / 9),
        *_units("share", **{"%": 1.0}),
        *_units("luminance", nits=1.0),
        *_units("luminous flux", lm=1.0),
        *_units("loudness", dB=1.0),
        *_units("pixel density", ppi=1.0),
        *_units("frame rate", fps=1.0),
        *_units("rotation", rpm=1.0),
        *_units("speed", **{"km/h": 1.0, "mph": 1.609344}),
        *_units("pressure", bar=1.0, psi=0.0689475729),
        *_units("refresh count", cycles=1.0),
        *[Unit(code, f"price in {code}", 1.0) for code in ("USD", "EUR", "GBP", "JPY", "INR", "CHF")],
    ]
}

CURRENCY_SIGNS: Final = {"$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR"} | {
    code: code for code in ("USD", "EUR", "GBP", "JPY", "INR", "CHF")
}

_LONG: Final = {
    "mAh": "milliamp-hours milliamp-hour milliampere-hours", "Ah": "amp-hours ampere-hours",
    "Wh": "watt-hours watt-hour",
    "kWh": "kilowatt-hours kilowatt-hour", "W": "watts watt", "kW": "kilowatts kilowatt", "V": "volts volt",
    "mA": "milliamps", "amp": "amps amp amperes", "mg": "milligrams milligram",
    "g": "grams gram grammes gr", "kg": "kilograms kilogram kilos kilo kgs", "oz": "ounces ounce",
    "lb": "lbs pounds pound", "nm": "nanometers nanometres nanometer", "µm": "μm microns micrometers",
    "mm": "millimeters millimetres millimeter millimetre", "cm": "centimeters centimetres centimeter centimetre",
    "m": "meters metres meter metre", "km": "kilometers kilometres kilometer kilometre", "ft": "feet foot",
    "in": "inches inch", "mile": "miles mi", "yd": "yards yard", "kB": "kilobytes kib", "MB": "megabytes mib",
    "GB": "gigabytes gigabyte gib gigs", "TB": "terabytes terabyte tib", "PB": "petabytes",
    "Kbps": "kbit/s", "Mbps": "mbit/s", "Gbps": "gbit/s",
    "MP": "megapixels megapixel mpx mpix", "Hz": "hertz", "kHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz",
    "ms": "milliseconds millisecond", "s": "seconds second secs sec", "min": "minutes minute mins",
    "h": "hours hour hrs hr", "day": "days", "week": "weeks", "month": "months", "year": "years yrs yr",
    "ml": "milliliters millilitres milliliter millilitre", "cl": "centilitres centiliters",
    "l": "liters litres liter litre L",
    "gal": "gallons gallon", "fl oz": "fl.oz. floz", "cm²": "cm2 sqcm", "m²": "m2 sqm",
    "°C": "℃ celsius degrees·celsius", "°F": "℉ fahrenheit degrees·fahrenheit", "%": "percent per·cent ％",
    "nits": "nit cd/m² cd/m2", "lm": "lumens lumen", "dB": "decibels decibel dba", "ppi": "dpi",
    "rpm": "revolutions·per·minute", "fps": "frames·per·second", "km/h": "kph kmh", "bar": "bars",
    "mph": "miles·per·hour",
    "cycles": "charge·cycles", "USD": "dollars dollar", "EUR": "euros euro",
    "GBP": "sterling", "JPY": "yen", "INR": "rupees",
}  # fmt: skip

CASED: Final = frozenset({"g", "m", "h", "s", "l", "L", "W", "V", "in"})
"""Names read only in this case. All others are read in any."""


def _names() -> dict[str, Unit]:
    names = dict[str, Unit]()
    for symbol, unit in UNITS.items():
        for name in (symbol, *_LONG.get(symbol, "").split()):
            plain = name.replace("·", " ").strip()
            names[plain if plain in CASED else plain.lower()] = unit
    return names


NAMES: Final = _names()
"""Every name of a unit, lower-case but for CASED."""


def unit_named(name: str) -> Unit | None:
    """The unit of this name, or None."""
    return NAMES.get(name) or NAMES.get(name.lower() if name.lower() not in CASED else "")
