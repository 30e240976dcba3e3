// Files that are sent with the message in the composer: chosen, dropped or pasted, and shown until they are sent.
import { effect, signal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { AttachedFile } from "../api";
import { announce, toast } from "../announce";
import { call, CallError } from "../transport";
import { figure, t } from "../language";
import { IconButton } from "../ui/button";
import { FileButton } from "../ui/file-button";
import { Icon } from "../ui/icon";
import { pathOf, talkId, talkPath } from "./state";

const TIMEOUT = 120_000;

/** What the next message of the conversation on the page has. */
export const attached = signal<readonly AttachedFile[]>([]);
export const isAttaching = signal(false);

let of: string | undefined;
/** Who goes to another conversation, or away, leaves none of them behind. */
export function followAttached(): void {
  effect(() => {
    if (talkId.value !== of) leave();
    of = talkId.value;
  });
  addEventListener("pagehide", leave);
}

function leave(): void {
  for (const file of attached.peek()) void discard(of ?? "", file);
  attached.value = [];
}

/** Has the server keep files beside the conversation. */
export async function attach(files: readonly File[]): Promise<void> {
  if (files.length === 0 || isAttaching.peek()) return;
  const id = talkId.peek();
  isAttaching.value = true;
  try {
    for (const file of files) {
      const path = talkPath(`/attachments?name=${encodeURIComponent(file.name)}`);
      const kept = await call<AttachedFile>("POST", path, { bytes: file, timeout: TIMEOUT });
      if (id !== talkId.peek()) return void discard(id ?? "", kept);
      attached.value = [...attached.peek().filter((one) => one.path !== kept.path), kept];
      announce(t().talk.attachedOne(kept.name));
    }
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    toast(error.message || t().offline, "error", error.failure.help);
  } finally {
    isAttaching.value = false;
  }
}

function remove(file: AttachedFile): Promise<void> {
  attached.value = attached.peek().filter((one) => one !== file);
  announce(t().talk.removedOne(file.name));
  return discard(talkId.peek() ?? "", file);
}

/** Gives up a file that was not sent. */
async function discard(id: string, { path }: AttachedFile): Promise<void> {
  try {
    await call("POST", pathOf(id, "/attachments/discard"), { body: { path }, outlives: true });
  } catch (error) {
    // It stays beside the conversation, where it is in nobody's way.
    if (!(error instanceof CallError)) throw error;
  }
}

/** The files of the message, each with a button that takes it away. */
export function AttachedFiles({ after }: { after: () => void }) {
  const list = useRef<HTMLUListElement>(null);
  if (attached.value.length === 0) return null;
  const take = (file: AttachedFile, at: number) => {
    void remove(file);
    // The focus goes to what is next, not to the beginning of the page.
    const left = [...(list.current?.querySelectorAll("button") ?? [])].filter((_, place) => place !== at);
    (left[Math.min(at, left.length - 1)] ?? { focus: after }).focus();
  };
  return (
    <ul ref={list} class="chips" aria-label={t().talk.attachedFiles} data-test="attached">
      {attached.value.map((file, at) => (
        <li key={file.path} class="chip">
          <Icon name="file-text" />
          <span>{file.name}</span>
          <small>{t().bytesOf(figure(file.bytes))}</small>
          <IconButton icon="x" label={t().talk.removeOne(file.name)} onClick={() => take(file, at)} testId="remove-attached" />
        </li>
      ))}
    </ul>
  );
}

export function AttachButton({ isDisabled }: { isDisabled: boolean }) {
  return (
    <FileButton
      icon="paperclip"
      kind="quiet"
      isDisabled={isDisabled || isAttaching.value}
      title={t().talk.attachHint}
      label={t().talk.attach}
      onFiles={attach}
      filesTestId="attach-files"
      testId="attach"
    />
  );
}
