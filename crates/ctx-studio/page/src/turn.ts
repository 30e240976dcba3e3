// What the preview is made for: the conversation, the input, the model and the budget of this window.
import { effect, signal } from "@preact/signals";
import type { Project, TurnSettings } from "./api";
import { project } from "./transport";

/** Ids of files; an empty one means none, also where `ctx.toml` names one. */
export interface Inputs {
  conversation?: string;
  profile?: string;
  worldbooks: string[];
  /** A file with the model's own settings of processors. */
  modelSettings?: string;
}
export interface Turn extends TurnSettings {
  at: string;
}

export const inputs = signal<Inputs>({ worldbooks: [] });
export const turn = signal<Turn>({ at: now() });

const key = () => `ctx-studio/${project}/turn`;
let isChosen = false;

/** Now, with the offset of this machine: in the form that the engine reads. */
export function now(): string {
  const date = new Date();
  const offset = -date.getTimezoneOffset();
  const pad = (value: number) => String(Math.floor(Math.abs(value))).padStart(2, "0");
  const local = new Date(date.getTime() + offset * 60_000).toISOString().slice(0, 19);
  return `${local}${offset < 0 ? "-" : "+"}${pad(offset / 60)}:${pad(offset % 60)}`;
}

/** Changes some settings; an empty one is taken away. */
export function setTurn(change: Partial<Turn>): void {
  const next: Record<string, unknown> = { ...turn.value, ...change };
  for (const [name, value] of Object.entries(next)) if (value === undefined || value === "") delete next[name];
  turn.value = next as unknown as Turn;
}

/** What this window had before, else what the folder names, else the first of each kind. */
export function chooseInputs(loaded: Project, named: Inputs): void {
  const isThere = (id: string | undefined) => loaded.files.some((one) => one.id === id);
  if (!isChosen) {
    isChosen = true;
    const first = (kind: string) => loaded.files.find((one) => one.kind === kind && !one.isStored)?.id;
    const kept = read();
    inputs.value = kept?.inputs ?? {
      conversation: named.conversation ?? first("conversation"),
      profile: named.profile ?? first("profile"),
      worldbooks: named.worldbooks,
    };
    // The time is not kept: a preview of last week's clock would be a surprise.
    if (kept) turn.value = { ...kept.turn, at: turn.value.at };
    effect(write);
  }
  const { conversation, profile, worldbooks, modelSettings } = inputs.peek();
  const next: Inputs = {
    conversation: conversation === "" || isThere(conversation) ? conversation : undefined,
    profile: profile === "" || isThere(profile) ? profile : undefined,
    worldbooks: worldbooks.filter(isThere),
    modelSettings: isThere(modelSettings) ? modelSettings : undefined,
  };
  if (JSON.stringify(next) !== JSON.stringify(inputs.peek())) inputs.value = next;
}

function read(): { inputs: Inputs; turn: Turn } | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(key()) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

function write(): void {
  const text = JSON.stringify({ inputs: inputs.value, turn: turn.value });
  try {
    sessionStorage.setItem(key(), text);
  } catch {
    // The storage is full: the message is kept as a draft.
  }
}
