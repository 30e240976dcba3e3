// Texts that are not sent or saved yet. This browser keeps them, so that leaving the page or a restart loses none.
import { effect } from "@preact/signals";
import { project } from "../transport";
import { inputs, setTurn, turn } from "../turn";

const prefix = (conversation: string) => `ctx-studio/${project}/draft/${conversation}/`;
const keyOf = (conversation: string, message: string) => prefix(conversation) + message;

/** The text of a message that is being edited; that of the composer has no message. */
export function readDraft(conversation: string, message = ""): string | undefined {
  return localStorage.getItem(keyOf(conversation, message)) ?? undefined;
}

export function keepDraft(conversation: string, text: string, message = ""): void {
  try {
    localStorage.setItem(keyOf(conversation, message), text);
  } catch {
    // A full storage is no reason to refuse typing.
  }
}

export function dropDraft(conversation: string, message = ""): void {
  localStorage.removeItem(keyOf(conversation, message));
}

/** Drops all that was typed in a deleted conversation. */
export function dropDrafts(conversation: string): void {
  for (const key of Object.keys(localStorage).filter((key) => key.startsWith(prefix(conversation)))) localStorage.removeItem(key);
}

/** The input of the turn is what the composer of its conversation has. */
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
