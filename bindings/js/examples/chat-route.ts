// A route for the chat of a page, as with the Vercel AI SDK: it takes the page's messages and streams the answer.

import { Stream, encode, fit } from "ctx-engine";

/** A message as the page keeps it. */
interface PageMessage {
  id: string;
  role: "system" | "user" | "assistant";
  parts: { type: string; text?: string }[];
}

const MODEL = "gpt-5";
const BUDGET = 8_000;

/** Makes the route; `send` sends the body of a request to the provider and gives its streamed reply. */
export function route(send: (body: object) => Promise<Response>): (request: Request) => Promise<Response> {
  return async (request) => {
    const { messages } = (await request.json()) as { messages: PageMessage[] };
    const fitted = await fit(messages, BUDGET, { model: MODEL });
    const body = await encode(fitted, "openai", MODEL, { parameters: { stream: true } });
    const reply = await send(body);
    return new Response(reply.body?.pipeThrough(new TextDecoderStream()).pipeThrough(await words()));
  };
}

/** Takes server-sent events apart, and gives the words of the answer. */
async function words(): Promise<TransformStream<string, Uint8Array>> {
  const stream = await Stream.open("openai");
  const encoder = new TextEncoder();
  let rest = "";
  return new TransformStream({
    transform(text, controller) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        if (!line.startsWith("data: ")) continue;
        for (const delta of stream.push(line.slice("data: ".length))) {
          if (delta.kind === "text") controller.enqueue(encoder.encode(delta.text));
        }
      }
    },
    flush() {
      stream.free();
    },
  });
}
