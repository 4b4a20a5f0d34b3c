"""The defect set: every kind of broken program, each to be stopped by the gate meant for it."""

from tests.defects.making import Defect, good
from tests.defects.of_form import OF_FORM
from tests.defects.of_meaning import OF_MEANING
from tests.defects.of_running import OF_RUNNING
from tests.defects.of_tools import OF_TOOLS

DEFECTS: tuple[Defect, ...] = (*OF_FORM, *OF_RUNNING, *OF_MEANING, *OF_TOOLS)

__all__ = ["DEFECTS", "Defect", "good"]
