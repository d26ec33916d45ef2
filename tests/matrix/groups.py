"""All rows of the table."""

from tests.matrix.changes import CHANGES
from tests.matrix.forms import FORMS
from tests.matrix.relations import RELATIONS
from tests.matrix.restarts import RESTARTS
from tests.matrix.sinks import SINKS
from tests.matrix.sources import SOURCES
from tests.matrix.times import TIMES

GROUPS = (SOURCES, SINKS, FORMS, RELATIONS, TIMES, CHANGES, RESTARTS)
