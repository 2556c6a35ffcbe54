"""Spans and score records as JSON Lines files.

>>> configure(gold="gold/", score_exporters=[JsonlScoreExporter("scores.jsonl")])
>>> provider.add_span_processor(BatchSpanProcessor(JsonlSpanExporter("spans.jsonl")))
"""

from __future__ import annotations

from agentpath_jsonl.scores import JsonlScoreExporter
from agentpath_jsonl.spans import JsonlSpanExporter

__all__ = ["JsonlScoreExporter", "JsonlSpanExporter"]
