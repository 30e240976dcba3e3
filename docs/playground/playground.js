// The playground: what is typed becomes a context, at once and without a server.

import { Agent, Conversation, CtxError, importFiles, ready } from "./ctx/index.js";

const SAMPLE = `name: Robin
presetMessages:
- id: identity
  role: system
  content: You are {{char}}, a patient gardener who answers {{user}}.
- type: chat_history
- id: reminder
  role: system
  content: Answer in two sentences.
  insertionPoint: -1
`;
const CHAT = [
  { role: "user", content: "When do I sow basil?" },
  { role: "assistant", content: "Indoors from March, outdoors once the nights stay warm." },
];
const PAUSE = 150;
const UNREMARKABLE = ["kept", "merged"];

const element = (id) => document.getElementById(id);
const [agentField, chatField, inputField] = ["agent", "chat", "input"].map(element);

// What a file was opened as, until its text is changed.
let opened;
let waiting;
let turns = 0;

// Makes an element with a text in it: nothing that is shown is ever read as HTML.
function made(name, text, ...classes) {
  const node = document.createElement(name);
  node.textContent = text;
  node.classList.add(...classes.filter(Boolean));
  return node;
}

function later() {
  clearTimeout(waiting);
  waiting = setTimeout(assemble, PAUSE);
}

async function assemble() {
  const turn = ++turns;
  element("made").setAttribute("aria-busy", "true");
  try {
    const parts = opened ?? { agent: await readAgent(agentField.value), worldbooks: [] };
    const agent = await Agent.compile(parts.agent, { worldbooks: parts.worldbooks });
    const conversation = await Conversation.read({ file: "chat", text: chatField.value.trim() || "[]" });
    const model = element("model").value.trim();
    const budget = element("budget").value;
    const context = await agent.assemble(conversation, {
      input: inputField.value || undefined,
      model: model || undefined,
      contextTokens: budget === "" ? undefined : Number(budget),
      reserve: budget === "" ? undefined : 0,
      format: element("format").value,
    });
    if (turn === turns) show(context, agent.findings);
    conversation.free();
    agent.free();
  } catch (error) {
    if (!(error instanceof CtxError)) throw error;
    if (turn === turns) fail(error);
  }
  if (turn === turns) element("made").setAttribute("aria-busy", "false");
}

// Reads an agent as it is, and anything else as what another application wrote.
async function readAgent(text) {
  if (!/^\s*\{/.test(text)) return { file: "preset.yaml", text };
  const { agent } = await importFiles({ "preset.json": text });
  return agent ?? { file: "preset.json", text };
}

async function open(file) {
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    const { agent, worldbooks } = await importFiles({ [file.name]: bytes });
    if (!agent) throw new CtxError({ code: "usage", message: `\`${file.name}\` holds no agent, preset or card` });
    agentField.value = JSON.stringify(agent, null, 2);
    opened = { agent, worldbooks: worldbooks.map(({ book }) => book) };
    await assemble();
  } catch (error) {
    if (!(error instanceof CtxError)) throw error;
    fail(error);
  }
}

function show({ messages, report, body, bodyFindings }, findings) {
  const { usage } = report;
  const sum = messages.reduce((tokens, message) => tokens + message.tokens, 0);
  element("status").textContent = "";
  element("usage").hidden = false;
  element("bar").value = usage.available ? Math.min(sum / usage.available, 1) : 0;
  const of = usage.available ? ` of ${usage.available.toLocaleString("en")}` : ", without a limit";
  const how = usage.isExact ? `counted as ${usage.encoding}` : "estimated";
  element("sum").textContent = `${sum.toLocaleString("en")} tokens${of}, ${how}`;
  element("messages").replaceChildren(...messages.map(shownMessage));
  const found = [...findings, ...report.diagnostics.filter(isNew(findings)), ...(bodyFindings ?? [])];
  element("findings").replaceChildren(...found.map(shownFinding));
  const remarkable = report.decisions.filter((decision) => !UNREMARKABLE.includes(decision.outcome));
  element("decisions").replaceChildren(...remarkable.map(shownDecision));
  if (remarkable.length === 0) element("decisions").append(made("li", "nothing"));
  element("body").textContent = JSON.stringify(body, null, 2);
}

function isNew(known) {
  return (found) => !known.some((one) => one.code === found.code && one.message === found.message);
}

function shownMessage(message) {
  const item = document.createElement("li");
  const head = made("h3", message.role);
  head.append(made("span", `${origin(message.source)} · ${message.tokens} tokens`));
  const said = document.createElement("p");
  const text = typeof message.content === "string" ? message.content : JSON.stringify(message.content ?? message.tool_calls);
  said.append(...pieces(message, text));
  item.append(head, said);
  return item;
}

// Marks each piece of a text by where it comes from; spans are in bytes of UTF-8.
function pieces({ segments, source }, text) {
  if (!segments?.length || typeof text !== "string") return [marked(text, source)];
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  return segments.map((one) => marked(decoder.decode(bytes.subarray(one.span.start, one.span.end)), one.source));
}

function marked(text, source) {
  const mark = made("mark", text, source.kind);
  mark.title = origin(source);
  return mark;
}

function origin({ kind, id }) {
  return id ? `${kind} ${id}` : kind;
}

function shownFinding({ code, message, help, position }) {
  const at = position ? ` (${position.file}, line ${position.line})` : "";
  return made("li", `${code}: ${message}${at}${help ? ` — ${help}` : ""}`);
}

function shownDecision({ outcome, reason, source, count }) {
  const what = count > 1 ? `${count} messages` : origin(source ?? { kind: "message" });
  return made("li", `${what}: ${outcome.replaceAll("_", " ")}, ${reason}`);
}

function fail({ message, position, help }) {
  const at = position ? ` (${position.file}, line ${position.line}, column ${position.column})` : "";
  element("usage").hidden = true;
  element("status").textContent = "There is no context.";
  element("findings").replaceChildren(made("li", `${message}${at}${help ? ` — ${help}` : ""}`));
  for (const id of ["messages", "decisions", "body"]) element(id).replaceChildren();
}

agentField.value = SAMPLE;
chatField.value = JSON.stringify(CHAT, null, 2);
inputField.value = "And how often does it need water?";
element("model").value = "gpt-5";
element("given").addEventListener("input", (event) => {
  if (event.target === element("file")) return;
  if (event.target === agentField) opened = undefined;
  later();
});
element("given").addEventListener("submit", (event) => event.preventDefault());
element("file").addEventListener("change", ({ target }) => target.files[0] && open(target.files[0]));
// At once what cards need too, so that they can be opened without a network.
await ready("import");
await assemble();
