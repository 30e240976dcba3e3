// The types of the integrations fit those of the frameworks.

import { Agent, MemorySession, Runner } from "@openai/agents";
import * as six from "ai";
import { MockLanguageModelV3 } from "ai/test";
import * as seven from "ai-7";
import { MockLanguageModelV4 } from "ai-7/test";
import { type Report, ctxMiddleware, ctxPrepareStep } from "ctx-engine/ai-sdk";
import { ctxMiddleware as langchainMiddleware } from "ctx-engine/langchain";
import { ctxInputFilter, ctxSession } from "ctx-engine/openai-agents";
import "ctx-engine/vitest";
import { createAgent } from "langchain";
import { expect } from "vitest";

const reports: Report[] = [];
const options = { budget: 8_000, onReport: (report: Report) => void reports.push(report) };

export const agents = [
  new six.ToolLoopAgent({
    model: six.wrapLanguageModel({ model: new MockLanguageModelV3(), middleware: ctxMiddleware(options) }),
    prepareStep: ctxPrepareStep({ ...options, keep: (message) => message.role === "user" }),
  }),
  new seven.ToolLoopAgent({
    model: seven.wrapLanguageModel({ model: new MockLanguageModelV4(), middleware: ctxMiddleware(options) }),
    prepareStep: ctxPrepareStep({ ...options, keep: (message) => message.role === "user" }),
  }),
];

export const agent = createAgent({
  model: "openai:gpt-5",
  tools: [],
  middleware: [langchainMiddleware({ ...options, keep: (message) => message.type === "human" })],
});

const session: MemorySession = ctxSession(new MemorySession(), { ...options, keep: (item) => item.type === "compaction" });
export const result = new Runner({ callModelInputFilter: ctxInputFilter(options) }).run(new Agent({ name: "Ada" }), "Hello", { session });

export const compared: Promise<unknown> = expect([]).toMatchContext("start");
