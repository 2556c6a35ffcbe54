"""Every span, attribute, event and metric name the SDK writes or reads as its own, once.

The GenAI names are plain strings on purpose: the published Python constants are frozen and marked
as moved to a repository that has no package yet.
"""

from __future__ import annotations

from typing import Final

SCOPE_NAME: Final = "agentpath_sdk"

# --- OpenTelemetry GenAI -------------------------------------------------------------------------
OPERATION_NAME: Final = "gen_ai.operation.name"
PROVIDER_NAME: Final = "gen_ai.provider.name"
AGENT_NAME: Final = "gen_ai.agent.name"
CONVERSATION_ID: Final = "gen_ai.conversation.id"
TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_DESCRIPTION: Final = "gen_ai.tool.description"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"
TOOL_CALL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_CALL_RESULT: Final = "gen_ai.tool.call.result"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
REQUEST_MODEL: Final = "gen_ai.request.model"
RESPONSE_MODEL: Final = "gen_ai.response.model"
RESPONSE_FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
USAGE_INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
USAGE_OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
RETRIEVAL_QUERY: Final = "gen_ai.retrieval.query.text"
RETRIEVAL_DOCUMENTS: Final = "gen_ai.retrieval.documents"
ERROR_TYPE: Final = "error.type"

OP_INVOKE_AGENT: Final = "invoke_agent"
OP_EXECUTE_TOOL: Final = "execute_tool"
OP_CHAT: Final = "chat"
OP_RETRIEVAL: Final = "retrieval"
OP_EVALUATION: Final = "evaluation"

# --- evaluation result event (log record) --------------------------------------------------------
EVENT_EVALUATION_RESULT: Final = "gen_ai.evaluation.result"
EVALUATION_NAME: Final = "gen_ai.evaluation.name"
EVALUATION_SCORE_VALUE: Final = "gen_ai.evaluation.score.value"
EVALUATION_SCORE_LABEL: Final = "gen_ai.evaluation.score.label"
EVALUATION_EXPLANATION: Final = "gen_ai.evaluation.explanation"
EVALUATOR_VERSION: Final = "gen_ai.evaluation.evaluator.version"

# --- said by the application ---------------------------------------------------------------------
# A gold path's id; as span attribute, or as baggage entry of the same name.
REQUEST_GOLD_PATH: Final = "agentpath.request.gold_path"
STEP_PHASE: Final = "agentpath.step.phase"

# --- said by the write side, on the spans it makes -----------------------------------------------
# Number of tool calls the recorder started inside this agent run (nested agents' calls not counted).
RUN_CALLS: Final = "agentpath.run.calls"
RUN_STOP_REASON: Final = "agentpath.run.stop_reason"
# Goal reached or not, as the application said it while the run was open (bool), and why.
RUN_GOAL_SUCCESS: Final = "agentpath.run.goal_success"
RUN_GOAL_REASON: Final = "agentpath.run.goal_reason"
RUN_GOAL_SOURCE: Final = "agentpath.run.goal_source"
# ok, error, cancelled, interrupted, abandoned
STEP_OUTCOME: Final = "agentpath.step.outcome"
STEP_ERROR_MESSAGE: Final = "agentpath.step.error_message"
# What went into and came out of a phase (a marked step that is no tool call), as JSON.
STEP_INPUT: Final = "agentpath.step.input"
STEP_OUTPUT: Final = "agentpath.step.output"
# Items a stream handed out before its reader left; set only on partly read streams.
STEP_PARTIAL_ITEMS: Final = "agentpath.step.partial_items"
# Names of content fields ("arguments", "result", "input", "output") that were cut to the size limit.
CONTENT_TRUNCATED: Final = "agentpath.content.truncated"
# Names of content fields kept as raw text because they could not be decoded to an object.
CONTENT_RAW: Final = "agentpath.content.raw"
# "off" when content capture is switched off for this span.
CONTENT_CAPTURE: Final = "agentpath.content.capture"
# Identity of one call as seen by several of our own doors (decorator, handler); equal means same call.
STEP_IDENTITY: Final = "agentpath.step.identity"

# --- said by the scorer, on the agent's root span, the event and the evaluate span ----------------
SCORE_VALUE: Final = "agentpath.score.value"
SCORE_NAME: Final = "agentpath.score.name"
SCORE_LABEL: Final = "agentpath.score.label"
SCORE_NOT_EVALUATED: Final = "agentpath.score.not_evaluated"
METRIC_PREFIX: Final = "agentpath.metric."
GOLD_PATH_ID: Final = "agentpath.gold_path.id"
GOLD_PATH_VERSION: Final = "agentpath.gold_path.version"
GOLD_PATH_MATCH: Final = "agentpath.gold_path.match"
RUN_COMPLETENESS: Final = "agentpath.run.completeness"
RUN_REVISION: Final = "agentpath.run.revision"
RUN_STEPS: Final = "agentpath.run.steps"
RUN_FIRST_DIVERGENCE: Final = "agentpath.run.first_divergence"
FINDINGS: Final = "agentpath.findings"
SCORER_VERSION: Final = "agentpath.scorer.version"
RECORD_ID: Final = "agentpath.record.id"

# --- metrics -------------------------------------------------------------------------------------
METRIC_SCORE_HISTOGRAM: Final = "agentpath.trajectory.score"
METRIC_TRAJECTORIES: Final = "agentpath.trajectories"
METRIC_HEALTH: Final = "agentpath.health"
# Label of METRIC_HEALTH: which counter.
HEALTH_COUNTER: Final = "agentpath.counter"

# --- span names ----------------------------------------------------------------------------------
SPAN_EVALUATE: Final = "evaluate"


def span_name(operation: str, subject: str) -> str:
    """Return a GenAI span name, ``execute_tool search``."""
    return f"{operation} {subject}" if subject else operation
