// The types of the integrations fit those of the frameworks.

import * as six from "ai";
import { MockLanguageModelV3 } from "ai/test";
import * as seven from "ai-7";
import { MockLanguageModelV4 } from "ai-7/test";
import { type Report, ctxMiddleware, ctxPrepareStep } from "ctx-engine/ai-sdk";

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
