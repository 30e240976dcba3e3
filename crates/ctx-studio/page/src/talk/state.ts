// The conversation on the page: what the file holds, and what this window shows of it.
import { computed, effect, signal } from "@preact/signals";
import type { ConversationStep, ConversationView, MessageView, StepTaken, TreeView } from "../api";
import { call, CallError } from "../transport";
import { shown, soon } from "../shown";
import { agentId, filesOf } from "../project";
import { outside } from "../notices";
import { announce, closeToast, toast } from "../announce";
import { inputs } from "../turn";
import { go, route } from "../route";
import { lang, t } from "../language";
import { stepName } from "./step-name";

/** The conversation in the address, else that of the turn, else the first of the folder. */
export const talkId = computed<string | undefined>(() => {
  const all = filesOf("conversation");
  const wanted = [route.value.file, inputs.value.conversation];
  return wanted.find((id) => id !== undefined && all.some((one) => one.id === id)) ?? all.find((one) => !one.isStored)?.id;
});
export const talk = signal<ConversationView | undefined>(undefined);
export const tree = signal<TreeView | undefined>(undefined);
export const talkFailure = signal<CallError | undefined>(undefined);
/** Summaries whose messages are shown. */
export const unfolded = signal<ReadonlySet<string>>(new Set());
/** The first message that is shown; none means the last ones. */
export const first = signal<number | undefined>(undefined);
/** A message that must be seen, and a part of its text. */
export const wanted = signal<{ id: string; from?: number; to?: number } | undefined>(undefined);
export const isBusy = signal(false);

let current: string | undefined;
/** Message to show after opening another conversation. */
let sought: { talk: string; message: string } | undefined;
let lastRead: Promise<void> = Promise.resolve();
/** The read that has not begun. */
let nextRead: Promise<void> | undefined;
/** What the answer to a step has shown already, unless something else has changed since. */
let answered: string | undefined;
/** How many answers to steps were shown, and how often all was to be read again. */
let [steps, loads] = [0, 0];
/** The state of the conversation that the tree shows. */
let treeOf: string | undefined;

/** Reads the conversation again whenever it, or what is shown of it, changes. */
export function followTalk(): void {
  effect(() => {
    const id = talkId.value;
    if (route.value.page !== "talk") return;
    if (!id) return void (talk.value = tree.value = current = undefined);
    if (id !== current) {
      current = id;
      talk.value = tree.value = treeOf = first.value = undefined;
      wanted.value = sought?.talk === id ? { id: sought.message } : undefined;
      sought = undefined;
      unfolded.value = new Set();
    }
    if (inputs.peek().conversation !== id) inputs.value = { ...inputs.peek(), conversation: id };
    void [unfolded.value, first.value, wanted.value, outside.value, lang.value];
    void load();
  });
}

export const pathOf = (id: string, verb: string) => `conversations/${encodeURIComponent(id)}${verb}`;
const path = (verb = "") => pathOf(talkId.peek() ?? "", verb);

/** Ends when what is shown is no older than the call. */
export function load(): Promise<void> {
  answered = undefined;
  loads += 1;
  return loadUnlessAnswered();
}

/** One at a time: an answer that comes late would show what was before. */
function loadUnlessAnswered(): Promise<void> {
  // Several calls in one moment are one; whoever waits does not wait for what is asked for later.
  nextRead ??= lastRead = soon(readAfter(lastRead));
  return nextRead;
}

async function readAfter(before: Promise<void>): Promise<void> {
  await before.catch(() => {});
  nextRead = undefined;
  await read();
}

async function read(): Promise<void> {
  try {
    const asked = place();
    if (asked === answered) return;
    const [id, before] = [talkId.peek(), steps];
    const view = await call<ConversationView>("GET", `${path()}?${asked}`);
    // What a step has shown meanwhile is newer.
    if (id === talkId.peek() && before === steps) show(view);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    talkFailure.value = error;
  }
}

/** What is shown of the conversation, or its end, as it is asked for. */
function place(isEnd = false): string {
  const asked = new URLSearchParams({ open: [...unfolded.peek()].join(",") });
  const [at, from] = isEnd ? [] : [wanted.peek()?.id, first.peek()];
  if (at !== undefined) asked.set("at", at);
  if (from !== undefined) asked.set("from", String(from));
  return String(asked);
}

function show(view: ConversationView): void {
  talk.value = { ...view, rows: kept(view.rows) };
  talkFailure.value = undefined;
  void readTree();
}

/** The tree is that of the whole file, and nobody waits for it to see messages. */
async function readTree(): Promise<void> {
  await shown();
  const [id, hash] = [talkId.peek(), talk.peek()?.hash];
  if (hash === undefined || hash === treeOf) return;
  treeOf = hash;
  try {
    const told = await call<TreeView>("GET", path("/tree"));
    if (id === talkId.peek() && hash === treeOf) tree.value = told;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    treeOf = undefined;
    talkFailure.value = error;
  }
}

/** Rows that are as before stay the same objects, so that they need not be drawn again. */
function kept(rows: readonly MessageView[]): MessageView[] {
  const before = new Map(talk.peek()?.rows.map((row) => [row.id, row]));
  return rows.map((row) => {
    const known = before.get(row.id);
    return known && JSON.stringify(known) === JSON.stringify(row) ? known : row;
  });
}

/** Takes a step; returns whether it was taken. */
export function take(step: ConversationStep): Promise<boolean> {
  const isOfLog = step.kind === "undo" || step.kind === "redo";
  const log = step.kind === "redo" ? talk.peek()?.redo : talk.peek()?.undo;
  if (isOfLog && log?.length === 0) return Promise.resolve(false);
  // What is added stands at the end, which is shown from now on.
  const isAdded = step.kind === "append";
  const [id, asked, before] = [talkId.peek(), place(isAdded), loads];
  return send(`/steps?${asked}`, { step, agent: agentId.peek() }, (taken) => {
    const isHere = id === talkId.peek();
    const isAsked = isHere && asked === place(isAdded);
    // What changed while the step was on its way may not be in its answer.
    const isNewest = before === loads;
    if (isHere && isAdded) first.value = wanted.value = undefined;
    else if (isHere && taken.id !== undefined && !isThere(taken.id) && !isInEnd(taken)) wanted.value = { id: taken.id };
    if (isAsked && taken.view) {
      show(taken.view);
      steps += 1;
      if (isNewest) answered = place();
    }
    // Switching versions needs no notice: the buttons switch back.
    if (step.kind === "activate") return announce(stepName(taken.told));
    if (!isOfLog) return notify(taken);
    closeToast(notice);
    announce(t().labeled(step.kind === "redo" ? t().redone : t().undone, stepName(taken.told)));
  });
}

/** Ends when the step on its way is taken and shown. */
let running: Promise<void> | undefined;
let onItsWay = "";
/** What waits for the step before. */
const waiting = new Set<string>();
/** What the step that was taken last made of its conversation. */
let latest: { id: string | undefined; hash: string } | undefined;

/** The step on its way; whoever waits for it looks again, since another may have begun first. */
export function stepOnItsWay(): Promise<void> | undefined {
  return running;
}

/**
 * Sends what changes the conversation, for the text that is shown. Whoever is quicker than the server goes on from the step
 * before; the same once more, as by a double click, is one.
 */
export async function send(verb: string, body: object, done: (taken: StepTaken) => void): Promise<boolean> {
  const id = talkId.peek();
  const asked = JSON.stringify([id, verb, body]);
  if (asked === onItsWay || waiting.has(asked)) return false;
  waiting.add(asked);
  while (running) await running;
  waiting.delete(asked);
  // Whoever has gone to another conversation meanwhile has changed this one all the same.
  const base = id === talkId.peek() ? talk.peek()?.hash : latest?.id === id ? latest?.hash : undefined;
  if (id === undefined || base === undefined) return false;
  let end = () => {};
  running = soon(new Promise((resolve) => (end = resolve)));
  onItsWay = asked;
  // Whatever comes of it, what the step before has shown is old then.
  answered = undefined;
  isBusy.value = true;
  try {
    const taken = await call<StepTaken>("POST", pathOf(id, verb), { body: { base, ...body } });
    latest = { id, hash: taken.hash };
    done(taken);
    return true;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    toast(error.message || t().offline, "error", error.failure.help);
    return false;
  } finally {
    onItsWay = "";
    isBusy.value = false;
    // Whoever asked goes on at once: what was typed is taken, and is not there to be sent twice.
    const isOver = () => {
      running = undefined;
      end();
    };
    void loadUnlessAnswered().then(isOver, isOver);
  }
}

function isThere(id: string): boolean {
  return talk.peek()?.rows.some((row) => row.id === id) === true;
}

/** Whether the view is the end of the conversation and contains the affected message. */
function isInEnd({ id, view }: StepTaken): boolean {
  if (first.peek() !== undefined || wanted.peek() !== undefined || !view) return false;
  return view.from + view.rows.length === view.total && view.rows.some((row) => row.id === id);
}

let notice = 0;

/** A notice that stays, from which the latest step can be taken back. */
export function notify({ told, hash }: StepTaken): void {
  closeToast(notice);
  const undo = () => (talk.peek()?.hash === hash ? void take({ kind: "undo" }) : void toast(t().talk.noLonger, "error"));
  notice = toast(stepName(told), "info", undefined, { label: t().undo, run: undo });
}

/** Shows a place in a message, also one behind a summary. */
export function showPlace(id: string, span?: { from: number; to: number }, summary?: string): void {
  if (summary !== undefined) unfolded.value = new Set([...unfolded.peek(), summary]);
  wanted.value = { id, ...span };
}

/** Opens a conversation, optionally at a message. */
export function openTalk(id: string, message?: string): void {
  if (id === talkId.peek()) {
    if (message !== undefined) showPlace(message);
    return;
  }
  sought = message === undefined ? undefined : { talk: id, message };
  go("talk", id);
}

export function jump(to: number): void {
  wanted.value = undefined;
  first.value = to;
}

export const talkPath = path;
