"""`enfilade models`."""

import os
from typing import Any

from enfilade.cli.exit_code import DONE
from enfilade.cli.listing import print_json, print_table
from enfilade.config import load_config
from enfilade.models.gateway import ModelGateway
from enfilade.models.settings import ModelSettings
from enfilade.secrecy.address import shown_address

_ABILITIES = ("tools", "vision", "stop_words", "streaming", "completion")
_COLUMNS = ("name", "provider", "model", "endpoint", "abilities", "context_window", "key")


def show(as_json: bool) -> int:
    """Prints the models: where each is, what it can do, whether its key is there; never the key."""
    config = load_config()
    gateway = ModelGateway(config.models, config.default_model)
    rows = [_row(name, gateway.resolve(name), default=name == gateway.default) for name in gateway.names()]
    if as_json:
        print_json(rows)
    else:
        print_table(_COLUMNS, [_for_people(row) for row in rows])
    return DONE


def _row(name: str, model: ModelSettings, *, default: bool) -> dict[str, Any]:
    return {
        "name": name,
        "default": default,
        "provider": model.provider,
        "model": model.name,
        "endpoint": model.base_url and shown_address(model.base_url),
        "abilities": [ability for ability in _ABILITIES if getattr(model, ability)],
        "context_window": model.context_window or None,
        "api_key_env": model.api_key_env,
        "api_key_set": None if model.api_key_env is None else bool(os.environ.get(model.api_key_env)),
    }


def _for_people(row: dict[str, Any]) -> dict[str, Any]:
    key = row["api_key_env"] and f"{row['api_key_env']} ({'set' if row['api_key_set'] else 'NOT SET'})"
    name = f"{row['name']} (default)" if row["default"] else row["name"]
    return row | {"name": name, "abilities": ", ".join(row["abilities"]), "key": key}
