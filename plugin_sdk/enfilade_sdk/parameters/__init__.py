"""Parameters of strategies: declare, check, publish as JSON Schema, read from text, mask."""

from enfilade_sdk.parameters.check import MASK, check_params, masked
from enfilade_sdk.parameters.declaration import (
    AgentStrategyParameter,
    AutoGenerate,
    ParameterDeclarationError,
    ParameterOption,
    Template,
)
from enfilade_sdk.parameters.fault import ParameterFault
from enfilade_sdk.parameters.kind import ParameterType
from enfilade_sdk.parameters.listing import parameters_of
from enfilade_sdk.parameters.schema import parameter_schema, parameters_schema
from enfilade_sdk.parameters.text import param_from_text, params_from_text

__all__ = [
    "MASK",
    "AgentStrategyParameter",
    "AutoGenerate",
    "ParameterDeclarationError",
    "ParameterFault",
    "ParameterOption",
    "ParameterType",
    "Template",
    "check_params",
    "masked",
    "param_from_text",
    "parameter_schema",
    "parameters_of",
    "parameters_schema",
    "params_from_text",
]
