// Unsent and unsaved texts, kept in this browser for navigation, reload and restart. Each window has its own.
import { effect } from "@preact/signals";
import { isObject } from "../pointer";
import { drop, keep, kept, keysOf, moveKeys } from "../storage";
import { project, thisWindow } from "../transport";
import { inputs, setTurn, turn } from "../turn";
import { isClosed } from "../unsent";

export interface Draft {
  text: string;
  /** Digest of the message that is edited. */
  was?: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** The keys of a place: of the edited message, or of the composer if `message` is empty. A window id follows. */
const placeOf = (conversation: string, message: string) =>
  `ctx-studio/${project}/draft/${conversation}/${encodeURIComponent(message)}/`;
/** Drafts of other windows that this window shows, by their places. */
const sources = new Map<string, string>();
/** Conversation and text of the composer. */
let of: string | undefined;
let last = "";

function read(key: string): Draft | undefined {
  try {
    const draft: unknown = JSON.parse(kept(key) ?? "null");
    return isObject(draft) ? (draft as unknown as Draft) : undefined;
  } catch {
    return undefined;
  }
}

function draftsOf(place: string): { key: string; draft: Draft }[] {
  return keysOf(place).flatMap((key) => {
    const draft = read(key);
    return draft ? [{ key, draft }] : [];
  });
}

/** The draft of this window, or the newest one of the others. */
export function readDraft(conversation: string, message = ""): Draft | undefined {
  const place = placeOf(conversation, message);
  const own = read(place + thisWindow());
  if (own) return own;
  const [newest] = draftsOf(place).sort((a, b) => b.draft.at - a.draft.at);
  if (newest) sources.set(place, newest.key);
  return newest?.draft;
}

export function keepDraft(conversation: string, text: string, message = "", was?: string): void {
  const place = placeOf(conversation, message);
  const own = place + thisWindow();
  const isEmpty = text === "" && message === "";
  if (isEmpty) drop(own);
  else keep(own, JSON.stringify({ text, was, at: Date.now() } satisfies Draft));
  // This window continues the draft of a closed one.
  const source = sources.get(place);
  sources.delete(place);
  if (source && (isEmpty || localStorage.getItem(own))) void isClosed(source.slice(place.length)).then((isIt) => isIt && drop(source));
}

/** Deletes a text that was sent, saved or discarded, in all windows. Other texts stay. */
export function dropDraft(conversation: string, text: string, message = ""): void {
  const place = placeOf(conversation, message);
  for (const { key, draft } of draftsOf(place)) if (draft.text === text) drop(key);
}

/** Moves the drafts of a renamed conversation, or deletes those of a deleted one. */
export function moveDrafts(conversation: string, next: string): void {
  moveKeys(conversation, next);
  if (of === conversation && next !== "") of = next;
}

/** Empties the composer after its text was sent. What was typed since then stays. */
export function dropInput(conversation: string, text: string): void {
  dropDraft(conversation, text);
  if (of === conversation && turn.peek().input === text) setTurn({ input: undefined });
}

/** Keeps the input of the turn as the draft of its conversation, and restores it when the conversation changes. */
export function followDrafts(): void {
  effect(() => {
    const id = inputs.value.conversation ?? "";
    const text = turn.value.input ?? "";
    if (id === of) {
      if (text !== last) keepDraft(id, text);
      last = text;
      return;
    }
    const draft = readDraft(id)?.text;
    // The input of before a reload, or one that was typed without a conversation.
    const isCarried = text !== "" && (of === undefined || (of === "" && draft === undefined));
    if (isCarried && of === "") dropDraft("", text);
    if (isCarried && text !== draft) keepDraft(id, text);
    of = id;
    last = isCarried ? text : (draft ?? "");
    setTurn({ input: last });
  });
}
