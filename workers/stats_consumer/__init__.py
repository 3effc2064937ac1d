"""The stats worker: telemetry, labels and canary runs into counts, counts into figures, figures into alerts."""
