// A chat with the OpenAI client whose history never outgrows its budget.

import type OpenAI from "openai";

import { type Conversation } from "ctx-engine";

type Said = OpenAI.ChatCompletionMessageParam;

const MODEL = "gpt-5";
const BUDGET = 8_000;

/** Asks a question; the conversation keeps everything, the request what fits. */
export async function ask(client: OpenAI, conversation: Conversation<Said>, question: string): Promise<string> {
  conversation.append({ role: "user", content: question });
  const messages = await conversation.fit(BUDGET, { model: MODEL });
  const reply = await client.chat.completions.create({ model: MODEL, messages });
  const message = reply.choices[0]?.message;
  if (!message) throw new Error("the model said nothing");
  conversation.append(message);
  return message.content ?? "";
}
