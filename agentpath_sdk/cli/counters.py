"""What each health counter of the SDK means and what to do when it rises."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Final

__all__ = ["COUNTER_MEANINGS", "meaning_of"]

COUNTER_MEANINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fault.tracing.*": "a fault of the tracer; the agent went on, the span or its content is missing",
        "fault.integration.*": "a framework's integration failed; its calls may be missing",
        "fault.dialects.load": "a package's span vocabulary (entry point agentpath_dialects) could not be loaded",
        "fault.dialects.*": "a span vocabulary failed on a span; that fact of the span is missing",
        "fault.langchain.*": "a callback of the LangChain handler failed; that call may be missing",
        "fault.outcome.*": "a word given by record_outcome() did not reach the pipeline",
        "fault.online.redaction": "a redaction rule failed; the content was left out",
        "fault.online.scorer": "the scorer failed; the run is recorded as not evaluated",
        "fault.online.look_up": "the look-up of a gold path failed; the run counts as having none",
        "fault.online.*": "a fault of the live pipeline; the agent is not affected, spans or scores may be missing",
        "fault.scoring.*": "a score or its reasons could not be made; the run is not evaluated, or has no reasons",
        "fault.gold.*": "a matcher failed or took too long; the argument counts as not matched",
        "fault.score_exporter.*": "a callable given as score exporter raised; that record is not given again",
        "fault.spool.*": "a score or span exporter failed; see the spool's own counters for what became of it",
        "fault.worker.*": "a background thread met a fault and went on",
        "fault.jsonl.*": "a file could not be written; look at disk space and permissions",
        "fault.configure.*": "flush or shutdown met a fault; something may not have been sent",
        "configure.failed": "the environment's exporter could not be set up; nothing is scored. Look at the log",
        "scoring.judge.invalid": "a model's verdict could not be read; that goal is not evaluated",
        "gold.matcher_not_registered": "a gold path names a function nobody registered; register it before configure()",
        "gold.regex_timeout": "a regular expression took too long; simplify it",
        "gold.reload_failed": "changed gold files cannot be read; the old ones serve. Run agentpath gold validate",
        "gold.reloaded": "changed gold files are in use",
        "jsonl.scores.not_cleaned": "a record could not be redacted, so it was not written",
        "online.dropped_spans": "the queue was full; the runs concerned are not scored. Raise AGENTPATH_QUEUE_SIZE",
        "online.held_*": "spans went on to the next exporter before their score was known",
        "online.less_complete_revision": "late spans made no better record; the earlier one stands",
        "online.metric_labels_capped": "too many agents or gold paths for metrics; the rest is counted together",
        "online.next_exporter_failed": "the exporter behind ours failed; its spans are lost",
        "online.outcome_*": "record_outcome() named a run that never turned up",
        "outcome.no_run": "record_outcome() was called outside every run and without run=",
        "outcome.unheard": "record_outcome() was called before configure()",
        "spool.*.dropped": "an exporter was too slow or failed for too long; records were dropped",
        "spool.*.retried": "a batch was sent again",
        "spool.*.superseded": "a record waiting to be sent was replaced by its newer revision",
        "worker.*.restarted": "a background thread was started again, as after a fork",
    }
)
"""Counter, or pattern of counters -> meaning; of several patterns the first that fits holds."""


def meaning_of(counter: str) -> str | None:
    """Return what ``counter`` means, or None for an unknown one."""
    return next((text for pattern, text in COUNTER_MEANINGS.items() if fnmatchcase(counter, pattern)), None)
