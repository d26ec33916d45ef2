"""What random cases have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from tests.checking.plans import Inputs


@dataclass(frozen=True)
class Case(ABC):
    """Something to check on some inputs."""

    inputs: Inputs

    @abstractmethod
    def check(self) -> None:
        """Fail if the answer is wrong."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The query or plan."""

    def __str__(self) -> str:
        return f"{self.text}\n\n{self.inputs}"
