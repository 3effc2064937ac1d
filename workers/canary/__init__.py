"""The canary: a fixed labelled set judged again every day, against the verdicts certified with the BOM."""
