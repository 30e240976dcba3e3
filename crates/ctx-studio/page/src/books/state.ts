// State of the page Worldbooks in this window: open entry, filters, selection, and scan.
import { batch, computed, effect, signal } from "@preact/signals";
import type { ScannedEntry, ScanView } from "../api";
import { call, CallError, project } from "../transport";
import { current } from "../project";
import { isWorking, preview, request } from "../preview";
import { inputs, turn } from "../turn";
import { route } from "../route";
import { lang } from "../language";
import { isChanged, isSavedKnown, rememberSaved } from "../saved-entries";
import { arranged, NO_FILTERS, type Filters } from "./arrange";
import { entriesOf, type BookEntry } from "./entries";

export type BookView = "entries" | "text";
export const bookView = signal<BookView>("entries");
/** The pointer of the entry in the editor. */
export const openEntry = signal<string | undefined>(undefined);
export const chosen = signal<ReadonlySet<string>>(new Set());
export const filters = signal<Filters>(NO_FILTERS);
/** Whether the columns of the scan are shown. */
export const isTesting = signal(false);
/** The text that is searched instead of the conversation. */
export const typed = signal<string | undefined>(undefined);

export const scan = signal<ScanView | undefined>(undefined);
export const scanFailure = signal<CallError | undefined>(undefined);
export const isScanning = signal(false);

export const bookEntries = computed<BookEntry[] | undefined>(() => entriesOf(current.value?.value.value));

/** Scan results of the file on the page, by pointer. */
export const tested = computed<ReadonlyMap<string, ScannedEntry>>(() => {
  const id = current.value?.id;
  const own = (scan.value?.entries ?? []).filter(({ file, pointer }) => file === id && pointer !== undefined);
  return new Map(own.map((entry) => [entry.pointer ?? "", entry]));
});

export const shownEntries = computed<BookEntry[]>(() =>
  arranged(bookEntries.value ?? [], filters.value, { tested: tested.value, isChanged: isEntryChanged }),
);

export function setFilters(change: Partial<Filters>): void {
  filters.value = { ...filters.value, ...change };
}

// --- Selection ----------------------------------------------------------------------------------------------------

let lastChosen: string | undefined;

/** Chooses a row or gives it up; a range does the same with all rows from the last one on. */
export function choose(pointer: string, isRange = false): void {
  const next = new Set(chosen.peek());
  const isOn = !next.has(pointer);
  const all = shownEntries.peek().map((entry) => entry.pointer);
  const from = isRange && lastChosen !== undefined ? all.indexOf(lastChosen) : -1;
  const to = all.indexOf(pointer);
  const range = from < 0 ? [pointer] : all.slice(Math.min(from, to), Math.max(from, to) + 1);
  for (const one of range) {
    if (isOn) next.add(one);
    else next.delete(one);
  }
  lastChosen = pointer;
  chosen.value = next;
}

// --- State of each book, kept for Back and for a reload -------------------------------------------------------------

interface Memory {
  open?: string;
  filters: Filters;
  scroll: number;
}

let memories: Record<string, Memory> | undefined;

export function memoryOf(id: string): Memory {
  memories ??= read();
  return (memories[id] ??= { filters: NO_FILTERS, scroll: 0 });
}

function read(): Record<string, Memory> {
  try {
    return JSON.parse(sessionStorage.getItem(key()) ?? "{}") as Record<string, Memory>;
  } catch {
    return {};
  }
}

const key = () => `ctx-studio/${project}/books`;

addEventListener("pagehide", () => {
  if (memories) sessionStorage.setItem(key(), JSON.stringify(memories));
});

/** Whether the saved entries are known. */
export const canCompare = computed(() => {
  const view = current.value?.server.value;
  return view !== undefined && isSavedKnown(view);
});

function isEntryChanged(entry: BookEntry): boolean {
  const view = current.value?.server.value;
  return view !== undefined && isChanged(view, entry) === true;
}

/** Keeps the state of each book: another book has its own. */
export function followBooks(): void {
  let shown: string | undefined;
  const bookOnPage = () => (route.value.page === "books" ? current.value : undefined);
  effect(() => {
    const id = bookOnPage()?.id;
    if (id === undefined || id === shown) return;
    shown = id;
    const memory = memoryOf(id);
    batch(() => {
      openEntry.value = memory.open;
      filters.value = memory.filters;
      chosen.value = new Set();
    });
  });
  effect(() => {
    const [open, now] = [openEntry.value, filters.value];
    if (shown !== undefined) Object.assign(memoryOf(shown), { open, filters: now });
  });
  effect(() => {
    const view = bookOnPage()?.server.value;
    const entries = view && entriesOf(view.value);
    if (entries) rememberSaved(view, entries);
  });
}

// --- The scan ------------------------------------------------------------------------------------------------------

let isStale = false;

/** Scans again whenever the preview is made anew: it is made of the same. */
export function followScan(): void {
  followBooks();
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
