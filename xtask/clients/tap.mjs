// Clients of others through `ctx tap`: every byte is compared before and after it, in both directions.
//
// node tap.mjs CTX PYTHON|-: starts a scripted provider, `ctx tap` in front of it, and a recorder of bytes on each side
// of `ctx tap`. Only the host differs. The packages are in the working folder. Prints the added latency.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer as createHttp, request as send } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codingAgents } from './agents.mjs';
import { LIBRARIES, PICTURE } from './libraries.mjs';
import { API, COLOR, WORDS, provider } from './provider.mjs';
import { pythonLibraries } from './python.mjs';

const [ctx, python] = process.argv.slice(2);
const SDKS = ['openai', '@anthropic-ai/sdk', '@google/genai', 'anthropic', 'google-genai'];
const AGENTS = ['Claude Code', 'Codex'];
const MODELS = {
  chat: 'gpt-5.4',
  responses: 'gpt-6-sol',
  messages: 'claude-sonnet-5-5',
  gemini: 'gemini-3.6-flash',
};
const SCENARIOS = { loop: { tools: true }, image: { image: true }, schema: { schema: true } };
/// Requests of the latency measurement.
const ROUNDS = 1000;

const folder = mkdtempSync(join(tmpdir(), 'ctx-tap-'));
const log = join(folder, 'log');
mkdirSync(join(folder, 'home'));

const listen = (server) =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));

/// Relays bytes to a port and records them: `{sent, got}` of each connection.
function recorder(target) {
  const connections = [];
  const server = createServer((client) => {
    const record = { sent: [], got: [] };
    const upstream = connect(target(), '127.0.0.1');
    connections.push(record);
    client.on('data', (bytes) => record.sent.push(bytes));
    upstream.on('data', (bytes) => record.got.push(bytes));
    client.pipe(upstream).pipe(client);
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
  });
  return { server, connections };
}

/// The recorded connections as text, in order, with the port of the other side in place of their own.
const texts = (connections, from, to) =>
  connections
    .map(({ sent, got }) => [sent, got].map((bytes) => Buffer.concat(bytes).toString('latin1')))
    .map(([sent, got]) => JSON.stringify([sent.replaceAll(`127.0.0.1:${from}`, `127.0.0.1:${to}`), got]))
    .filter((text) => text !== '["",""]')
    .sort();

const bodies = [];
const scripted = provider(
  ({ url, text }) => url.includes('count') || bodies.push(text),
  () => {},
);
const port = await listen(scripted);
const after = recorder(() => port);
const afterPort = await listen(after.server);

/// Starts `ctx tap` in front of a port; returns its process and its port.
function tap(upstream, ...options) {
  const env = { PATH: process.env.PATH, CTX_HOME: join(folder, 'home') };
  const words = ['tap', '--record', log, '--upstream', `http://127.0.0.1:${upstream}`, ...options];
  const child = spawn(ctx, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`\`ctx tap\` ended with ${code}`)));
    child.stdout.once('data', (lines) => resolve({ child, port: Number(/:(\d+)\/v1$/m.exec(lines)[1]) }));
  });
}

const end = (child) =>
  new Promise((resolve) => {
    child.removeAllListeners('exit');
    child.once('exit', resolve);
    child.kill('SIGTERM');
  });

/// Median time of a request on an open connection, in milliseconds.
async function median(port) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(100_000) }] });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const options = { host: '127.0.0.1', port, path: '/v1/messages', method: 'POST', agent, headers };
  const once = () =>
    new Promise((resolve, reject) => {
      const begun = process.hrtime.bigint();
      const sent = send(options, (response) => {
        response.resume();
        response.on('end', () => resolve(Number(process.hrtime.bigint() - begun) / 1e6));
      });
      sent.on('error', reject);
      sent.end(body);
    });
  const times = [];
  for (let round = 0; round < ROUNDS; round += 1) times.push(await once());
  agent.destroy();
  return times.sort((a, b) => a - b)[ROUNDS / 2];
}

const tapped = await tap(afterPort);
const before = recorder(() => tapped.port);
const beforePort = await listen(before.server);
const base = `http://127.0.0.1:${beforePort}`;
const pythons = python === '-' ? { libraries: [], end() {} } : pythonLibraries(python, join(folder, 'home'));
const agents = codingAgents(join(folder, 'home'), PICTURE);
const failures = [];
try {
  const clients = [...LIBRARIES, ...pythons.libraries].filter(([, name]) => SDKS.includes(name));
  clients.push(...agents.libraries.filter(([client]) => AGENTS.includes(client)));
  for (const [client, name, apis, answer, scenarios = Object.keys(SCENARIOS)] of clients) {
    for (const api of apis) {
      const known = bodies.length;
      for (const scenario of scenarios.filter((scenario) => scenario in SCENARIOS)) {
        const settings = SCENARIOS[scenario];
        const ask = { ...settings, api, base, model: MODELS[api], prompt: `[${scenario}] What color is grass?` };
        try {
          const found = JSON.stringify(await answer(ask));
          const expected = JSON.stringify(settings.schema ? COLOR : WORDS.join(''));
          if (found !== expected) failures.push(`${client} ${name}, ${api}, ${scenario}: returned ${found}`);
        } catch (error) {
          failures.push(`${client} ${name}, ${api}, ${scenario}: ${String(error.stack).slice(0, 1500)}`);
        }
      }
      console.log(`${client} (${name}), ${api}: ${bodies.length - known} requests`);
    }
  }
  await end(tapped.child);
  const [one, two] = [texts(before.connections, beforePort, afterPort), texts(after.connections)];
  const missing = one.filter((text) => !two.includes(text));
  if (missing.length) failures.push(`${missing.length} of ${one.length} connections differ: ${missing[0].slice(0, 2000)}`);
  if (one.length !== two.length) failures.push(`${one.length} connections, but ${two.length} of the provider`);
  const lines = readdirSync(log).flatMap((file) => readFileSync(join(log, file), 'utf8').trim().split('\n'));
  const recorded = lines.map((line) => JSON.parse(line)).filter(({ path }) => API(path));
  const sorted = (values) => values.map((value) => JSON.stringify(value)).sort();
  const hidden = (body) => {
    const { client_metadata, metadata: { user_id, ...metadata } = {}, ...rest } = body;
    return { ...rest, metadata };
  };
  const logged = sorted(recorded.map(({ request }) => hidden(request ?? {})));
  const expected = sorted(bodies.map((text) => hidden(JSON.parse(text))));
  if (JSON.stringify(logged) !== JSON.stringify(expected))
    failures.push(`the log has ${logged.length} requests, not the ${expected.length} of the provider`);
  const bytes = one.reduce((sum, text) => sum + text.length, 0);
  const agentsMissing = agents.missing.filter((name) => AGENTS.includes(name));
  for (const failure of failures) console.log(failure);
  for (const name of agentsMissing) console.log(`!! ${name} is NOT INSTALLED and was not tried`);
  console.log(`tap: ${bodies.length} requests, ${one.length} connections, ${bytes} bytes, ${failures.length} failures`);

  const quick = createHttp((request, response) => {
    request.resume();
    request.on('end', () => response.writeHead(200, { 'content-length': 2 }).end('{}'));
  });
  const quickPort = await listen(quick);
  const measured = await tap(quickPort);
  await median(quickPort);
  const [direct, through] = [await median(quickPort), await median(measured.port)];
  console.log(`added latency: p50 ${(through - direct).toFixed(3)} ms (${direct.toFixed(3)} ms without ctx tap)`);
  await end(measured.child);
  quick.closeAllConnections();
  quick.close();
} finally {
  tapped.child.kill('SIGKILL');
  pythons.end();
  scripted.closeAllConnections();
  for (const server of [scripted, after.server, before.server]) server.close();
  rmSync(folder, { recursive: true });
}
process.exit(failures.length === 0 ? 0 : 1);
