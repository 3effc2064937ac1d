"""A report as JUnit XML: what CI systems draw as tests."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET  # writes only; nothing is parsed here

from workers.conformance.findings import Result
from workers.conformance.suite import Checked, Report

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(report: Report) -> bytes:
    """One test case a check. Not applicable is skipped; unavailable is a failure where it stops a PASS."""
    failures = sum(not one.holds for one in report.checked)
    skipped = sum(one.holds and one.finding.result is not Result.PASS for one in report.checked)
    counts = {"tests": str(len(report.checked)), "failures": str(failures), "skipped": str(skipped), "errors": "0"}
    suite = ET.Element("testsuite", {"name": "assay conformance", **counts})
    for one in report.checked:
        suite.append(_case(one))
    return bytes(ET.tostring(suite, encoding="utf-8", xml_declaration=True))


def _case(one: Checked) -> ET.Element:
    case = ET.Element("testcase", {"classname": "assay.conformance", "name": one.check.name})
    told = _NOT_XML.sub("?", f"{one.finding.result}: {one.finding.detail}")
    if not one.holds:
        ET.SubElement(case, "failure", {"message": told, "type": str(one.finding.result)}).text = one.check.rule
    elif one.finding.result is not Result.PASS:
        ET.SubElement(case, "skipped", {"message": told})
    return case
