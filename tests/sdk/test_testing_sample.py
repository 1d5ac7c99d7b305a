from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enfilade_sdk.parameters import (
    AgentStrategyParameter,
    ParameterDeclarationError,
    ParameterType,
    check_params,
    parameters_of,
)
from enfilade_sdk.testing.sample import sample_params

BOUNDS = st.none() | st.integers(-1000, 1000) | st.decimals(-1000, 1000, places=3).map(float)


@given(BOUNDS, BOUNDS, st.none() | st.integers(0, 5))
def test_a_sample_number_fits_whatever_bounds_leave_a_number(
    least: float | None, greatest: float | None, precision: int | None
) -> None:
    form = {"name": "p", "type": "number", "required": True, "min": least, "max": greatest, "precision": precision}
    try:
        parameter = AgentStrategyParameter.model_validate(form)
    except ParameterDeclarationError:  # bounds that leave no number
        return
    check_params([parameter], sample_params([parameter], {}))


@pytest.mark.parametrize("kind", list(ParameterType))
@pytest.mark.parametrize("multiple", [False, True])
def test_there_is_a_fitting_sample_for_every_type(kind: ParameterType, multiple: bool) -> None:
    form: dict[str, Any] = {"name": "p", "type": kind, "required": True}
    if kind is ParameterType.SELECT:
        form |= {"options": ["a", "b"], "multiple": multiple}
    declared = parameters_of([form])
    assert list(check_params(declared, sample_params(declared, {}))) == ["p"]


def test_only_what_is_required_and_missing_and_has_no_default_gets_a_sample() -> None:
    declared = parameters_of(
        [
            {"name": "given", "type": "string", "required": True},
            {"name": "has_default", "type": "string", "required": True, "default": "d"},
            {"name": "optional", "type": "string"},
            {"name": "lacking", "type": "string", "required": True},
        ]
    )
    assert sample_params(declared, {"given": ""}) == {"lacking": "sample", "given": ""}
