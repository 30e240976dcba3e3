// The answer or summary that a model is writing in the conversation on the page, in whichever window it was asked for.
import { computed, effect, signal } from "@preact/signals";
import type { AttachedFile, BeginSummary, BeginTurn, SummaryOf, TurnBegun, TurnView } from "../api";
import { call, CallError } from "../transport";
import { agentId } from "../project";
import { outside, turnTold } from "../notices";
import { toast } from "../announce";
import { inputs, turn } from "../turn";
import { route } from "../route";
import { t } from "../language";
import { goToEnd } from "./scroll";
import { load, notify, stepOnItsWay, talk, talkId, talkPath } from "./state";

export const answer = signal<TurnView | undefined>(undefined);
export const isAnswering = computed(() => answer.value?.isRunning === true);
/** Whether the server was asked for an answer or a summary, and has not said yet that it begins. */
export const isAsking = signal(false);

let isRunning = false;
let isStale = false;
let asked = "";

/** Asks for more words whenever the server tells of some. */
export function followAnswer(): void {
  effect(() => {
    const id = talkId.value;
    if (route.value.page !== "talk" || !id) return;
    if (id !== asked) {
      asked = id;
      answer.value = undefined;
    }
    void [turnTold.value, outside.value];
    void poll();
  });
}

/** One at a time, so that pieces come in their order. */
async function poll(): Promise<void> {
  isStale = isRunning;
  if (isRunning) return;
  isRunning = true;
  const id = talkId.peek();
  try {
    const known = answer.peek();
    const since = known ? `?turn=${known.turn}&from=${known.length}` : "";
    const told = await call<TurnView>("GET", talkPath(`/turn${since}`));
    // Whoever goes on behind the answer names the file as it is then.
    if (!told.isRunning && (known?.isRunning || known?.turn !== told.turn)) await load();
    if (id === talkId.peek()) take(told);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
  } finally {
    isRunning = false;
    if (isStale) void poll();
  }
}

const NOTHING = { text: "", notes: [], failure: undefined, summary: undefined };

/** Takes away what is shown of a turn that is over. */
export function dismiss(): void {
  const known = answer.peek();
  if (known && !known.isRunning) answer.value = { ...known, ...NOTHING };
}

/** Joins what is new to what is there; a turn of before is not shown when the page opens. */
function take(told: TurnView): void {
  const known = answer.peek();
  const isOver = !told.isRunning && !known?.isRunning;
  if (isOver && known?.turn === told.turn) return;
  if (isOver && !known) return void (answer.value = { ...told, ...NOTHING });
  const isNext = known?.turn === told.turn && told.from === known.length;
  answer.value = isNext ? { ...told, text: known.text + told.text } : told;
  const taken = told.summary?.taken;
  if (taken && !told.isRunning) notify(taken);
}

/** The place of a reply that does not follow the newest message. */
export interface ReplyPlace {
  /** Id of the message to answer again. */
  answerTo?: string;
  /** Whether to continue the newest reply. */
  continues?: boolean;
}

function body(
  text: string,
  dryRun: boolean,
  attachments: readonly AttachedFile[] = [],
  { answerTo, continues }: ReplyPlace = {},
): BeginTurn {
  const { conversation: _, modelSettings: __, ...files } = inputs.peek();
  return {
    base: talk.peek()?.hash ?? "",
    agent: agentId.peek(),
    ...files,
    turn: { ...turn.peek(), input: text, ...(continues ? { kind: "continue" } : {}) },
    ...(answerTo === undefined ? {} : { answerTo }),
    attachments: [...attachments],
    dryRun,
  };
}

/** Sends a message; without a text and files what is pending is answered. Calls `taken` once the server has the message. */
export function send(text: string, files: readonly AttachedFile[] = [], place?: ReplyPlace, taken?: () => void): Promise<boolean> {
  goToEnd();
  return begin("/turns", () => body(text, false, files, place), taken);
}

/** Has the model write a summary; with which model, the settings of the turn say. */
export function summarize(summary: SummaryOf): Promise<boolean> {
  return begin("/summaries", () => ({ with: body("", false), summary }));
}

/**
 * Begins once the steps on their way are taken, with what they made of the conversation. Whatever is asked meanwhile, as
 * by a double click, is not asked.
 */
async function begin(verb: string, body: () => BeginTurn | BeginSummary, taken = () => {}): Promise<boolean> {
  if (isAsking.peek()) return false;
  isAsking.value = true;
  const id = talkId.peek();
  try {
    while (stepOnItsWay()) await stepOnItsWay();
    // Another conversation is shown meanwhile: what was typed stays with its own.
    if (talkId.peek() !== id) return false;
    await call<TurnBegun>("POST", talkPath(verb), { body: body() });
    taken();
    await poll();
    return true;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    toast(error.message || t().offline, "error", error.failure.help);
    return false;
  } finally {
    isAsking.value = false;
  }
}

/** The request that would be sent, byte for byte. */
export async function wouldSend(text: string, files: readonly AttachedFile[]): Promise<string> {
  return (await call<TurnBegun>("POST", talkPath("/turns"), { body: body(text, true, files) })).body ?? "";
}

export async function stop(): Promise<void> {
  await tell("/turn/stop", {});
}

export async function verdict(id: string, allow: boolean): Promise<void> {
  await tell("/turn/call", { id, allow });
}

async function tell(verb: string, body: object): Promise<void> {
  try {
    await call<TurnView>("POST", talkPath(verb), { body });
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    toast(error.message || t().offline, "error", error.failure.help);
  }
  await poll();
}
