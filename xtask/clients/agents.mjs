// Coding agents of npm, each as a process with its own home folder and without a network.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KEY } from './libraries.mjs';

const MODULES = join(process.cwd(), 'node_modules');

/// Environment and arguments of a run in a folder.
const claude = ({ base, model, prompt }) => ({
  env: {
    ANTHROPIC_BASE_URL: base,
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
  },
  arguments: ['-p', prompt, '--allowedTools', 'Bash', '--output-format', 'text'],
});

function codex({ base, model, prompt, image, schema }, folder) {
  const provider = `[model_providers.ctx]\nname = "ctx"\nbase_url = "${base}/v1"\nenv_key = "CTX_KEY"\nwire_api = "responses"\n`;
  const more = 'model_reasoning_summary = "auto"\nanalytics.enabled = false\n';
  writeFileSync(join(folder, 'config.toml'), `model = "${model}"\nmodel_provider = "ctx"\n${more}\n${provider}`);
  const flags = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'];
  if (image) flags.push('--image', join(folder, 'picture.png'));
  if (schema) flags.push('--output-schema', join(folder, 'color.json'));
  return { env: { CODEX_HOME: folder, CTX_KEY: KEY }, arguments: ['exec', ...flags, '--', prompt] };
}

const NPM = {
  chat: '@ai-sdk/openai-compatible',
  responses: '@ai-sdk/openai',
  messages: '@ai-sdk/anthropic',
  gemini: '@ai-sdk/google',
};

function opencode({ api, base, model, prompt, image }, folder) {
  const options = { baseURL: `${base}/v1${api === 'gemini' ? 'beta' : ''}`, apiKey: KEY };
  const modalities = { input: ['text', 'image'], output: ['text'] };
  const known = {
    name: model,
    tool_call: true,
    attachment: true,
    modalities,
    limit: { context: 200000, output: 8000 },
  };
  const provider = { ctx: { npm: NPM[api], options, models: { [model]: known } } };
  const config = {
    provider,
    model: `ctx/${model}`,
    small_model: `ctx/${model}`,
    share: 'disabled',
    autoupdate: false,
    permission: 'allow',
    agent: { title: { disable: true } },
  };
  const env = {
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  };
  return { env, arguments: ['run', ...(image ? ['--file', join(folder, 'picture.png')] : []), '--', prompt] };
}

const PROGRAMS = [
  ['Claude Code', '@anthropic-ai/claude-code-linux-x64', ['messages'], ['loop', 'parallel', 'think'], 'claude', claude],
  ['Codex', '@openai/codex', ['responses'], ['loop', 'parallel', 'image', 'schema', 'think'], 'bin/codex.js', codex],
  [
    'opencode',
    'opencode-linux-x64-baseline',
    ['chat', 'responses', 'messages', 'gemini'],
    ['loop'],
    'bin/opencode',
    opencode,
  ],
];

function run(file, options, folder) {
  const { env, arguments: words } = options;
  const dead = 'http://127.0.0.1:9';
  const offline = { HTTP_PROXY: dead, HTTPS_PROXY: dead, NO_PROXY: '127.0.0.1,localhost' };
  const places = {
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, '.config'),
    XDG_DATA_HOME: join(folder, '.data'),
    XDG_CACHE_HOME: join(folder, '.cache'),
  };
  const isScript = file.endsWith('.js');
  return new Promise((resolve, reject) => {
    const child = execFile(
      isScript ? process.execPath : file,
      isScript ? [file, ...words] : words,
      {
        cwd: join(folder, 'project'),
        env: { PATH: process.env.PATH, ...places, ...offline, ...env },
        timeout: 180_000,
        maxBuffer: 1 << 24,
      },
      (error, stdout, stderr) =>
        error ? reject(new Error(`${error.message.slice(0, 300)}\n${stdout}\n${stderr}`)) : resolve(stdout.trim()),
    );
    child.stdin.end();
  });
}

/// The installed coding agents, in the form of libraries, and the names of the others.
export function codingAgents(home, picture) {
  const found = { libraries: [], missing: [] };
  for (const [client, name, apis, scenarios, file, prepare] of PROGRAMS) {
    const path = join(MODULES, name, file);
    if (!existsSync(path)) {
      found.missing.push(client);
      continue;
    }
    const folder = join(home, client.replace(' ', '-'));
    mkdirSync(join(folder, 'project'), { recursive: true });
    writeFileSync(join(folder, 'picture.png'), Buffer.from(picture, 'base64'));
    const color = {
      type: 'object',
      properties: { color: { type: 'string' } },
      required: ['color'],
      additionalProperties: false,
    };
    writeFileSync(join(folder, 'color.json'), JSON.stringify(color));
    const answer = async (ask) => {
      const text = await run(path, prepare(ask, folder), folder);
      return ask.schema ? JSON.parse(text) : text.split('\n').at(-1);
    };
    found.libraries.push([client, name, apis, answer, scenarios]);
  }
  return found;
}
