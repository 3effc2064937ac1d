"""The instrument. Its public names for other roles: what they need without knowing its inside."""

from workers.judge.spans import sanitise_span

__all__ = ["sanitise_span"]
