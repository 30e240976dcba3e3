"""What checkers of types make of the package: nothing here runs."""

from typing import Any

import ctx

messages: list[ctx.Message] = [{"role": "user", "content": "Hi"}]
fitted: list[ctx.Message] = ctx.fit(messages, 1000, model="gpt-5")
conversation: ctx.Conversation[ctx.Message] = ctx.Conversation(messages)
conversation.append({"role": "assistant", "content": "Hello"})
again: list[ctx.Message] = ctx.fit(conversation, 1000)
body: dict[str, Any] = ctx.encode(fitted, "anthropic", "claude-sonnet-4-5")
tokens: int = ctx.count("Hello", model="gpt-5")
context: dict[str, Any] = ctx.Agent("presetMessages: []").assemble(conversation, "Hi", model="gpt-5")
