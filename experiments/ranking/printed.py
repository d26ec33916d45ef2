"""What the text prints: sizes of both algorithms, and how good the approximate one is."""

from __future__ import annotations

from typing import NamedTuple


class Printed(NamedTuple):
    """A row of a table of the text."""

    exact: float
    approximate: float
    precision: float
    error: float


# Generated data, W = 1000, ξ = 0.5; by the number of streams, k = 10, and by k, three streams.
BY_STREAMS = {
    3: Printed(345, 69, 0.80, 0.0174),
    4: Printed(450, 92, 0.81, 0.0242),
    6: Printed(495, 115, 0.76, 0.0408),
}
BY_LIMIT = {
    10: Printed(345.3, 69.26, 0.80, 0.01743),
    20: Printed(396.3, 105.6, 0.86, 0.0103),
    50: Printed(450.0, 198.7, 0.96, 0.0027),
    100: Printed(481.7, 315.1, 0.99, 0.0009),
}
# WorldCup98, k = 20; by the number of servers, W = 500, and by W, two servers.
BY_SERVERS = {
    2: Printed(217.46, 80.1, 0.92, 0.0113),
    3: Printed(250.0, 110.9, 0.93, 0.0136),
    4: Printed(250.0, 139.8, 0.95, 0.0097),
}
BY_WINDOW = {
    500: Printed(217.46, 80.1, 0.923, 0.0113),
    750: Printed(310.66, 80.9, 0.959, 0.0082),
    1000: Printed(407.09, 80.86, 0.974, 0.0084),
}
