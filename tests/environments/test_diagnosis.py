import pytest

from enfilade.environments.command import Ended
from enfilade.environments.diagnosis import diagnosed
from enfilade.environments.errors import InstallError, Reason
from enfilade.environments.installer import check_ended


@pytest.mark.parametrize(
    ("said", "reason", "advice"),
    [
        ("cause: failed to copy: No space left on device (os error 28)", Reason.DISK_FULL, "the disk is full"),
        ("cannot start /x/uv: No such file or directory", Reason.NO_INSTALLER, "install it anew"),
        ("x==1 has no usable wheels and only x==1 is available", Reason.BUILD_REFUSED, "--allow-build"),
        ("because x==1 requires Python >=3.99", Reason.PYTHON, "name one"),
        ("x==1 has no wheels with a matching Python ABI tag", Reason.PYTHON, "name another Python"),
        ("Hash mismatch for `part==1.0.0`", Reason.INSTALLER_FAILED, "try again"),
        ("cause: error sending request for url (http://h/simple/x/)", Reason.INSTALLER_FAILED, "look at the network"),
        ("x was not found in the cache\nhint: the network was disabled", Reason.INSTALLER_FAILED, "cannot be reached"),
        ("cause: The wheel is invalid: duplicate option at line 3", Reason.INSTALLER_FAILED, "tell its author"),
        ("Because x was not found in the package registry", Reason.INSTALLER_FAILED, "look at how it is written"),
        ("Because there is no version of x==9", Reason.INSTALLER_FAILED, "look at how it is written"),
        ("ERROR: No matching distribution found for x==9", Reason.INSTALLER_FAILED, "look at how it is written"),
        ("that your requirements are unsatisfiable.", Reason.INSTALLER_FAILED, "ask for another version"),
        ("you require x<0 and x>1, which are incompatible", Reason.INSTALLER_FAILED, "ask for another version"),
    ],
)
def test_what_a_tool_says_last_comes_to_a_reason_and_to_what_to_do(said: str, reason: Reason, advice: str) -> None:
    found, told = diagnosed(said, allow_build=False)
    assert found is reason
    assert advice in told


def test_whoever_may_build_is_not_told_to_allow_it() -> None:
    assert diagnosed("x==1 has no usable wheels", allow_build=True) == (Reason.INSTALLER_FAILED, "")


def test_what_nobody_knows_is_told_in_the_tools_own_words() -> None:
    with pytest.raises(InstallError) as caught:
        check_ended(Ended(2, b"", ("the moon is full",)), "uv", "install x", allow_build=False)
    assert caught.value.message == (
        "uv could not install x (exit code 2); nothing was changed. Its last lines:\n  the moon is full"
    )
