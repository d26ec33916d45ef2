"""The page of the documentation, with a broker."""

from __future__ import annotations

from tests.connectors.kafka.broker import Broker
from tests.docs.pages import ROOT, Session, examples, expected


def test_the_page_of_the_documentation(broker: Broker) -> None:
    page = (ROOT / "docs" / "kafka.md").read_text("utf-8")
    with Session() as reader:
        for example in examples(page.replace("localhost:9092", broker.address)):
            output, shown = reader.run(example.block), expected(example)
            assert shown is None or output == shown
