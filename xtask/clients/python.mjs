// Client libraries of PyPI: a process of Python, asked line by line.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ALL = ['chat', 'responses', 'messages', 'gemini'];
const NAMES = [
  ['OpenAI SDK', 'openai', ['chat'], 'openai_chat'],
  ['OpenAI SDK', 'openai', ['responses'], 'openai_responses'],
  ['Anthropic SDK', 'anthropic', ['messages'], 'anthropic_messages'],
  ['Google Gen AI SDK', 'google-genai', ['gemini'], 'google'],
  ['LangChain', 'langchain', ALL, 'langchain'],
  ['LangGraph', 'langgraph', ALL, 'langgraph'],
  ['Pydantic AI', 'pydantic-ai-slim', ALL, 'pydantic_ai'],
  ['OpenAI Agents SDK', 'openai-agents', ['chat', 'responses'], 'openai_agents'],
];

/// Starts Python; returns the clients, a function for versions, and one that ends Python.
export function pythonLibraries(python, home) {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    NO_PROXY: '*',
    LANGSMITH_TRACING: 'false',
    PYDANTIC_DISABLE_PLUGINS: '__all__',
  };
  const script = fileURLToPath(new URL('libraries.py', import.meta.url));
  const child = spawn(python, ['-B', script], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (question) => {
    child.stdin.write(`${JSON.stringify(question)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error('Python ended');
    const { found, error } = JSON.parse(value);
    if (error) throw new Error(error);
    return found;
  };
  const libraries = NAMES.map(([client, name, apis, answer]) => [
    client,
    name,
    apis,
    (options) => ask({ ...options, answer }),
  ]);
  return { libraries, version: (name) => ask({ version: name }), end: () => child.kill() };
}
