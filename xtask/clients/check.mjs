// The providers' own clients against `ctx serve`, unchanged but for the base URL.
//
// node check.mjs CTX [PYTHON]: starts a scripted provider and the gateway, runs the clients of npm here, and those of
// PyPI in `check.py`. Prints a line for each check that fails, and ends with 1 if one does.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [ctx, python] = process.argv.slice(2);
// The packages are in the folder in which this runs.
const require = createRequire(join(process.cwd(), 'package.json'));
const { default: OpenAI } = require('openai');
const { default: Anthropic } = require('@anthropic-ai/sdk');
const { GoogleGenAI } = require('@google/genai');

const AT = '2026-01-31T12:00:00Z';
const AGENT =
  'name: Ada\npresetMessages:\n- {role: system, content: "You are Ada. It is {{date}}."}\n- {type: chat_history}\n';
const WORDS = ['Grass ', 'is ', 'green.'];
// Of a call, in pieces.
const ARGUMENTS = ['{"at":', '"here"}'];
const SCHEMA = { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] };
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/// Fields of each reply of the provider.
const HEAD = { id: 'chatcmpl-1', created: 1767225600, model: 'm' };

/// What the provider was asked.
const asked = [];
let left = 0;

/// Answers by what the last message says.
const provider = createServer((request, response) => {
  // The gateway asks for the context window of the model.
  if (request.method === 'GET') {
    response.writeHead(404).end();
    return;
  }
  let text = '';
  request.on('data', (piece) => (text += piece));
  request.on('end', () => {
    const body = JSON.parse(text);
    asked.push(text);
    const said = JSON.stringify(body.messages.at(-1));
    if (said.includes('refuse')) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'not like this', type: 'invalid_request_error', code: 'odd' } }));
      return;
    }
    const calls = body.tools && body.messages.at(-1).role !== 'tool';
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: ARGUMENTS.join('') } };
    if (said.includes('wait') && !body.stream) {
      // Says nothing until the client leaves.
      response.on('close', () => (left += 1));
      return;
    }
    const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
    if (!body.stream) {
      const message = calls
        ? { role: 'assistant', content: null, tool_calls: [call] }
        : { role: 'assistant', content: WORDS.join('') };
      response.writeHead(200, { 'content-type': 'application/json' });
      const choices = [{ index: 0, message, finish_reason: calls ? 'tool_calls' : 'stop' }];
      response.end(JSON.stringify({ ...HEAD, object: 'chat.completion', choices, usage }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (event) =>
      response.write(`data: ${JSON.stringify({ ...HEAD, object: 'chat.completion.chunk', ...event })}\n\n`);
    const piece = (delta, reason = null) => send({ choices: [{ index: 0, delta, finish_reason: reason }] });
    piece({ role: 'assistant', content: '' });
    if (said.includes('wait')) {
      piece({ content: WORDS[0] });
      // Says nothing more until the client leaves.
      response.on('close', () => (left += 1));
      return;
    }
    if (calls) {
      piece({ tool_calls: [{ index: 0, ...call, function: { name: 'look', arguments: '' } }] });
      for (const text of ARGUMENTS) piece({ tool_calls: [{ index: 0, function: { arguments: text } }] });
    } else for (const word of WORDS) piece({ content: word });
    piece({}, calls ? 'tool_calls' : 'stop');
    send({ choices: [], usage });
    response.end('data: [DONE]\n\n');
  });
});

const folder = mkdtempSync(join(tmpdir(), 'ctx-clients-'));
const environment = { PATH: process.env.PATH, CTX_HOME: join(folder, '.home') };

/// Starts the gateway, and waits for its address.
function serve(port) {
  const base = `http://127.0.0.1:${port}/v1`;
  const options = ['serve', folder, '--port', '0', '--base-url', base, '--key-file', join(folder, 'key'), '--model', 'm'];
  const gateway = spawn(ctx, [...options, '--at', AT, '--log', 'off'], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    gateway.on('exit', (code) => reject(new Error(`\`ctx serve\` ended with ${code}`)));
    gateway.stdout.once('data', (line) => resolve({ gateway, address: String(line).split('/v1')[0] }));
  });
}

const checks = [];
const check = (name, work) => checks.push([name, work]);

function openai(address) {
  const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: 'any', maxRetries: 0 });
  const user = (content) => [{ role: 'user', content }];
  const tools = [{ type: 'function', function: { name: 'look', parameters: SCHEMA } }];
  check('openai: models', async () => {
    const models = [];
    for await (const model of client.models.list()) models.push(model.id);
    assert.deepEqual(models, ['ada']);
  });
  check('openai: chat, with the bytes of ctx assemble', async () => {
    const reply = await client.chat.completions.create({ model: 'ada', messages: user('Which colour?') });
    assert.equal(reply.choices[0].message.content, WORDS.join(''));
    assert.equal(reply.usage.total_tokens, 13);
    writeFileSync(join(folder, 'chat.json.txt'), JSON.stringify(user('Which colour?')));
    const options = ['assemble', join(folder, 'ada.yaml'), '--session', join(folder, 'chat.json.txt'), '--model', 'm'];
    const printed = execFileSync(ctx, [...options, '--at', AT, '--format', 'openai', '--no-config'], { env: environment, stdio: ['ignore', 'pipe', 'ignore'] });
    assert.equal(asked.at(-1), JSON.stringify(JSON.parse(String(printed))));
  });
  check('openai: a stream', async () => {
    const pieces = [];
    const options = { stream: true, stream_options: { include_usage: true } };
    const stream = await client.chat.completions.create({ model: 'ada', messages: user('Which colour?'), ...options });
    let usage;
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) pieces.push(chunk.choices[0].delta.content);
      usage = chunk.usage ?? usage;
    }
    assert.deepEqual(pieces, WORDS);
    assert.equal(usage.completion_tokens, 4);
  });
  check('openai: tools', async () => {
    const messages = user('Look.');
    const first = await client.chat.completions.create({ model: 'ada', messages, tools });
    const [call] = first.choices[0].message.tool_calls;
    assert.deepEqual([call.id, call.function.name, JSON.parse(call.function.arguments)], ['c1', 'look', { at: 'here' }]);
    messages.push(first.choices[0].message, { role: 'tool', tool_call_id: call.id, content: 'grass' });
    const second = await client.chat.completions.create({ model: 'ada', messages, tools });
    assert.equal(second.choices[0].message.content, WORDS.join(''));
    assert.equal(JSON.parse(asked.at(-1)).messages.at(-1).content, 'grass');
  });
  check('openai: tools in a stream', async () => {
    const pieces = [];
    const stream = client.chat.completions.stream({ model: 'ada', messages: user('Look.'), tools });
    stream.on('chunk', (chunk) => pieces.push(chunk.choices[0]?.delta.tool_calls?.[0].function.arguments));
    const message = await stream.finalMessage();
    assert.deepEqual(pieces.filter(Boolean), ARGUMENTS);
    const [call] = message.tool_calls;
    assert.deepEqual([call.id, call.function.name, call.function.arguments], ['c1', 'look', ARGUMENTS.join('')]);
  });
  check('openai: a picture', async () => {
    const url = `data:image/png;base64,${PICTURE}`;
    const content = [{ type: 'text', text: 'What is it?' }, { type: 'image_url', image_url: { url } }];
    await client.chat.completions.create({ model: 'ada', messages: user(content) });
    assert.ok(asked.at(-1).includes(url));
  });
  check('openai: an error', async () => {
    const asking = client.chat.completions.create({ model: 'ada', messages: user('refuse') });
    await assert.rejects(asking, (error) => error instanceof OpenAI.BadRequestError && /not like this/.test(error.message));
    const unknown = client.chat.completions.create({ model: 'bob', messages: user('Hi') });
    await assert.rejects(unknown, OpenAI.NotFoundError);
  });
  check('openai: a stream that is left', async () => {
    const before = left;
    const stream = await client.chat.completions.create({ model: 'ada', messages: user('wait'), stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    stream.controller.abort();
    while (left === before) await new Promise((resolve) => setImmediate(resolve));
  });
  check('openai: a time-out of the client', async () => {
    const impatient = new OpenAI({ baseURL: `${address}/v1`, apiKey: 'any', maxRetries: 0, timeout: 300 });
    const before = left;
    const asking = impatient.chat.completions.create({ model: 'ada', messages: user('wait') });
    await assert.rejects(asking, OpenAI.APIConnectionTimeoutError);
    while (left === before) await new Promise((resolve) => setImmediate(resolve));
  });
  check('openai: responses', async () => {
    const reply = await client.responses.create({ model: 'ada', input: 'Which colour?' });
    assert.equal(reply.output_text, WORDS.join(''));
  });
  check('openai: a stream of responses', async () => {
    const pieces = [];
    const stream = await client.responses.create({ model: 'ada', input: 'Which colour?', stream: true });
    for await (const event of stream) if (event.type === 'response.output_text.delta') pieces.push(event.delta);
    assert.deepEqual(pieces, WORDS);
  });
  check('openai: tools of responses', async () => {
    const own = [{ type: 'function', name: 'look', parameters: SCHEMA, strict: false }];
    const input = [{ role: 'user', content: 'Look.' }];
    const first = await client.responses.create({ model: 'ada', input, tools: own });
    const call = first.output.find((item) => item.type === 'function_call');
    const result = { type: 'function_call_output', call_id: call.call_id, output: 'grass' };
    const second = await client.responses.create({ model: 'ada', input: [...input, ...first.output, result], tools: own });
    assert.equal(second.output_text, WORDS.join(''));
  });
  check('openai: tools in a stream of responses', async () => {
    const own = [{ type: 'function', name: 'look', parameters: SCHEMA, strict: false }];
    const pieces = [];
    const stream = client.responses.stream({ model: 'ada', input: 'Look.', tools: own });
    stream.on('response.function_call_arguments.delta', (event) => pieces.push(event.delta));
    const reply = await stream.finalResponse();
    assert.deepEqual(pieces.filter(Boolean), ARGUMENTS);
    const call = reply.output.find((item) => item.type === 'function_call');
    assert.deepEqual([call.call_id, call.name, call.arguments], ['c1', 'look', ARGUMENTS.join('')]);
  });
  check('openai: a conversation that is named', async () => {
    const named = { headers: { 'x-ctx-conversation': 'c' } };
    await client.chat.completions.create({ model: 'ada', messages: user('One') }, named);
    await client.chat.completions.create({ model: 'ada', messages: user('Two') }, named);
    const said = JSON.parse(asked.at(-1)).messages.map((message) => message.content);
    assert.deepEqual(said.slice(1), ['One', WORDS.join(''), 'Two']);
  });
}

function anthropic(address) {
  const client = new Anthropic({ baseURL: address, apiKey: 'any', maxRetries: 0 });
  const user = (content) => ({ model: 'ada', max_tokens: 50, messages: [{ role: 'user', content }] });
  const tools = [{ name: 'look', input_schema: SCHEMA }];
  check('anthropic: a message', async () => {
    const reply = await client.messages.create(user('Which colour?'));
    assert.deepEqual([reply.content[0].text, reply.stop_reason], [WORDS.join(''), 'end_turn']);
  });
  check('anthropic: a stream', async () => {
    const pieces = [];
    const stream = client.messages.stream(user('Which colour?')).on('text', (text) => pieces.push(text));
    const message = await stream.finalMessage();
    assert.deepEqual([pieces, message.usage.output_tokens], [WORDS, 4]);
  });
  check('anthropic: tools, whole and in a stream', async () => {
    const pieces = [];
    const inPieces = (body) =>
      client.messages.stream(body).on('inputJson', (piece) => pieces.push(piece)).finalMessage();
    for (const ask of [(body) => client.messages.create(body), inPieces]) {
      const body = { ...user('Look.'), tools };
      const first = await ask(body);
      const call = first.content.find((block) => block.type === 'tool_use');
      assert.deepEqual([call.name, call.input, first.stop_reason], ['look', { at: 'here' }, 'tool_use']);
      const result = { type: 'tool_result', tool_use_id: call.id, content: 'grass' };
      const messages = [...body.messages, { role: 'assistant', content: first.content }, { role: 'user', content: [result] }];
      const second = await ask({ ...body, messages });
      assert.equal(second.content[0].text, WORDS.join(''));
    }
    assert.deepEqual(pieces.filter(Boolean), ARGUMENTS);
  });
  check('anthropic: a picture', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: PICTURE };
    await client.messages.create(user([{ type: 'image', source }, { type: 'text', text: 'What is it?' }]));
    assert.ok(asked.at(-1).includes(`data:image/png;base64,${PICTURE}`));
  });
  check('anthropic: an error', async () => {
    await assert.rejects(client.messages.create(user('refuse')), Anthropic.BadRequestError);
    await assert.rejects(client.messages.create({ ...user('Hi'), model: 'bob' }), Anthropic.NotFoundError);
  });
}

function google(address) {
  const client = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: address } });
  const tools = [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: SCHEMA }] }];
  check('google: content', async () => {
    const reply = await client.models.generateContent({ model: 'ada', contents: 'Which colour?' });
    assert.deepEqual([reply.text, reply.usageMetadata.totalTokenCount], [WORDS.join(''), 13]);
  });
  check('google: a stream', async () => {
    const pieces = [];
    const stream = await client.models.generateContentStream({ model: 'ada', contents: 'Which colour?' });
    for await (const chunk of stream) if (chunk.text) pieces.push(chunk.text);
    assert.deepEqual(pieces, WORDS);
  });
  check('google: tools', async () => {
    const question = { role: 'user', parts: [{ text: 'Look.' }] };
    const first = await client.models.generateContent({ model: 'ada', contents: [question], config: { tools } });
    const [call] = first.functionCalls;
    assert.deepEqual([call.name, call.args], ['look', { at: 'here' }]);
    const functionResponse = { id: call.id, name: call.name, response: { output: 'grass' } };
    const contents = [question, first.candidates[0].content, { role: 'user', parts: [{ functionResponse }] }];
    const second = await client.models.generateContent({ model: 'ada', contents, config: { tools } });
    assert.equal(second.text, WORDS.join(''));
  });
  check('google: a picture', async () => {
    const parts = [{ text: 'What is it?' }, { inlineData: { mimeType: 'image/png', data: PICTURE } }];
    await client.models.generateContent({ model: 'ada', contents: [{ role: 'user', parts }] });
    assert.ok(asked.at(-1).includes(PICTURE));
  });
  check('google: an error', async () => {
    await assert.rejects(client.models.generateContent({ model: 'ada', contents: 'refuse' }), /not like this/);
  });
}

/// The clients of PyPI, which ask the same provider.
function ofPython(address) {
  if (!python) return;
  check('python: openai and anthropic', () => {
    const script = join(dirname(fileURLToPath(import.meta.url)), 'check.py');
    return new Promise((resolve, reject) => {
      const run = spawn(python, [script, address], { stdio: 'inherit', env: { PATH: process.env.PATH, NO_PROXY: '*' } });
      run.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`ended with ${code}`))));
    });
  });
}

writeFileSync(join(folder, 'ada.yaml'), AGENT);
writeFileSync(join(folder, 'key'), 'sk-none');
provider.listen(0, '127.0.0.1', async () => {
  let failed = 0;
  const { gateway, address } = await serve(provider.address().port);
  gateway.removeAllListeners('exit');
  try {
    [openai, anthropic, google, ofPython].forEach((add) => add(address));
    for (const [name, work] of checks) {
      try {
        await work();
      } catch (error) {
        failed += 1;
        console.log(`${name}: ${error.stack}`);
      }
    }
    console.log(`clients: ${checks.length - failed} checks passed, ${failed} failed`);
  } finally {
    gateway.kill('SIGKILL');
    provider.closeAllConnections();
    provider.close();
    rmSync(folder, { recursive: true });
  }
  process.exitCode = failed === 0 ? 0 : 1;
});
