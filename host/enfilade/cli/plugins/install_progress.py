"""How an installation is shown while it goes on."""

from enfilade.cli.screen import Screen
from enfilade.environments.order import Step, StepName


class InstallProgress:
    """A line on standard error for each step; what tools say meanwhile only on a terminal, or when all is asked for.

    Args:
        screen: Where it is shown.
        verbose: Whether each line of the tools stays.
    """

    def __init__(self, screen: Screen, *, verbose: bool) -> None:
        self._screen = screen
        self._verbose = verbose
        self._begun: set[StepName] = set()

    def __call__(self, step: Step) -> None:
        """Shows where it is."""
        if step.name not in self._begun:  # some steps are taken at once
            self._begun.add(step.name)
            self._screen.note(step.text)
        elif self._verbose:
            self._screen.note(step.text, indent="  ")
        else:
            self._screen.status(f"  {step.text}")
