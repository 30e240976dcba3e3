// A scripted provider that speaks four APIs.
//
// The request selects the reply: the latest `[name]` of a scenario in its text, and the number of tool results.

import { createServer } from 'node:http';

/// Final text of each scenario, in chunks.
export const WORDS = ['Grass ', 'is ', 'green.'];
/// Reply to requests for structured output.
export const COLOR = { color: 'green' };
/// Message of the error for `[refuse]`.
export const REFUSAL = 'this request is refused';

const USAGE = { input: 9, output: 4 };
const SCENARIO = /\[(loop|parallel|image|schema|think|refuse|wait)\]/g;

/// Input for the tools of coding agents; all other tools get a place.
const INPUT = {
  Bash: { command: 'echo green', description: 'Print a color' },
  bash: { command: 'echo green', description: 'Print a color' },
  exec_command: { cmd: 'echo green' },
  exec: 'text("green")',
};

/// Tools of a body as `{name, namespace}`, in any of the four APIs.
function tools(body) {
  const holders = [body, ...(Array.isArray(body.input) ? body.input : [])];
  return holders
    .flatMap((holder) => holder.tools ?? [])
    .flatMap((tool) => {
      if (tool.type === 'namespace') return tool.tools.map(({ name }) => ({ name, namespace: tool.name }));
      const listed = tool.functionDeclarations ?? tool.function_declarations ?? [tool.function ?? tool];
      return listed.map(({ name }) => ({ name }));
    });
}

/// The reply to a body: `{thought, text, calls}`, or `refuse` or `wait`.
function script(body, mark) {
  const text = JSON.stringify(body);
  const scenario = [...text.matchAll(SCENARIO)].at(-1)?.[1];
  if (scenario === 'refuse' || scenario === 'wait') return { [scenario]: true, text: WORDS };
  if (scenario === 'schema') {
    const tool = tools(body)[0];
    return tool?.namespace || !tool
      ? { text: [JSON.stringify(COLOR)] }
      : { calls: [{ id: 'call_1', ...tool, input: COLOR }] };
  }
  const tool = tools(body).find(({ name }) => name === 'look' || name in INPUT);
  if (!tool || !scenario || scenario === 'image') return { text: WORDS };
  const thought = scenario === 'think' ? 'First I look.' : undefined;
  const results = text.split(mark).length - 1;
  const call = (n) => ({ id: `call_${n}`, ...tool, input: INPUT[tool.name] ?? { at: `place ${n}` } });
  if (scenario === 'parallel') return results === 0 ? { calls: [call(1), call(2)] } : { text: WORDS };
  return results < (scenario === 'loop' ? 5 : 2) ? { thought, calls: [call(results + 1)] } : { thought, text: WORDS };
}

const SIGNATURE = Buffer.from('signed by the provider').toString('base64');
const halves = (text) => [text.slice(0, text.length / 2), text.slice(text.length / 2)];

const chat = {
  mark: /"role":"tool"/,
  reply(body, { thought, text = [], calls = [] }, turn) {
    const head = { id: `chatcmpl-${turn}`, created: 1767225600, model: body.model, service_tier: 'default' };
    const usage = {
      prompt_tokens: USAGE.input,
      completion_tokens: USAGE.output,
      total_tokens: USAGE.input + USAGE.output,
    };
    const finish_reason = calls.length ? 'tool_calls' : 'stop';
    const written = calls.map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    }));
    if (!body.stream) {
      const message = { role: 'assistant', content: text.join('') || null, refusal: null };
      if (thought) message.reasoning_content = thought;
      if (calls.length) message.tool_calls = written;
      return {
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, message, logprobs: null, finish_reason }],
        usage,
      };
    }
    const chunk = (rest) => ({ data: { ...head, object: 'chat.completion.chunk', ...rest } });
    const delta = (delta, finish_reason = null) => chunk({ choices: [{ index: 0, delta, finish_reason }] });
    return [
      delta({ role: 'assistant', content: '' }),
      ...(thought ? halves(thought).map((reasoning_content) => delta({ reasoning_content })) : []),
      ...text.map((content) => delta({ content })),
      ...written.flatMap((call, index) => [
        delta({ tool_calls: [{ index, ...call, function: { ...call.function, arguments: '' } }] }),
        ...halves(call.function.arguments).map((piece) =>
          delta({ tool_calls: [{ index, function: { arguments: piece } }] }),
        ),
      ]),
      delta({}, finish_reason),
      ...(body.stream_options?.include_usage ? [chunk({ choices: [], usage })] : []),
      { data: '[DONE]' },
    ];
  },
};

const responses = {
  mark: /"type":"(?:function|custom_tool)_call_output"/,
  reply(body, { thought, text = [], calls = [] }, turn) {
    const usage = {
      input_tokens: USAGE.input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: USAGE.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: USAGE.input + USAGE.output,
    };
    const output = [];
    const summary = [{ type: 'summary_text', text: thought }];
    if (thought) output.push({ id: `rs_${turn}`, type: 'reasoning', summary, encrypted_content: SIGNATURE });
    if (text.length) {
      const content = [{ type: 'output_text', text: text.join(''), annotations: [], logprobs: [] }];
      output.push({ id: `msg_${turn}`, type: 'message', role: 'assistant', status: 'completed', content });
    }
    for (const { id, name, namespace, input } of calls) {
      const call =
        typeof input === 'string'
          ? { type: 'custom_tool_call', input }
          : { type: 'function_call', arguments: JSON.stringify(input) };
      output.push({ id: `fc_${turn}_${id}`, ...call, call_id: id, name, namespace, status: 'completed' });
    }
    const { model, tools = [], tool_choice = 'auto', parallel_tool_calls = true, store = true } = body;
    const state = { error: null, incomplete_details: null, instructions: null, metadata: {}, temperature: 1, top_p: 1 };
    const whole = {
      id: `resp_${turn}`,
      object: 'response',
      created_at: 1767225600,
      status: 'completed',
      model,
      ...state,
      tools,
      tool_choice,
      parallel_tool_calls,
      store,
      output,
      usage,
    };
    if (!body.stream) return whole;
    const events = [];
    const event = (type, rest) => events.push({ event: type, data: { type, sequence_number: events.length, ...rest } });
    const begun = { ...whole, status: 'in_progress', output: [], usage: null };
    event('response.created', { response: begun });
    event('response.in_progress', { response: begun });
    output.forEach((item, output_index) => {
      const place = { item_id: item.id, output_index };
      const added = { ...item, status: item.status && 'in_progress' };
      if (item.type === 'reasoning') Object.assign(added, { summary: [], encrypted_content: undefined });
      if (item.type === 'message') added.content = [];
      const field = item.type === 'custom_tool_call' ? 'input' : 'arguments';
      if (item.call_id) added[field] = '';
      event('response.output_item.added', { output_index, item: added });
      if (item.type === 'reasoning') {
        const part = { ...place, summary_index: 0 };
        event('response.reasoning_summary_part.added', { ...part, part: { type: 'summary_text', text: '' } });
        for (const delta of halves(thought)) event('response.reasoning_summary_text.delta', { ...part, delta });
        event('response.reasoning_summary_text.done', { ...part, text: thought });
        event('response.reasoning_summary_part.done', { ...part, part: item.summary[0] });
      } else if (item.type === 'message') {
        const part = { ...place, content_index: 0 };
        event('response.content_part.added', { ...part, part: { ...item.content[0], text: '' } });
        for (const delta of text) event('response.output_text.delta', { ...part, delta, logprobs: [] });
        event('response.output_text.done', { ...part, text: text.join(''), logprobs: [] });
        event('response.content_part.done', { ...part, part: item.content[0] });
      } else {
        const type = field === 'input' ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
        for (const delta of halves(item[field])) event(`${type}.delta`, { ...place, delta });
        event(`${type}.done`, { ...place, [field]: item[field] });
      }
      event('response.output_item.done', { output_index, item });
    });
    event('response.completed', { response: whole });
    return events;
  },
};

const messages = {
  mark: /"type":"tool_result"/,
  reply(body, { thought, text = [], calls = [] }, turn) {
    const content = [];
    if (thought) content.push({ type: 'thinking', thinking: thought, signature: SIGNATURE });
    if (text.length) content.push({ type: 'text', text: text.join('') });
    for (const { id, name, input } of calls) content.push({ type: 'tool_use', id: `toolu_${id}`, name, input });
    const stop_reason = calls.length ? 'tool_use' : 'end_turn';
    const usage = {
      input_tokens: USAGE.input,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: USAGE.output,
    };
    const whole = {
      id: `msg_${turn}`,
      type: 'message',
      role: 'assistant',
      model: body.model,
      content,
      stop_reason,
      stop_sequence: null,
      usage,
    };
    if (!body.stream) return whole;
    const events = [];
    const event = (type, rest) => events.push({ event: type, data: { type, ...rest } });
    event('message_start', {
      message: { ...whole, content: [], stop_reason: null, usage: { ...usage, output_tokens: 0 } },
    });
    content.forEach((block, index) => {
      const empty = {
        thinking: { ...block, thinking: '', signature: '' },
        text: { ...block, text: '' },
        tool_use: { ...block, input: {} },
      };
      event('content_block_start', { index, content_block: empty[block.type] });
      const delta = (type, rest) => event('content_block_delta', { index, delta: { type, ...rest } });
      if (block.type === 'thinking') {
        for (const thinking of halves(thought)) delta('thinking_delta', { thinking });
        delta('signature_delta', { signature: SIGNATURE });
      } else if (block.type === 'text') for (const word of text) delta('text_delta', { text: word });
      else for (const partial_json of halves(JSON.stringify(block.input))) delta('input_json_delta', { partial_json });
      event('content_block_stop', { index });
    });
    event('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: USAGE.output } });
    event('message_stop', {});
    return events;
  },
};

const gemini = {
  mark: /"function_?[rR]esponse":/,
  reply(body, { thought, text = [], calls = [] }, turn, path) {
    const usageMetadata = {
      promptTokenCount: USAGE.input,
      candidatesTokenCount: USAGE.output,
      totalTokenCount: USAGE.input + USAGE.output,
    };
    const head = { modelVersion: path.match(/models\/([^:]+)/)[1], responseId: `r_${turn}` };
    const content = (parts, rest = {}) => ({
      candidates: [{ index: 0, content: { role: 'model', parts }, ...rest }],
      ...head,
    });
    const called = calls.map(({ id, name, input }, index) => ({
      functionCall: { id, name, args: input },
      ...(index === 0 ? { thoughtSignature: SIGNATURE } : {}),
    }));
    const thoughts = thought ? [{ text: thought, thought: true }] : [];
    const end = { finishReason: 'STOP' };
    if (!path.includes('stream'))
      return {
        ...content([...thoughts, ...(text.length ? [{ text: text.join('') }] : []), ...called], end),
        usageMetadata,
      };
    const parts = [...thoughts, ...text.map((word) => ({ text: word })), ...called];
    return parts.map((part, index) => ({
      data: index + 1 < parts.length ? content([part]) : { ...content([part], end), usageMetadata },
    }));
  },
};

/// The API of a path.
export const API = (path) =>
  path.includes('/chat/completions')
    ? 'chat'
    : path.includes('/responses')
      ? 'responses'
      : path.includes('/messages')
        ? 'messages'
        : path.includes('enerateContent')
          ? 'gemini'
          : undefined;
const APIS = { chat, responses, messages, gemini };

/// Reads a request to its end.
export async function bytes(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/// Makes the server; `asked` gets each request, `left` each client that disconnects while it waits.
export function provider(asked, left) {
  let turn = 0;
  return createServer(async (request, response) => {
    const api = API(request.url);
    const json = (status, value) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_1' })
        .end(JSON.stringify(value));
    if (request.method !== 'POST' || !api) return json(404, {});
    const text = String(await bytes(request));
    const body = JSON.parse(text);
    const record = { url: request.url, headers: request.headers, text, body };
    asked(record);
    if (request.url.includes('count')) return json(200, { input_tokens: USAGE.input, totalTokens: USAGE.input });
    const { reply, mark } = APIS[api];
    const wanted = script(body, mark);
    if (wanted.refuse) {
      const error = {
        message: REFUSAL,
        type: 'invalid_request_error',
        code: api === 'gemini' ? 400 : 'odd',
        status: 'INVALID_ARGUMENT',
      };
      return json(400, { type: 'error', error });
    }
    const written = reply(body, wanted, ++turn, request.url);
    const isStream = Array.isArray(written);
    record.reply = isStream ? written.map(({ data }) => data).filter((data) => data !== '[DONE]') : written;
    if (wanted.wait) response.on('close', left);
    if (!isStream) return wanted.wait ? undefined : json(200, written);
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_1' });
    const shown = wanted.wait ? written.slice(0, 2) : written;
    for (const { event, data } of shown) {
      response.write(
        `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
      );
    }
    if (!wanted.wait) response.end();
  });
}
