// Commands on messages: regenerate, retry, switch the version, edit.
import { signal } from "@preact/signals";
import type { MessageView } from "../api";
import { send } from "./answer";
import { take, talk } from "./state";

/** Id of the message to edit. */
export const wantedEdit = signal<string | undefined>(undefined);

const rows = (): readonly MessageView[] => talk.peek()?.rows ?? [];

export const isOfUser = ({ role, summary }: MessageView) => role === "user" && summary === undefined;

/** Requests another reply to the same message of the user. */
export async function regenerate({ id }: MessageView): Promise<void> {
  const all = rows();
  const question = all.slice(0, all.findIndex((row) => row.id === id)).findLast(isOfUser);
  if (question) await send("", [], { answerTo: question.id });
}

/** Retries a failed turn. A turn with tool results continues after them. */
export async function tryAgain(failed: MessageView): Promise<void> {
  const all = rows();
  const before = all[all.findIndex(({ id }) => id === failed.id) - 1];
  if (before) await send("", [], { answerTo: before.id });
}

/** Shows the previous or next version of a message. Keeps the focus on the same button. */
export async function swipe({ branch }: MessageView, step: -1 | 1): Promise<void> {
  const id = step < 0 ? branch?.before : branch?.after;
  if (id === undefined) return;
  const focused = document.activeElement;
  const name = focused?.getAttribute("data-test");
  if (!(await take({ kind: "activate", id })) || focused?.isConnected || !name) return;
  requestAnimationFrame(() => {
    const buttons = document.querySelectorAll<HTMLButtonElement>(`.message[data-id="${CSS.escape(id)}"] .branch button`);
    const same = [...buttons].find((button) => button.dataset["test"] === name && !button.disabled);
    (same ?? [...buttons].find((button) => !button.disabled))?.focus();
  });
}

export async function swipeLast(step: -1 | 1): Promise<void> {
  const all = rows();
  const question = all.findLastIndex(isOfUser);
  // The versions differ at the first message of the reply, which can be a tool call.
  const begins = all.slice(question + 1).find(({ branch }) => branch) ?? all.at(-1);
  if (begins) await swipe(begins, step);
}

/** Edits the user's newest message. Returns whether it exists. */
export function editLast(): boolean {
  const last = rows().findLast((row) => isOfUser(row) && !row.isCut);
  wantedEdit.value = last?.id;
  return last !== undefined;
}
