"""Clusters of Kafka that may be away for a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException

from tidemill.connectors.durations import seconds
from tidemill.errors import ExecutionError
from tidemill.sql import OptionValue

T = TypeVar("T")

SECURITY = (
    "security.protocol",
    "sasl.mechanism",
    "sasl.username",
    "sasl.password",
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.key.location",
    "ssl.key.password",
)
"""What is passed on to librdkafka, under its own names."""

CLUSTER_OPTIONS = ("servers", *SECURITY, "retry")

_PATIENCE = 30.0
_ONE_TRY = 5.0
_PAUSE = 0.1

# What waiting does not cure.
_HOPELESS = {
    KafkaError._AUTHENTICATION,
    KafkaError._FATAL,
    KafkaError._FENCED,
    KafkaError._INVALID_ARG,
    KafkaError._SSL,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.TOPIC_EXCEPTION,
    KafkaError.MSG_SIZE_TOO_LARGE,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.UNSUPPORTED_SASL_MECHANISM,
    KafkaError.UNSUPPORTED_VERSION,
}


@dataclass(frozen=True)
class Cluster:
    """Where brokers are, how to prove who asks, and for how many seconds to wait for them.

    >>> print(Cluster.of({"servers": "one:9092,two:9092", "sasl.password": "secret"}))
    one:9092,two:9092
    """

    servers: str
    security: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    patience: float = _PATIENCE

    @staticmethod
    def of(options: Mapping[str, OptionValue]) -> Cluster:
        """The cluster that options name."""
        given = tuple((name, str(options[name])) for name in SECURITY if options.get(name))
        retry = options.get("retry")
        patience = _PATIENCE if retry is None else seconds(retry)
        return Cluster(str(options["servers"]), given, patience)

    def __str__(self) -> str:
        return self.servers

    def made(self, client: Callable[[dict[str, Any]], T], settings: Mapping[str, Any]) -> T:
        """A client of librdkafka."""
        # What goes wrong is told by errors, not on the terminal.
        own: dict[str, Any] = {"bootstrap.servers": self.servers, "log_level": 0}
        try:
            return client({**own, **dict(self.security), **settings})
        except KafkaException as error:
            help = f"check the options {', '.join(('servers', *SECURITY))}"
            raise ExecutionError(f"Kafka at {self}: {self.shown(error)}", help=help) from None

    def attempt(self, work: Callable[[float], T], heard: Errors | None = None) -> T:
        """Do work, which is told for how many seconds it may wait, until it succeeds."""
        deadline = time.monotonic() + self.patience
        if heard is not None:
            heard.worst = None
        while True:
            left = deadline - time.monotonic()
            try:
                return work(max(_PAUSE, min(left, _ONE_TRY)))
            except KafkaException as error:
                known = heard.worst if heard is not None else None
                if left <= 0 or is_hopeless(error) or known is not None:
                    raise self.away(known or error.args[0]) from None
                time.sleep(_PAUSE)

    def away(self, error: object) -> ExecutionError:
        """The complaint that brokers cannot be used."""
        return ExecutionError(
            f"Kafka at {self} cannot be used: {self.shown(error)}",
            help="check the brokers and start the query again: with its checkpoint it resumes "
            "where it was, and nothing is lost; retry => '5 minutes' waits longer",
        )

    def shown(self, error: object) -> str:
        """What a broker or the library said, on one line and without passwords."""
        told = error.args[0] if isinstance(error, KafkaException) else error
        text = " ".join((told.str() if isinstance(told, KafkaError) else str(told)).split())
        for name, secret in self.security:
            if name.endswith("password"):
                text = text.replace(secret, "***")
        return text


def is_hopeless(error: KafkaException | KafkaError) -> bool:
    """Whether waiting does not help."""
    told = error.args[0] if isinstance(error, KafkaException) else error
    return bool(told.fatal() or told.code() in _HOPELESS)


class Errors:
    """What a client tells beside its answers: why brokers cannot be reached."""

    def __init__(self) -> None:
        self.worst: KafkaError | None = None

    def __call__(self, error: KafkaError) -> None:
        if is_hopeless(error):
            self.worst = error
