"""How fast it is: ratios against a bare baseline that is measured in the same run. See docs/benchmarks.md."""
