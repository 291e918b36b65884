"""Claude's plans: forms filled in by tool use, with the client, retries and errors of `anthropic`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ragcore.errors import StreamBroken
from ragcore.protocols import PlanRequest, prompted
from ragcore.providers.anthropic import AnthropicModel, AnthropicStream

if TYPE_CHECKING:
    from anthropic.types import RawMessageStreamEvent, ToolParam


class AnthropicPlanner(AnthropicModel):
    """Fills in forms."""

    def call(self, request: PlanRequest) -> FormStream:
        """Errors are raised where the stream is iterated, as by `AnthropicStream`."""
        return FormStream(self, request)


class FormStream(AnthropicStream):
    """The input of the one tool that the model must call, as it arrives. What it says beside it is left out."""

    optional = ("temperature", "strict")

    def __init__(self, model: AnthropicModel, request: PlanRequest) -> None:
        super().__init__(model, prompted(request))
        self._form = request.form

    def _asked(self) -> dict[str, Any]:
        form = self._form
        tool: ToolParam = {
            "name": form.name,
            "description": form.description,
            "input_schema": {**form.schema, "type": "object"},
            "strict": True,
        }
        return {
            **super()._asked(),
            "tools": [tool],
            "tool_choice": {"type": "tool", "name": form.name, "disable_parallel_tool_use": True},
        }

    def _leave_out(self, body: dict[str, Any], name: str) -> None:
        if name == "strict":
            del body["tools"][0]["strict"]
        else:
            super()._leave_out(body, name)

    def _system(self) -> str:
        return self._request.system

    def _piece(self, event: RawMessageStreamEvent) -> str:
        if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            return event.delta.partial_json
        if event.type == "content_block_start" and event.content_block.type == "tool_use" and event.content_block.input:
            # Some servers send the whole input at once.
            return json.dumps(event.content_block.input)
        return ""

    def _check(self, stop_reason: str | None, explanation: str) -> None:
        if stop_reason == "max_tokens":
            raise StreamBroken(
                f"The model's plan was cut off after {self._request.max_tokens} tokens.",
                hint="Raise agentic.max_tokens in config.toml.",
                retryable=False,
            )
        super()._check(stop_reason, explanation)
