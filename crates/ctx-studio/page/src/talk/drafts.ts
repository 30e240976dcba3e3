// Unsent and unsaved texts, kept in this browser for navigation, reload and restart.
import { effect } from "@preact/signals";
import { project } from "../transport";
import { inputs, setTurn, turn } from "../turn";

const prefix = (conversation: string) => `ctx-studio/${project}/draft/${conversation}/`;
const keyOf = (conversation: string, message: string) => prefix(conversation) + message;

/** Draft of an edited message, or of the composer if `message` is empty. */
export function readDraft(conversation: string, message = ""): string | undefined {
  return localStorage.getItem(keyOf(conversation, message)) ?? undefined;
}

export function keepDraft(conversation: string, text: string, message = ""): void {
  try {
    localStorage.setItem(keyOf(conversation, message), text);
  } catch {
    // Typing must work even if the storage is full.
  }
}

export function dropDraft(conversation: string, message = ""): void {
  localStorage.removeItem(keyOf(conversation, message));
}

/** Deletes the drafts of a deleted conversation. */
export function dropDrafts(conversation: string): void {
  for (const key of Object.keys(localStorage).filter((key) => key.startsWith(prefix(conversation)))) localStorage.removeItem(key);
}

/** Keeps the input of the turn as the draft of its conversation, and restores it when the conversation changes. */
export function followDrafts(): void {
  let of: string | undefined;
  effect(() => {
    const id = inputs.value.conversation;
    const text = turn.value.input ?? "";
    if (!id) return;
    const isFirst = of === undefined;
    if (id === of || (isFirst && text !== "")) {
      of = id;
      if (text === "") dropDraft(id);
      else keepDraft(id, text);
    } else {
      of = id;
      setTurn({ input: readDraft(id) });
    }
  });
}
