"""Strict types of code that uses the LangChain integration: nothing here runs."""

# Types of `create_agent` and `add_node` are partially unknown.
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false

from langchain.agents import create_agent
from langchain_core.messages import BaseMessage, HumanMessage
from langgraph.graph import StateGraph

from ctx.integrations.langchain import CtxMiddleware, trim_messages
from ctx.integrations.langgraph import CtxState, pre_model_hook

agent = create_agent("openai:gpt-5", middleware=[CtxMiddleware(budget=8_000, keep=lambda message: message.id == "h")])
other = create_agent("openai:gpt-5", middleware=[CtxMiddleware(trigger=("tokens", 8_000), keep=("messages", 20))])
third = create_agent("openai:gpt-5", middleware=[CtxMiddleware(trigger=[("fraction", 0.8), {"tokens": 8_000}])])
trimmed: list[BaseMessage] = trim_messages([HumanMessage("Hello")], max_tokens=10, start_on="human")
graph = StateGraph(CtxState)
graph.add_node("plan", pre_model_hook(8_000))
