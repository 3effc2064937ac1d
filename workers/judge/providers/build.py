"""From a binding to a model that can be asked: the one place that knows which providers there are."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

import httpx

from schemas.bom import ModelBinding, Provider
from schemas.errors import BomError, SettingsError
from schemas.verdict_space import Form
from workers.judge.asking import FIRST_WAIT_S, RetryingModel, TimedModel
from workers.judge.limits.budgeted_model import BudgetedModel
from workers.judge.limits.limited_model import LimitedModel
from workers.judge.limits.purse import Purse
from workers.judge.pricing import Price
from workers.judge.protocols import Model
from workers.judge.providers.anthropic import Anthropic
from workers.judge.providers.endpoint import Endpoint
from workers.judge.providers.endpoints import Endpoints, Reach
from workers.judge.providers.openai_compatible import OpenAICompatible
from workers.judge.providers.recorded import RecordedModel, read_recording
from workers.judge.providers.recorded_pairs import RecordedPairsModel, read_recorded_pairs
from workers.judge.providers.scripted import Script, ScriptedModel


def build_model(
    binding: ModelBinding,
    *,
    files: Mapping[str, bytes],
    clauses: Sequence[str],
    form: Form = Form.BINARY,
    endpoints: Endpoints | None,
    purse: Purse | None,
    price: Price | None,
    rng: random.Random,
    clock: Callable[[], float],
    first_wait_s: float = FIRST_WAIT_S,
) -> Model:
    """The binding's model: retried as the binding says; each call behind its endpoint's limits, paid for, and in time.

    ``files`` are the BOM's, ``clauses`` those that the criterion of this ``form`` may cite. ``endpoints`` are needed by
    models over HTTP alone; without ``purse`` nothing is capped. ``clock`` is the event loop's. Raises BomError for a
    file that is missing or bad, and SettingsError when the endpoint is not set.
    """
    reach = None
    if binding.provider.over_http:
        reach = reach_of(binding, endpoints)
        assert endpoints is not None
        model = over_http(binding, reach.endpoint, endpoints.client)
    else:
        model = _at_home(binding, files, clauses, form)
    model = TimedModel(model, attempt_timeout_s=binding.attempt_timeout_s, clock=clock)
    if purse is not None:
        model = BudgetedModel(model, purse, binding=binding, price=price)
    if reach is not None:
        model = LimitedModel(model, reach.limits, binding=binding, clock=clock)
    return RetryingModel(model, max_attempts=binding.max_attempts, rng=rng, clock=clock, first_wait_s=first_wait_s)


def reach_of(binding: ModelBinding, endpoints: Endpoints | None) -> Reach:
    """How a binding's endpoint is reached. Raises SettingsError when it is not set."""
    if endpoints is None:
        raise SettingsError(f"the BOM binds model {binding.model!r}; set ASSAY_MODEL_BASE_URL to where it is served")
    return endpoints.named(binding.endpoint, model=binding.model)


def over_http(binding: ModelBinding, endpoint: Endpoint, client: httpx.AsyncClient) -> Model:
    """The bare model: one call each time it is asked, without limits and without a time limit of its own."""
    kind = Anthropic if binding.provider is Provider.ANTHROPIC else OpenAICompatible
    return kind(binding, endpoint, client)


def _at_home(binding: ModelBinding, files: Mapping[str, bytes], clauses: Sequence[str], form: Form) -> Model:
    name, raw = _file(binding, files)
    if binding.provider is Provider.SCRIPTED:
        return ScriptedModel(Script.read(name, raw, model=binding.model))
    if not clauses:
        raise BomError("charter.yaml: a criterion with a recorded judge needs a clause for the fails to cite")
    judge, clause = binding.model, clauses[0]
    match form:
        case Form.BINARY:
            return RecordedModel(read_recording(name, raw, judge=judge), judge=judge, clause=clause)
        case Form.PAIRWISE:
            return RecordedPairsModel(read_recorded_pairs(name, raw, judge=judge), judge=judge, clause=clause)
        case Form.ORDINAL:
            raise BomError(f"bindings.yaml: {judge}: recordings hold labels or preferences, no scores")


def _file(binding: ModelBinding, files: Mapping[str, bytes]) -> tuple[str, bytes]:
    if binding.file is None or binding.file not in files:
        raise BomError(f"bindings.yaml: {binding.model}: file {binding.file!r} is not in the BOM")
    return binding.file, files[binding.file]
