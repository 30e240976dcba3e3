// A preset for the Anthropic client, with marks where its cache may end.

import type Anthropic from "@anthropic-ai/sdk";

import { Agent, type Conversation } from "ctx-engine";

const PRESET = `
name: Ada
presetMessages:
- {role: system, content: "You are {{char}}, the keeper of a lighthouse."}
- {type: chat_history}
`;

/** Answers in the role of the preset: what stays the same from turn to turn is marked for the cache. */
export async function answer(client: Anthropic, conversation: Conversation, input: string): Promise<Anthropic.Message> {
  const agent = await Agent.compile(PRESET);
  const { body } = await agent.assemble(conversation, {
    input,
    model: "claude-sonnet-4-5",
    format: "anthropic",
    cacheMarks: "stable",
    parameters: { max_tokens: 1_000 },
  });
  return client.messages.create(body as unknown as Anthropic.MessageCreateParamsNonStreaming);
}
