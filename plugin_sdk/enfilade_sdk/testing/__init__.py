"""The test kit for authors of strategies: scripted model and tools, one run, conformance checks.

    from enfilade_sdk.testing import CallOf, conformance, run_strategy

    def test_it_looks_before_it_answers():
        run = run_strategy(MyStrategy, "How warm is it?", model=[CallOf("look"), "21 degrees"], tools={"look": "21"})
        assert run.check().answer == "21 degrees"

    def test_it_does_what_hosts_rely_on():
        conformance.check(MyStrategy)

Nothing here needs pytest.
"""

from enfilade_sdk.testing.outcome import StrategyRun
from enfilade_sdk.testing.run import ScriptError, StrategyHangsError, run_strategy, run_strategy_async
from enfilade_sdk.testing.scripted_hatch import ScriptedHatch
from enfilade_sdk.testing.scripted_model import ScriptedModel
from enfilade_sdk.testing.scripted_tools import RecordedCall, ScriptedTool, ScriptedTools
from enfilade_sdk.testing.subject import ConformanceError
from enfilade_sdk.testing.turn import CallOf, Turn

__all__ = [
    "CallOf",
    "ConformanceError",
    "RecordedCall",
    "ScriptError",
    "ScriptedHatch",
    "ScriptedModel",
    "ScriptedTool",
    "ScriptedTools",
    "StrategyHangsError",
    "StrategyRun",
    "Turn",
    "run_strategy",
    "run_strategy_async",
]
