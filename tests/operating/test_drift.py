"""A plugin whose environment was changed is not started."""

from tests.operating.operator import Operator


async def test_a_changed_environment_is_refused_with_what_changed_until_it_is_installed_anew(
    operator: Operator,
) -> None:
    await operator.add(operator.write("greeter"))
    assert (await operator.ask("greeter")).text == "hello\n"
    [folder] = operator.recorded()
    [packages] = (operator.root / "environments" / folder).glob("venv/lib/python3*/site-packages")
    (packages / "greeter" / "strategy.py").write_text("raise SystemExit('changed')\n")
    (packages / "evil.pth").write_text("import os\n")

    refused = await operator.ask("greeter")
    assert refused.code == 1
    assert "plugin 'greeter' 1.0.0 is not started: its environment is not what was installed:" in refused.err
    assert "site-packages/greeter/strategy.py was changed" in refused.err
    assert "site-packages/evil.pth was added" in refused.err
    assert "`enfilade plugins update greeter` installs it anew" in refused.err
    assert "not what was installed" in (await operator.plugins("check", "greeter")).text
    assert "FAULT  installed plugins: plugin 'greeter'" in (await operator.command("doctor")).text

    assert (await operator.update("greeter")).text.startswith("greeter 1.0.0 is installed anew")
    assert (await operator.ask("greeter")).text == "hello\n"


async def test_an_environment_that_is_gone_is_told_so(operator: Operator) -> None:
    await operator.add(operator.write("greeter"))
    [folder] = operator.recorded()
    (operator.root / "environments" / folder).rename(operator.root / "elsewhere")
    refused = await operator.ask("greeter")
    assert refused.code == 1
    assert (
        "cannot be used: No such file or directory; `enfilade plugins update greeter` installs it anew" in refused.err
    )
    assert (await operator.update("greeter")).code == 0
    assert (await operator.ask("greeter")).code == 0
