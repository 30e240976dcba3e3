// Client libraries of npm. Each answers one scenario in its own way and returns the final text or object.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// The packages are in the folder in which this runs.
const require = createRequire(join(process.cwd(), 'package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)));

const SCHEMA = {
  type: 'object',
  properties: { at: { type: 'string' } },
  required: ['at'],
  additionalProperties: false,
};
const COLOR = {
  type: 'object',
  properties: { color: { type: 'string' } },
  required: ['color'],
  additionalProperties: false,
};
export const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PICTURE_URL = `data:image/png;base64,${PICTURE}`;
const BRIEF = 'Be brief.';
/// API key of all clients.
export const KEY = 'client-key';
const look = ({ at }) => `grass at ${at}`;
const DESCRIPTION = 'Look at a place';
const parsed = (text, { schema }) => (schema ? JSON.parse(text) : text);

/// Options of a scenario that the official packages send; the other clients choose their own.
const CHAT = {
  seed: 7,
  stop: ['END'],
  logprobs: true,
  top_logprobs: 2,
  metadata: { team: 'garden' },
  store: false,
  user: 'ann',
  safety_identifier: 'ann',
  prompt_cache_key: 'garden',
  verbosity: 'low',
  service_tier: 'default',
};
const RESPONSES = {
  instructions: BRIEF,
  store: false,
  include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
  metadata: { team: 'garden' },
  truncation: 'auto',
  prompt_cache_key: 'garden',
  max_tool_calls: 9,
  service_tier: 'default',
  safety_identifier: 'ann',
};
const MESSAGES = {
  max_tokens: 4096,
  system: [{ type: 'text', text: BRIEF, cache_control: { type: 'ephemeral', ttl: '1h' } }],
  metadata: { user_id: 'ann' },
  stop_sequences: ['END'],
  service_tier: 'auto',
};
const CONTENT = {
  systemInstruction: BRIEF,
  topP: 0.5,
  seed: 7,
  stopSequences: ['END'],
  safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
};

export async function openaiClient({ base }) {
  const { default: OpenAI } = await load('openai');
  return new OpenAI({ baseURL: `${base}/v1`, apiKey: KEY, maxRetries: 0 });
}

export async function anthropicClient({ base }) {
  const { default: Anthropic } = await load('@anthropic-ai/sdk');
  return new Anthropic({ baseURL: base, apiKey: KEY, maxRetries: 0 });
}

export async function googleClient({ base }) {
  const { GoogleGenAI } = await load('@google/genai');
  return new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: base } });
}

async function openaiChat(ask) {
  const client = await openaiClient(ask);
  const content = [
    { type: 'text', text: ask.prompt },
    { type: 'image_url', image_url: { url: PICTURE_URL, detail: 'low' } },
  ];
  const messages = [
    { role: 'developer', content: BRIEF },
    { role: 'user', content: ask.image ? content : ask.prompt },
  ];
  const body = { model: ask.model, ...CHAT };
  if (ask.tools)
    body.tools = [
      { type: 'function', function: { name: 'look', description: DESCRIPTION, parameters: SCHEMA, strict: true } },
    ];
  if (ask.schema)
    body.response_format = { type: 'json_schema', json_schema: { name: 'color', schema: COLOR, strict: true } };
  if (ask.think) body.reasoning_effort = 'high';
  for (;;) {
    const stream = client.chat.completions.stream({ ...body, messages, stream_options: { include_usage: true } });
    const message = await stream.finalMessage();
    if (!message.tool_calls?.length) return parsed(message.content, ask);
    messages.push(message);
    for (const { id, function: called } of message.tool_calls) {
      messages.push({ role: 'tool', tool_call_id: id, content: look(JSON.parse(called.arguments)) });
    }
  }
}

async function openaiResponses(ask) {
  const client = await openaiClient(ask);
  const content = [
    { type: 'input_text', text: ask.prompt },
    { type: 'input_image', image_url: PICTURE_URL, detail: 'low' },
  ];
  const input = [{ role: 'user', content: ask.image ? content : ask.prompt }];
  const body = { model: ask.model, ...RESPONSES };
  if (ask.tools)
    body.tools = [{ type: 'function', name: 'look', description: DESCRIPTION, parameters: SCHEMA, strict: true }];
  if (ask.schema) body.text = { format: { type: 'json_schema', name: 'color', schema: COLOR, strict: true } };
  if (ask.think) body.reasoning = { effort: 'high', summary: 'auto' };
  for (;;) {
    const response = await client.responses.stream({ ...body, input }).finalResponse();
    const calls = response.output.filter((item) => item.type === 'function_call');
    if (!calls.length) return parsed(response.output_text, ask);
    input.push(...response.output.map(({ parsed_arguments: _, ...item }) => item));
    for (const { call_id, arguments: text } of calls) {
      input.push({ type: 'function_call_output', call_id, output: look(JSON.parse(text)) });
    }
  }
}

async function anthropic(ask) {
  const client = await anthropicClient(ask);
  const source = { type: 'base64', media_type: 'image/png', data: PICTURE };
  const content = [
    { type: 'image', source },
    { type: 'text', text: ask.prompt, cache_control: { type: 'ephemeral' } },
  ];
  const messages = [{ role: 'user', content: ask.image ? content : ask.prompt }];
  const body = { model: ask.model, ...MESSAGES };
  const cached = { cache_control: { type: 'ephemeral', ttl: '1h' } };
  if (ask.tools) body.tools = [{ name: 'look', description: DESCRIPTION, input_schema: SCHEMA, ...cached }];
  if (ask.schema) body.output_config = { format: { type: 'json_schema', schema: COLOR } };
  if (ask.think) body.thinking = { type: 'adaptive', display: 'summarized' };
  for (;;) {
    const headers = { 'anthropic-beta': 'context-1m-2025-08-07' };
    const reply = await client.messages.stream({ ...body, messages }, { headers }).finalMessage();
    const calls = reply.content.filter((block) => block.type === 'tool_use');
    if (!calls.length) return parsed(reply.content.find((block) => block.type === 'text').text, ask);
    const results = calls.map(({ id, input }) => ({
      type: 'tool_result',
      tool_use_id: id,
      is_error: false,
      content: look(input),
    }));
    messages.flatMap((message) => message.content).forEach((block) => delete block.cache_control);
    results.at(-1).cache_control = { type: 'ephemeral' };
    messages.push({ role: 'assistant', content: reply.content }, { role: 'user', content: results });
  }
}

async function google(ask) {
  const client = await googleClient(ask);
  const picture = { inlineData: { mimeType: 'image/png', data: PICTURE } };
  const contents = [{ role: 'user', parts: [{ text: ask.prompt }, ...(ask.image ? [picture] : [])] }];
  const config = { ...CONTENT };
  if (ask.tools)
    config.tools = [
      { functionDeclarations: [{ name: 'look', description: DESCRIPTION, parametersJsonSchema: SCHEMA }] },
    ];
  if (ask.schema) Object.assign(config, { responseMimeType: 'application/json', responseJsonSchema: COLOR });
  if (ask.think) config.thinkingConfig = { includeThoughts: true, thinkingLevel: 'HIGH' };
  for (;;) {
    const parts = [];
    for await (const chunk of await client.models.generateContentStream({ model: ask.model, contents, config })) {
      parts.push(...(chunk.candidates[0].content?.parts ?? []));
    }
    const calls = parts.filter((part) => part.functionCall).map((part) => part.functionCall);
    if (!calls.length)
      return parsed(
        parts
          .filter((part) => !part.thought)
          .map((part) => part.text)
          .join(''),
        ask,
      );
    const results = calls.map(({ id, name, args }) => ({
      functionResponse: { id, name, response: { output: look(args) } },
    }));
    contents.push({ role: 'model', parts }, { role: 'user', parts: results });
  }
}

/// A chat model of LangChain for an API.
async function langchainModel({ api, base, model, think }) {
  if (api === 'messages') {
    const { ChatAnthropic } = await load('@langchain/anthropic');
    return new ChatAnthropic({
      model,
      apiKey: KEY,
      anthropicApiUrl: base,
      maxRetries: 0,
      maxTokens: 4096,
      thinking: think && { type: 'adaptive' },
    });
  }
  if (api === 'gemini') {
    const { ChatGoogleGenerativeAI } = await load('@langchain/google-genai');
    return new ChatGoogleGenerativeAI({
      model,
      apiKey: KEY,
      baseUrl: base,
      maxRetries: 0,
      thinkingConfig: think && { includeThoughts: true, thinkingLevel: 'HIGH' },
    });
  }
  const { ChatOpenAI } = await load('@langchain/openai');
  const isResponses = api === 'responses';
  const reasoning = think && { effort: 'high', ...(isResponses ? { summary: 'auto' } : {}) };
  return new ChatOpenAI({
    model,
    apiKey: KEY,
    configuration: { baseURL: `${base}/v1` },
    maxRetries: 0,
    useResponsesApi: isResponses,
    zdrEnabled: isResponses,
    reasoning,
  });
}

async function langchainParts() {
  const { z } = await load('zod');
  const { tool } = await load('@langchain/core/tools');
  const messages = await load('@langchain/core/messages');
  const tools = [tool(look, { name: 'look', description: DESCRIPTION, schema: z.object({ at: z.string() }) })];
  return { ...messages, tools, color: z.object({ color: z.string() }) };
}

const langchainContent = ({ prompt, image }) =>
  image
    ? [
        { type: 'text', text: prompt },
        { type: 'image_url', image_url: { url: PICTURE_URL } },
      ]
    : prompt;

async function langchain(ask) {
  const { SystemMessage, HumanMessage, ToolMessage, tools, color } = await langchainParts();
  const model = await langchainModel(ask);
  const messages = [new SystemMessage(BRIEF), new HumanMessage({ content: langchainContent(ask) })];
  if (ask.schema) return model.withStructuredOutput(color, { name: 'color' }).invoke(messages);
  const bound = ask.tools ? model.bindTools(tools) : model;
  for (;;) {
    let reply;
    for await (const chunk of await bound.stream(messages)) reply = reply ? reply.concat(chunk) : chunk;
    if (!reply.tool_calls?.length) return reply.text;
    messages.push(reply);
    for (const { id, name, args } of reply.tool_calls)
      messages.push(new ToolMessage({ tool_call_id: id, name, content: look(args) }));
  }
}

async function langgraph(ask) {
  const { createAgent, providerStrategy } = await load('langchain');
  const { HumanMessage, tools, color } = await langchainParts();
  const options = { model: await langchainModel(ask), tools: ask.tools ? tools : [], systemPrompt: BRIEF };
  const agent = createAgent(
    ask.schema ? { ...options, responseFormat: ask.api === 'gemini' ? color : providerStrategy(color) } : options,
  );
  let state;
  const stream = await agent.stream(
    { messages: [new HumanMessage({ content: langchainContent(ask) })] },
    { streamMode: ['values', 'messages'] },
  );
  for await (const [mode, value] of stream) if (mode === 'values') state = value;
  return ask.schema ? state.structuredResponse : state.messages.at(-1).text;
}

async function agents(ask) {
  const { Agent, run, tool, setTracingDisabled, OpenAIResponsesModel, OpenAIChatCompletionsModel } =
    await load('@openai/agents');
  const { z } = await load('zod');
  setTracingDisabled(true);
  const Model = ask.api === 'responses' ? OpenAIResponsesModel : OpenAIChatCompletionsModel;
  const options = {
    name: 'Ada',
    instructions: BRIEF,
    model: new Model(await openaiClient(ask), ask.model),
    modelSettings: {},
  };
  if (ask.tools)
    options.tools = [
      tool({ name: 'look', description: DESCRIPTION, parameters: z.object({ at: z.string() }), execute: look }),
    ];
  if (ask.schema) options.outputType = z.object({ color: z.string() });
  if (ask.think)
    options.modelSettings = {
      reasoning: { effort: 'high', summary: 'auto' },
      store: false,
      providerData: { include: ['reasoning.encrypted_content'] },
    };
  const content = [
    { type: 'input_text', text: ask.prompt },
    { type: 'input_image', image: PICTURE_URL },
  ];
  const result = await run(new Agent(options), ask.image ? [{ role: 'user', content }] : ask.prompt, { stream: true });
  await result.completed;
  return result.finalOutput;
}

async function ai(ask) {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const { streamText, tool, stepCountIs, Output } = await load('ai');
  const { z } = await load('zod');
  const { base, model: name, api } = ask;
  const key = { apiKey: KEY };
  const models = {
    chat: async () => (await load('@ai-sdk/openai')).createOpenAI({ ...key, baseURL: `${base}/v1` }).chat(name),
    responses: async () => (await load('@ai-sdk/openai')).createOpenAI({ ...key, baseURL: `${base}/v1` })(name),
    messages: async () => (await load('@ai-sdk/anthropic')).createAnthropic({ ...key, baseURL: `${base}/v1` })(name),
    gemini: async () =>
      (await load('@ai-sdk/google')).createGoogleGenerativeAI({ ...key, baseURL: `${base}/v1beta` })(name),
    compatible: async () =>
      (await load('@ai-sdk/openai-compatible')).createOpenAICompatible({
        ...key,
        name: 'ctx',
        baseURL: `${base}/v1`,
        includeUsage: true,
        supportsStructuredOutputs: true,
      })(name),
  };
  const openai = { reasoningEffort: 'high', reasoningSummary: 'auto', store: false };
  const providerOptions = {
    openai: ask.think ? openai : api === 'responses' ? { store: false } : {},
    anthropic: ask.think ? { thinking: { type: 'adaptive' } } : { cacheControl: { type: 'ephemeral' } },
    google: ask.think ? { thinkingConfig: { includeThoughts: true, thinkingLevel: 'high' } } : {},
    ctx: ask.think ? { reasoningEffort: 'high' } : {},
  };
  const content = [{ type: 'text', text: ask.prompt }];
  if (ask.image) content.push({ type: 'file', data: PICTURE_URL, mediaType: 'image/png' });
  const options = {
    model: await models[ask.variant ?? api](),
    system: BRIEF,
    maxRetries: 0,
    providerOptions,
    stopWhen: stepCountIs(9),
    messages: [{ role: 'user', content }],
  };
  if (ask.tools)
    options.tools = {
      look: tool({ description: DESCRIPTION, inputSchema: z.object({ at: z.string() }), execute: look }),
    };
  if (ask.schema) options.output = Output.object({ schema: z.object({ color: z.string() }) });
  let failure;
  const result = streamText({ ...options, onError: ({ error }) => (failure = error) });
  await result.consumeStream();
  if (failure) throw failure;
  return ask.schema ? result.output : result.text;
}

/// `[client, package, APIs, function]`.
const ALL = ['chat', 'responses', 'messages', 'gemini'];
export const LIBRARIES = [
  ['OpenAI SDK', 'openai', ['chat'], openaiChat],
  ['OpenAI SDK', 'openai', ['responses'], openaiResponses],
  ['Anthropic SDK', '@anthropic-ai/sdk', ['messages'], anthropic],
  ['Google Gen AI SDK', '@google/genai', ['gemini'], google],
  ['AI SDK', 'ai', ALL, ai],
  ['AI SDK, compatible', '@ai-sdk/openai-compatible', ['chat'], (ask) => ai({ ...ask, variant: 'compatible' })],
  ['LangChain', '@langchain/core', ALL, langchain],
  ['LangGraph', '@langchain/langgraph', ALL, langgraph],
  ['OpenAI Agents SDK', '@openai/agents', ['chat', 'responses'], agents],
];
