"""From a binding to a model that can be asked: the one place that knows which providers there are."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

import httpx

from schemas.bom import ModelBinding, Provider
from schemas.errors import BomError, SettingsError
from schemas.verdict_space import Form
from workers.judge.asking import FIRST_WAIT_S, RetryingModel
from workers.judge.protocols import Model
from workers.judge.providers.openai_compatible import Endpoint, OpenAICompatible
from workers.judge.providers.recorded import RecordedModel, read_recording
from workers.judge.providers.recorded_pairs import RecordedPairsModel, read_recorded_pairs
from workers.judge.providers.scripted import Script, ScriptedModel


def build_model(
    binding: ModelBinding,
    *,
    files: Mapping[str, bytes],
    clauses: Sequence[str],
    form: Form = Form.BINARY,
    endpoint: Endpoint | None,
    client: httpx.AsyncClient | None,
    rng: random.Random,
    clock: Callable[[], float],
    first_wait_s: float = FIRST_WAIT_S,
) -> Model:
    """The binding's model, bounded in time and retried as the binding says.

    ``files`` are the BOM's, ``clauses`` those that the criterion of this ``form`` may cite. ``endpoint`` and ``client``
    are needed by openai_compatible alone. ``clock`` is the event loop's. Raises BomError for a file that is missing or
    bad, and SettingsError when there is no endpoint.
    """
    match binding.provider:
        case Provider.OPENAI_COMPATIBLE:
            model = _openai_compatible(binding, endpoint, client)
        case Provider.SCRIPTED:
            name, raw = _file(binding, files)
            model = ScriptedModel(Script.read(name, raw, model=binding.model))
        case Provider.RECORDED:
            model = _recorded(binding, files, clauses, form)
    return RetryingModel(
        model,
        attempt_timeout_s=binding.attempt_timeout_s,
        max_attempts=binding.max_attempts,
        rng=rng,
        clock=clock,
        first_wait_s=first_wait_s,
    )


def _openai_compatible(binding: ModelBinding, endpoint: Endpoint | None, client: httpx.AsyncClient | None) -> Model:
    if endpoint is None or client is None:
        raise SettingsError(f"the BOM binds model {binding.model!r}; set ASSAY_MODEL_BASE_URL to where it is served")
    return OpenAICompatible(binding, endpoint, client)


def _recorded(binding: ModelBinding, files: Mapping[str, bytes], clauses: Sequence[str], form: Form) -> Model:
    name, raw = _file(binding, files)
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
