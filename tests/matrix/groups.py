"""All rows of the table."""

from tests.matrix.forms import FORMS
from tests.matrix.sinks import SINKS

GROUPS = (SINKS, FORMS)
