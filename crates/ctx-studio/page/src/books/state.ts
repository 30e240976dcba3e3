// What of a worldbook is open and chosen in this window, and what the test has found.
import { computed, effect, signal } from "@preact/signals";
import type { ScannedEntry, ScanView } from "../api";
import { call, CallError } from "../transport";
import { current } from "../project";
import { isWorking, preview, request } from "../preview";
import { inputs, turn } from "../turn";
import { route } from "../route";
import { lang } from "../language";
import { entriesOf, type BookEntry } from "./entries";

export type BookView = "entries" | "test" | "text";
export const bookView = signal<BookView>("entries");
export const openEntries = signal<ReadonlySet<string>>(new Set());
export const chosen = signal<ReadonlySet<string>>(new Set());
/** The text that is searched instead of the conversation. */
export const typed = signal<string | undefined>(undefined);
/** States that are not listed. */
export const hiddenStates = signal<ReadonlySet<string>>(new Set());
/** The place of a key that is shown. */
export const shownKey = signal<{ entry: string; hit: number } | undefined>(undefined);

export const scan = signal<ScanView | undefined>(undefined);
export const scanFailure = signal<CallError | undefined>(undefined);
export const isScanning = signal(false);

export const bookEntries = computed<BookEntry[] | undefined>(() => entriesOf(current.value?.value.value));

/** What the test says of the entries of the file on the page, by their pointers. */
export const tested = computed<ReadonlyMap<string, ScannedEntry>>(() => {
  const id = current.value?.id;
  const own = (scan.value?.entries ?? []).filter(({ file, pointer }) => file === id && pointer !== undefined);
  return new Map(own.map((entry) => [entry.pointer ?? "", entry]));
});

let isStale = false;

/** Scans again whenever the preview is made anew: it is made of the same. */
export function followScan(): void {
  effect(() => {
    const isShown = route.value.page === "books";
    void [preview.value?.id, typed.value, lang.value, current.value?.server.value?.revision];
    if (isShown && current.value && !isWorking.value) void test();
  });
}

/** One at a time; the turn has the book on the page also where none names it. */
async function test(): Promise<void> {
  isStale = isScanning.peek();
  const book = current.peek();
  if (isStale || !book) return;
  isScanning.value = true;
  const worldbooks = [...new Set([...inputs.peek().worldbooks, book.id])];
  const text = typed.peek();
  const instead = text === undefined ? {} : { conversation: "", turn: { ...turn.peek(), input: text } };
  try {
    scan.value = await call<ScanView>("POST", "worldbooks/scan", { body: { ...request(), worldbooks, ...instead } });
    scanFailure.value = undefined;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    scanFailure.value = error;
  } finally {
    isScanning.value = false;
    if (isStale) void test();
  }
}
