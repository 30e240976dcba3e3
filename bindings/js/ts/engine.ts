/**
 * The WebAssembly of the engine: its files, its memory, and what is done when it traps.
 *
 * A panic or a full stack traps. Then the instance is in no state to go on, so a new one takes its place, what is
 * held is made again where it is used next, and the caller gets a `CtxError` with the code `internal`.
 */

import { CtxError, usage } from "./error.js";

/** What the WebAssembly exports; functions return −1 where the answer is an error. */
export interface Exports {
  memory: WebAssembly.Memory;
  give(length: number): number;
  answer_at(): number;
  answer_length(): number;
  call(length: number): number;
  load_vocabulary(length: number): number;
  agent_new(host: number): number;
  agent_describe(agent: number): number;
  agent_assemble(agent: number, conversation: number): number;
  agent_explain(agent: number, conversation: number): number;
  conversation_new(): number;
  conversation_read(): number;
  conversation_extend(conversation: number, texts: number): number;
  conversation_apply(conversation: number): number;
  conversation_fit(conversation: number): number;
  conversation_describe(conversation: number): number;
  conversation_length(conversation: number): number;
  stream_new(): number;
  stream_push(stream: number): number;
  stream_partial(stream: number): number;
  stream_finish(stream: number): number;
  free(number: number): number;
  fail(): number;
}

/** The files that the package loads when it needs them. */
export type PackageFile = "ctx.wasm" | "ctx-files.wasm" | "cl100k_base.bin" | "o200k_base.bin";

/** The engine, and the larger one that has the operations on files too, and writes HTML as Markdown. */
type Engine = Extract<PackageFile, `${string}.wasm`>;

/** The operations that only the larger engine has. */
const ON_FILES = new Set(["check", "export", "import", "migrate", "schemas"]);

/** What a file may be given as. */
export type FileContent = Response | ArrayBuffer | Uint8Array<ArrayBuffer> | WebAssembly.Module;

// Written out, so that bundlers find the files.
const PLACES: Record<PackageFile, () => URL> = {
  "ctx.wasm": () => new URL("./ctx.wasm", import.meta.url),
  "ctx-files.wasm": () => new URL("./ctx-files.wasm", import.meta.url),
  "cl100k_base.bin": () => new URL("./vocabularies/cl100k_base.bin", import.meta.url),
  "o200k_base.bin": () => new URL("./vocabularies/o200k_base.bin", import.meta.url),
};

const encoder = new TextEncoder();
const decoder = new TextDecoder();

let read: (file: PackageFile, place: URL) => Promise<FileContent> = (_, place) => fetch(place);
const loading = new Map<Engine, Promise<WebAssembly.Module>>();
let compiled: WebAssembly.Module | undefined;
let current: Exports | undefined;
let generation = 0;
let isWorking = false;
const vocabularies = new Map<string, Uint8Array>();
const loadingVocabularies = new Map<string, Promise<void>>();

/**
 * Reads the files of the package by a function of your own: where they are bundled, or kept elsewhere.
 *
 * Call it before anything else. Without it they are fetched from beside the module, and in Node.js read from there.
 */
export function readFilesWith(own: (file: PackageFile, place: URL) => Promise<FileContent>): void {
  read = own;
}

/**
 * Loads the engine, unless it is there. Every other function that returns a promise does it by itself.
 *
 * For an operation on files, such as `import`, that is the larger engine, which then takes the place of the other: what
 * your objects hold is made again when you use them.
 */
export async function ready(operation?: string): Promise<void> {
  const isLarger = operation !== undefined && ON_FILES.has(operation);
  if (current && !isLarger) return;
  const module = await load(isLarger ? "ctx-files.wasm" : "ctx.wasm");
  // Another call may have been faster, or have loaded the larger engine.
  const isThere = (): boolean => current !== undefined && (!isLarger || compiled === module);
  if (isThere()) return;
  const made = await WebAssembly.instantiate(module, imports());
  if (!isThere()) begin(module, made);
}

/** Lets the engine do something, and the larger one where the other has not what that needs. */
export async function withEngine<T>(work: () => T, operation?: string): Promise<T> {
  await ready(operation);
  try {
    return work();
  } catch (error) {
    if (!(error instanceof CtxError) || error.code !== "absent") throw error;
    await ready("import");
    return work();
  }
}

/** Loads the vocabulary of an encoding, unless it is there; one that has none is no error. */
export async function loadVocabulary(encoding: string): Promise<void> {
  const file = `${encoding}.bin` as PackageFile;
  if (vocabularies.has(encoding) || !(file in PLACES)) return;
  let pending = loadingVocabularies.get(encoding);
  if (!pending) {
    pending = fetchVocabulary(encoding, file).finally(() => loadingVocabularies.delete(encoding));
    loadingVocabularies.set(encoding, pending);
  }
  await pending;
}

async function fetchVocabulary(encoding: string, file: PackageFile): Promise<void> {
  await ready();
  try {
    const tables = await bytes(await read(file, PLACES[file]()));
    perform((exports) => takeVocabulary(exports, encoding, tables));
    vocabularies.set(encoding, tables);
  } catch (error) {
    throw unloaded(file, error);
  }
}

/** Returns the number of the instance: what an earlier one held is gone. */
export function instance(): number {
  return generation;
}

/** Lets the engine work; returns its number. */
export function perform(work: (exports: Exports) => number): number {
  const exports = running();
  if (isWorking) throw usage("a function that `ctx` calls cannot call `ctx`");
  isWorking = true;
  let number: number;
  try {
    number = work(exports);
  } catch (error) {
    if (error instanceof CtxError) throw error;
    const told = error instanceof Error ? error.message : String(error);
    restart();
    throw new CtxError({ code: "internal", message: `the engine failed, and was started anew: ${told}` }, error);
  } finally {
    isWorking = false;
  }
  if (number < 0) throw new CtxError(JSON.parse(answer(exports)));
  return number;
}

/** Lets the engine work; returns the text of its answer. */
export function ask(work: (exports: Exports) => number): string {
  perform(work);
  return answer(running());
}

/** Carries out an operation: JSON in, JSON out. */
export function callNow(name: string, options: string): string {
  return ask((exports) => {
    const head = encoder.encode(name);
    put(exports, head, encoder.encode(options));
    return exports.call(head.length);
  });
}

/** How many texts are written at once: all of them would be one long text more. */
const PIECE = 128;

/** Gives the engine a text, or some with NUL between any two. */
export function give(exports: Exports, given: string | readonly string[]): void {
  const texts = typeof given === "string" ? [given] : given;
  const length = texts.reduce((sum, text) => sum + text.length, texts.length - 1);
  // This may move the memory.
  const start = exports.give(length);
  const room = new Uint8Array(exports.memory.buffer, start, length);
  let at = 0;
  for (let first = 0; first < texts.length; first += PIECE) {
    const piece = texts.slice(first, first + PIECE).join("\0");
    const { read, written } = encoder.encodeInto(piece, room.subarray(at));
    // Where a text is ASCII, each unit of its string is a byte.
    if (read !== piece.length || written !== piece.length) return put(exports, encoder.encode(texts.join("\0")));
    // The room is full of NUL.
    at += written + 1;
  }
}

/** Writes a value as JSON; half a character, as cut texts have, becomes U+FFFD. */
export function json(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
    if (text?.includes("\\ud")) text = JSON.stringify(value, wellFormed);
  } catch (error) {
    throw usage(error);
  }
  if (text === undefined) throw usage(`a ${typeof value} cannot be written as JSON`);
  return text;
}

/** Tells how many bytes of memory the engine has; for tests. */
export function memoryBytes(): number {
  return running().memory.buffer.byteLength;
}

/** Makes the engine fail, as a fault of it would; for tests. */
export function breakEngine(): void {
  perform((exports) => exports.fail());
}

function wellFormed(_: string, value: unknown): unknown {
  return typeof value === "string" ? decoder.decode(encoder.encode(value)) : value;
}

async function load(file: Engine): Promise<WebAssembly.Module> {
  let pending = loading.get(file);
  if (!pending) loading.set(file, (pending = compile(file)));
  try {
    return await pending;
  } catch (error) {
    loading.delete(file);
    throw unloaded(file, error);
  }
}

async function compile(file: Engine): Promise<WebAssembly.Module> {
  const content = await read(file, PLACES[file]());
  if (content instanceof WebAssembly.Module) return content;
  const isStream = content instanceof Response && content.headers.get("content-type") === "application/wasm";
  return isStream ? WebAssembly.compileStreaming(content) : WebAssembly.compile(await bytes(content));
}

async function bytes(content: FileContent): Promise<Uint8Array<ArrayBuffer>> {
  if (content instanceof Uint8Array) return content;
  if (content instanceof ArrayBuffer) return new Uint8Array(content);
  if (content instanceof WebAssembly.Module) throw usage("a vocabulary is no module");
  if (!content.ok) throw usage(`the server answers ${content.status}`);
  return new Uint8Array(await content.arrayBuffer());
}

function unloaded(file: PackageFile, error: unknown): CtxError {
  const said = error instanceof Error ? error.message : String(error);
  const help = "serve the files of the package beside its module, or give them by `readFilesWith`";
  return new CtxError({ code: "load", message: `cannot load \`${file}\`: ${said}`, help }, error);
}

const FAILED = -1;

function imports(): WebAssembly.Imports {
  return { ctx: { ask: askHost, is_over: () => Number(limit?.() ?? false) } };
}

/** Functions of the host's own, by the numbers that the engine knows them by. */
const hosts = new Map<number, (question: unknown) => unknown>();
let lastHost = 0;

/** Keeps functions for the engine; returns their number. */
export function keepHost(answerer: (question: unknown) => unknown): number {
  lastHost += 1;
  hosts.set(lastHost, answerer);
  return lastHost;
}

/** Lets go of functions. */
export function dropHost(number: number): void {
  hosts.delete(number);
}

/** Answers a question of the engine by a function of the host; what it throws must not pass through the engine. */
function askHost(number: number): number {
  const exports = running();
  try {
    const said = hosts.get(number)?.(JSON.parse(answer(exports)));
    if (said instanceof Promise) {
      said.catch(() => undefined);
      throw usage("a function of your own gives no promise");
    }
    give(exports, json(said ?? null));
    return 0;
  } catch (error) {
    give(exports, error instanceof Error ? error.message : String(error));
    return FAILED;
  }
}

/** How long a call may take. */
export interface Limits {
  /** Ends it with the code `cancelled` once it is aborted; a call that runs notices it where functions of yours abort it. */
  signal?: AbortSignal | undefined;
  /** Ends it with the code `cancelled` after so many milliseconds. */
  timeLimit?: number | undefined;
}

let limit: (() => boolean) | undefined;

/** Lets the engine work within limits. */
export function within<T>({ signal, timeLimit }: Limits, work: () => T): T {
  const until = timeLimit === undefined ? Infinity : performance.now() + timeLimit;
  limit = () => signal?.aborted === true || performance.now() >= until;
  try {
    return work();
  } finally {
    limit = undefined;
  }
}

/** Goes on with a new instance, which knows the vocabularies that were loaded and holds nothing else. */
function begin(module: WebAssembly.Module, made: WebAssembly.Instance): void {
  const exports = made.exports as unknown as Exports;
  for (const [encoding, tables] of vocabularies) takeVocabulary(exports, encoding, tables);
  [compiled, current] = [module, exports];
  generation += 1;
}

function restart(): void {
  current = undefined;
  if (compiled) begin(compiled, new WebAssembly.Instance(compiled, imports()));
}

function takeVocabulary(exports: Exports, encoding: string, tables: Uint8Array): number {
  const name = encoder.encode(encoding);
  put(exports, name, tables);
  return exports.load_vocabulary(name.length);
}

function running(): Exports {
  if (!current) throw usage("the engine is not loaded: `await ready()` first");
  return current;
}

function put(exports: Exports, ...parts: Uint8Array[]): void {
  let at = exports.give(parts.reduce((length, part) => length + part.length, 0));
  // The memory may have grown, and with that its buffer is another.
  const memory = new Uint8Array(exports.memory.buffer);
  for (const part of parts) {
    memory.set(part, at);
    at += part.length;
  }
}

function answer(exports: Exports): string {
  return decoder.decode(new Uint8Array(exports.memory.buffer, exports.answer_at(), exports.answer_length()));
}
