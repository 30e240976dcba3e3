// Clients of others against `ctx serve`, unmodified except for base URL, API key and model.
//
// node check.mjs CTX PYTHON|- TABLE [--write] [--only TEXT]: starts a scripted provider, the gateway, and a recorder in
// front of the gateway, and runs each client in each scenario. For each request, the client's body and the body that the
// provider got are compared field by field, and so are the headers that pass. Without `--write`, the results must be
// those of TABLE. The packages are in the working folder.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codingAgents } from './agents.mjs';
import { behavior } from './behavior.mjs';
import { differences } from './compare.mjs';
import { KEY, LIBRARIES, PICTURE } from './libraries.mjs';
import { COLOR, WORDS, bytes, provider } from './provider.mjs';
import { pythonLibraries } from './python.mjs';
import { table } from './table.mjs';

const [ctx, python, document, ...flags] = process.argv.slice(2);
const only = flags.includes('--only') ? flags[flags.indexOf('--only') + 1] : undefined;

/// What the agent adds: its preset, an entry of a worldbook, and a parameter.
const PRESET = 'You are Ada. It is January 31, 2026.';
const LORE = 'Grass is green because of chlorophyll.';
const SEPARATOR = '\n\n---\n\n';
const AGENT = `name: Ada
prefix: moving
parameters:
  temperature: 0.5
  processors: [{id: recall, enabled: true}]
presetMessages:
- {role: system, content: "You are Ada. It is {{date}}."}
- {type: chat_history}
`;
const BOOK = { entries: [{ uid: 1, key: ['grass'], content: LORE, scanDepth: 100 }] };
const AT = '2026-01-31T12:00:00Z';

/// By API: name, model, dialect and path of the base URL.
const APIS = {
  chat: ['chat completions', 'gpt-5.4', 'openai', '/v1'],
  responses: ['responses', 'gpt-6-sol', 'openai-responses', '/v1'],
  messages: ['messages', 'claude-sonnet-5-5', 'anthropic', ''],
  gemini: ['generateContent', 'gemini-3.6-flash', 'gemini', ''],
};

/// Options and number of requests of each scenario.
const SCENARIOS = {
  loop: { tools: true, requests: 6 },
  parallel: { tools: true, requests: 2 },
  image: { image: true, requests: 1 },
  schema: { schema: true, requests: 1 },
  think: { tools: true, think: true, requests: 3 },
};

/// Headers that pass to a provider with the client's API.
const PASSED =
  /^(anthropic-(version|beta|user-profile-id|workspace-id)|openai-beta|x-goog-api-client|x-client-request-id|user-agent|x-stainless-.*|idempotency-key|tracestate)$/;
/// Headers of the connection, of credentials, and of the recorder.
const OWN =
  /^(host|connection|content-(length|type)|transfer-encoding|accept|accept-encoding|authorization|x-api-key|x-goog-api-key|traceparent)$/;

const folder = mkdtempSync(join(tmpdir(), 'ctx-clients-'));
const home = join(folder, '.home');
mkdirSync(home);

/// Requests by their `traceparent`, which the recorder adds: `{client, api, scenario, headers, body, response, provider}`.
const requests = new Map();
let waited = 0;
const server = provider(
  (request) => Object.assign(requests.get(request.headers.traceparent) ?? {}, { provider: request }),
  () => (waited += 1),
);

/// The query parameters of a path, without API keys.
function queryOf(path) {
  const query = new URL(path, 'http://127.0.0.1').searchParams;
  query.delete('key');
  return String(query);
}

/// Passes requests on to the gateway. The first parts of a path name client, API and scenario.
function recorder(gateway) {
  return createServer(async (request, response) => {
    const [, client, api, scenario, ...rest] = request.url.split('/');
    const body = await bytes(request);
    const headers = {
      ...request.headers,
      traceparent: `00-${String(requests.size + 1).padStart(32, '0')}-0000000000000001-01`,
    };
    const query = queryOf(request.url);
    const record = { client: decodeURIComponent(client), api, scenario, query, headers, body };
    requests.set(headers.traceparent, record);
    const { hostname, port } = new URL(gateway);
    const sent = send({ hostname, port, path: `/${rest.join('/')}`, method: request.method, headers }, (reply) => {
      record.response = '';
      reply.on('data', (chunk) => (record.response += chunk));
      response.writeHead(reply.statusCode, reply.headers);
      reply.pipe(response);
    });
    sent.on('error', () => response.destroy());
    response.on('close', () => sent.destroy());
    sent.end(body);
  });
}

const listen = (server) =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}`)));

/// Writes agents and settings, starts the gateway, and waits for its address.
function serve(upstream) {
  let toml = `worldbooks = ["book.json"]\n[endpoint]\nbase-url = "${upstream}/v1"\n[serve.aliases]\n`;
  for (const [api, [, model]] of Object.entries(APIS)) toml += `"${model}" = "${api}"\n`;
  for (const [api, [, model, dialect, path]] of Object.entries(APIS)) {
    writeFileSync(join(folder, `${api}.yaml`), AGENT);
    toml += `[[endpoints]]\nagents = ["${api}"]\nbase-url = "${upstream}${path}"\ndialect = "${dialect}"\nmodel = "${model}"\nkey-env = "KEY"\n`;
  }
  writeFileSync(join(home, 'book.json'), JSON.stringify(BOOK));
  writeFileSync(join(home, 'ctx.toml'), toml);
  const env = { PATH: process.env.PATH, CTX_HOME: home, KEY: 'provider-key' };
  const options = ['serve', folder, '--port', '0', '--at', AT, '--log', 'off'];
  const gateway = spawn(ctx, options, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    gateway.on('exit', (code) => reject(new Error(`\`ctx serve\` ended with ${code}`)));
    gateway.stdout.once('data', (line) => resolve({ gateway, address: String(line).split('/v1')[0] }));
  });
}

const ADDED = [PRESET, LORE];
/// A value without the texts of the agent; `undefined` if nothing else is in it.
function withoutAgent(value) {
  if (typeof value === 'string') {
    const kept = value.split(SEPARATOR).filter((text) => !ADDED.includes(text));
    return kept.length || value === '' ? kept.join(SEPARATOR) : undefined;
  }
  if (Array.isArray(value)) {
    const kept = value.map(withoutAgent).filter((item) => item !== undefined);
    return kept.length || !value.length ? kept : undefined;
  }
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).map(([key, inner]) => [key, withoutAgent(inner)]);
  return kept.some(([, inner]) => inner === undefined) &&
    !kept.some(([key, inner]) => inner !== undefined && !/^(type|role)$/.test(key))
    ? undefined
    : Object.fromEntries(kept.filter(([, inner]) => inner !== undefined));
}

/// The JSON of a response: its events, or the whole.
function responseOf(text) {
  const events = text.split('\n').filter((line) => line.startsWith('data: {'));
  return events.length ? events.map((line) => JSON.parse(line.slice(6))) : JSON.parse(text);
}

const KINDS = { '+': 'added', '-': 'removed', '~': 'changed' };
/// Differences of a request that the agent did not ask for, and those of the response.
function changes({ body, query, headers, response, provider }) {
  const sent = JSON.parse(body);
  const got = withoutAgent(provider.body);
  for (const [before, after] of [
    [sent, got],
    [sent.generationConfig ?? {}, got.generationConfig ?? {}],
  ]) {
    if (!('temperature' in before)) delete after.temperature;
  }
  const named = ({ kind, pointer }) => `\`${pointer.slice(1).replace(/(^|\/)\d+(?=\/|$)/g, '$1*')}\` ${KINDS[kind]}`;
  const found = differences(sent, got).map(named);
  // Through JSON, without fields that are undefined.
  const reply = JSON.parse(JSON.stringify(provider.reply));
  found.push(...differences(reply, responseOf(response)).map((difference) => `response: ${named(difference)}`));
  const lost = Object.keys(headers).filter((name) => PASSED.test(name) && headers[name] !== provider.headers[name]);
  if (query !== queryOf(provider.url)) found.push('query changed');
  if (!provider.text.includes(PRESET)) found.push('preset missing');
  if (/grass/i.test(body) && !provider.text.includes(LORE)) found.push('worldbook missing');
  if (JSON.stringify(provider.headers).includes(KEY)) found.push('client key sent');
  return [...found, ...lost.map((name) => `header \`${name}\``)];
}

const failures = [];
/// Runs the scenarios of a client with an API; returns a row of the table.
async function row([client, name, apis, answer, scenarios = Object.keys(SCENARIOS)], version, api, base) {
  const key = `${client} ${name} ${version}`;
  const passed = [];
  for (const scenario of scenarios) {
    const id = `${key}, ${api}, ${scenario}`;
    if (!id.includes(only ?? '')) continue;
    const settings = SCENARIOS[scenario];
    const place = `${base}/${encodeURIComponent(key)}/${api}/${scenario}`;
    const ask = { ...settings, api, base: place, model: APIS[api][1], prompt: `[${scenario}] What color is grass?` };
    try {
      const found = JSON.stringify(await answer(ask));
      const expected = JSON.stringify(settings.schema ? COLOR : WORDS.join(''));
      if (found !== expected) throw new Error(`the client returned ${found}`);
      const asked = [...requests.values()].filter(
        (record) => record.client === key && record.api === api && record.scenario === scenario,
      );
      const count = asked.filter((record) => record.provider).length;
      if (count < settings.requests) throw new Error(`the provider got ${requests.size} requests`);
      passed.push(scenario);
    } catch (error) {
      failures.push(`${id}: ${String(error.stack).slice(0, 1500)}`);
    }
  }
  const asked = [...requests.values()].filter(
    (record) => record.client === key && record.api === api && record.provider,
  );
  const others = asked
    .flatMap(({ headers }) => Object.keys(headers))
    .filter((header) => !OWN.test(header) && !PASSED.test(header));
  const found = [...new Set(asked.flatMap(changes))].sort();
  return { client, name, version, api: APIS[api][0], passed, requests: asked.length, changes: found, others };
}

const { gateway, address } = await serve(await listen(server));
const front = recorder(address);
const base = await listen(front);
const pythons = python === '-' ? { libraries: [], end() {} } : pythonLibraries(python, home);
const agents = codingAgents(home, PICTURE);
try {
  const version = (name) => JSON.parse(readFileSync(join('node_modules', name, 'package.json'))).version;
  const rows = { npm: [], PyPI: [], agents: [] };
  for (const library of LIBRARIES)
    for (const api of library[2]) rows.npm.push(await row(library, version(library[1]), api, base));
  for (const library of pythons.libraries)
    for (const api of library[2]) rows.PyPI.push(await row(library, await pythons.version(library[1]), api, base));
  for (const agent of agents.libraries)
    for (const api of agent[2]) rows.agents.push(await row(agent, version(agent[1]), api, base));
  const models = Object.fromEntries(Object.entries(APIS).map(([api, [, model]]) => [api, model]));
  const place = {
    base: `${base}/behavior/any/any`,
    models,
    waited: () => waited,
    requests: () => [...requests.values()].map((record) => record.provider).filter(Boolean),
  };
  if (!only) failures.push(...(await behavior(place)));
  const isWhole = python !== '-' && agents.missing.length === 0;
  if (only) console.log(table(rows));
  else if (flags.includes('--write') && isWhole && !failures.length) writeFileSync(document, table(rows));
  else failures.push(...table.differences(readFileSync(document, 'utf8'), rows));
  for (const failure of failures) console.log(failure);
  for (const name of agents.missing) console.log(`!! ${name} is NOT INSTALLED and was not tried`);
  console.log(
    `clients: ${rows.npm.length + rows.PyPI.length + rows.agents.length} clients and APIs, ${requests.size} requests, ${failures.length} failures`,
  );
} finally {
  gateway.removeAllListeners('exit');
  gateway.kill('SIGKILL');
  pythons.end();
  for (const one of [server, front]) {
    one.closeAllConnections();
    one.close();
  }
  rmSync(folder, { recursive: true });
}
process.exitCode = failures.length === 0 ? 0 : 1;
