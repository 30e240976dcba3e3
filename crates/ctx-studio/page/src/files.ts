// The drafts that this window has open: what the server holds, and the edits that it has not acknowledged yet.
import { computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import type { Edit, Edited, FileChange, FileFindings, FileView, Finding } from "./api";
import { apply, isUntouched, overlaps, reachSame } from "./pointer";
import { access, call, CallError, isConnected, thisWindow } from "./transport";
import { forget, remember, type Kept } from "./unsent";
import { closeToast, toast } from "./announce";
import { lang, t } from "./language";

/** A whole text waits for the keystrokes of one moment. Edits of values do not: while one is on its way, those behind
 * it join. */
const PAUSE = 150;
const RETRY = 1500;
/** An edit that the server took is written down within a fifth of a second: so long it may have to be sent again. */
const KEPT = 1000;
/** The server takes no more at once. */
const MOST_EDITS = 1000;

export interface Batch {
  id: string;
  edits?: Edit[];
  text?: string;
  /** The part of the file that has to be written anew for the edits is written anew. */
  rewrite?: boolean;
}
export type Conflict =
  | {
      kind: "edit" | "save";
      mine: Batch[];
      theirs: FileView;
      /** The value that the edits were made for. */
      before: unknown;
    }
  /** The server does not take what was typed, and nobody else has changed it. */
  | { kind: "refused"; mine: Batch[]; sent: Batch; failure: CallError };

/** Files with edits that the server refused: they are shown wherever the page is. */
export const refusals = signal<readonly OpenFile[]>([]);

export class OpenFile {
  /** The draft as the server last told it. */
  readonly server: Signal<FileView | undefined> = signal(undefined);
  readonly pending: Signal<Batch[]> = signal([]);
  readonly conflict: Signal<Conflict | undefined> = signal(undefined);
  readonly failure: Signal<CallError | undefined> = signal(undefined);
  /** The value with the edits that are still on their way. */
  readonly value: ReadonlySignal<unknown> = computed(() =>
    this.pending.value.reduce((value, batch) => apply(value, batch.edits ?? []), this.server.value?.value),
  );
  /** The same for the text; structured edits show in it once the server has made them. */
  readonly text = computed(
    () => this.pending.value.findLast((batch) => batch.text !== undefined)?.text ?? this.server.value?.text ?? "",
  );
  readonly isDirty = computed(() => this.pending.value.length > 0 || this.server.value?.isDirty === true);
  /** Whether the edits of this window would change what they were made for: another may have moved it. */
  readonly canKeepMine = computed(() => {
    const conflict = this.conflict.value;
    if (!conflict || conflict.kind === "refused") return false;
    const edits = this.pending.value.flatMap((batch) => batch.edits ?? []);
    if (conflict.kind === "save" || edits.length === 0) return true;
    return reachSame(conflict.before, conflict.theirs.value, edits);
  });
  readonly isReadOnly = computed(() => this.server.value?.isReadOnly === true);

  /** The revision of which the findings are. */
  #found = -1;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What the server took lately. It knows edits by their ids, so that none counts twice. */
  #taken: Batch[] = [];
  #sending: Promise<void> | undefined;
  /** What the server was sent and has not answered. */
  #inFlight: Batch | undefined;
  /** What was sent once, answered or not: the server may know its id, and would take no more under it. */
  #sent = new WeakSet<Batch>();
  /** Whether the server began anew, and the file was not read from it yet. */
  #isStale = false;
  /** What is asked for one after the other: an answer that another one has overtaken would tell of the past. */
  #asked: Promise<unknown> = Promise.resolve();
  /** How often the file was saved here. */
  #saves = 0;
  /** The notice of the last failure, over once a save goes through. */
  #failure = 0;
  /** Undo, redo and fix one after the other: each counts from what the one before has left. */
  #steps: Promise<void> = Promise.resolve();

  constructor(readonly id: string) {
    effect(() => {
      const isRefused = this.conflict.value?.kind === "refused";
      const others = refusals.peek().filter((one) => one !== this);
      if (isRefused || others.length < refusals.peek().length) refusals.value = isRefused ? [...others, this] : others;
    });
  }

  async load(isForced = false): Promise<void> {
    try {
      const saves = this.#saves;
      const view = await call<FileView>("GET", `files/${encodeURIComponent(this.id)}`);
      // It may tell of the file before it was saved.
      if (saves !== this.#saves) return await this.load(isForced);
      this.#take(view, isForced);
      this.failure.value = undefined;
      if (this.pending.value.length > 0) this.#schedule(0);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      this.failure.value = error;
      const isWaiting = this.pending.value.length > 0 && !this.server.value;
      if (error.isOffline && isWaiting && access.value === "open") setTimeout(() => void this.load(), RETRY);
    }
  }

  /** Changes the draft: at once in this page, and soon on the server. */
  edit(...edits: Edit[]): void {
    if (this.isReadOnly.value) return;
    const waiting = this.pending.value;
    const last = waiting.at(-1);
    const [only] = edits;
    const isNext =
      last &&
      edits.length === 1 &&
      only?.op === "set" &&
      last.edits?.length === 1 &&
      last.edits[0]?.op === "set" &&
      last.edits[0].pointer === only.pointer &&
      !this.#sent.has(last);
    if (isNext) this.#put([...waiting.slice(0, -1), { id: last.id, edits }]);
    else this.#put([...waiting, { id: randomId(), edits }]);
    this.#schedule(0);
  }

  /** Replaces the whole text of the draft. */
  editText(text: string): void {
    if (this.isReadOnly.value) return;
    const waiting = this.pending.value;
    const last = waiting.at(-1);
    const isNext = last?.text !== undefined && !this.#sent.has(last);
    this.#put(isNext ? [...waiting.slice(0, -1), { id: last.id, text }] : [...waiting, { id: randomId(), text }]);
    this.#schedule(PAUSE);
  }

  undo(): Promise<void> {
    return this.#step("undo");
  }
  redo(): Promise<void> {
    return this.#step("redo");
  }
  discard(): Promise<void> {
    return this.#step("discard");
  }
  /** Makes the edit of a finding, if it is still found. */
  fix(wanted: Finding): Promise<void> {
    return this.#step("fix", async () => {
      await this.find();
      const isSame = ({ code, message, pointer }: Finding) =>
        code === wanted.code && message === wanted.message && pointer === wanted.pointer;
      const found = this.server.value?.findings.find((one) => one.fixable && isSame(one));
      return found && { index: found.index };
    });
  }

  /** Asks what is wrong with the draft as it is now. Edits do not tell it, since that would slow down who types. */
  async find(): Promise<void> {
    const asked = this.server.value?.revision;
    if (asked === undefined || asked === this.#found) return;
    try {
      const { revision, findings } = await call<FileFindings>("GET", this.#path("findings"));
      const view = this.server.value;
      if (!view || view.revision !== revision) return;
      this.#found = revision;
      this.server.value = { ...view, findings };
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
    }
  }

  async save(isOverwriting = false): Promise<boolean> {
    await this.#steps;
    if (!(await this.flush())) return false;
    return this.#inTurn(() => this.#saveNow(isOverwriting));
  }

  async #saveNow(isOverwriting: boolean): Promise<boolean> {
    const view = this.server.value;
    if (!view) return false;
    try {
      const body = isOverwriting ? { overwrite: true } : {};
      const saved = await call<FileView>("POST", this.#path("save"), { body, ifMatch: view.hash });
      this.#saves++;
      this.#take(saved);
      this.conflict.value = undefined;
      closeToast(this.#failure);
      return true;
    } catch (error) {
      this.#fail(error, "save", [], view);
      return false;
    }
  }

  /** Waits until the server has all edits; false if it does not take them now. */
  async flush(): Promise<boolean> {
    while (this.pending.value.length > 0) {
      if (this.conflict.value) return false;
      clearTimeout(this.#timer);
      const before = this.pending.value.length;
      await this.#send();
      if (this.pending.value.length >= before) return false;
    }
    return true;
  }

  async keepMine(): Promise<void> {
    const conflict = this.conflict.value;
    if (!conflict || conflict.kind === "refused" || !this.canKeepMine.value) return;
    this.conflict.value = undefined;
    if (conflict.kind === "save") {
      this.server.value = { ...conflict.theirs, ...this.#draftOf(conflict) };
      await this.save(true);
    } else {
      this.#take(conflict.theirs, true);
      // What is on its way keeps the id that its answer is about.
      const isUnderWay = (batch: Batch) => batch === this.#inFlight;
      // A new id, as the old one was refused.
      this.#put(this.pending.value.map((batch) => (isUnderWay(batch) ? batch : { ...batch, id: randomId() })));
      await this.flush();
    }
  }

  async takeTheirs(): Promise<void> {
    const conflict = this.conflict.value;
    if (!conflict || conflict.kind === "refused") return;
    this.conflict.value = undefined;
    this.#put([]);
    if (conflict.kind === "save") await this.discard();
    else this.#take(conflict.theirs, true);
    await this.load();
  }

  /** Gives up what the server refused, with all that was typed after it. */
  async dropMine(): Promise<void> {
    if (this.conflict.value?.kind !== "refused") return;
    this.conflict.value = undefined;
    this.#put([]);
    await this.load();
  }

  /** Sends once more what the server refused: a full disk may have room again. */
  async sendAgain(): Promise<void> {
    if (this.conflict.value?.kind !== "refused") return;
    this.conflict.value = undefined;
    await this.flush();
  }

  /** Sends once more what the text of the file cannot express, so that a part of it is written anew. */
  async rewrite(): Promise<void> {
    const conflict = this.conflict.value;
    if (conflict?.kind !== "refused") return;
    const { sent } = conflict;
    this.#put(this.pending.value.map((batch) => (batch === sent ? { ...batch, rewrite: true } : batch)));
    await this.sendAgain();
  }

  /** Edits of an earlier life of this window, which the server may not have. */
  restore(batches: Batch[]): void {
    for (const batch of batches) this.#sent.add(batch);
    this.#put([...batches, ...this.pending.value]);
    this.#schedule(0);
  }

  /** An answer that is older than what is known is thrown away, unless a server began anew. */
  #take(view: FileView, isForced = false, isOwn = false, found = view.revision): void {
    const known = this.server.value;
    if (!isForced && known && view.revision < known.revision && view.hash === known.hash) return;
    const conflict = this.conflict.value;
    if (!isForced && !isOwn && known && !conflict) this.#compare(known, view);
    // Who must choose is shown the newest of theirs.
    if (!isForced && !isOwn && conflict?.kind === "edit" && view.revision > conflict.theirs.revision)
      this.conflict.value = { ...conflict, theirs: view };
    this.#found = found;
    this.server.value = view;
  }

  /** Edits that wait were made for what was known: where another has changed their places, a person chooses. */
  #compare(known: FileView, view: FileView): void {
    const waiting = this.pending.value;
    const own = waiting.filter((batch) => batch === this.#inFlight);
    const mine = waiting.filter((batch) => batch !== this.#inFlight);
    if (mine.length === 0 || view.revision === known.revision) return;
    // The answer to what is on its way may be this one, or still come.
    const before = [known.value, own.reduce((value, batch) => apply(value, batch.edits ?? []), known.value)];
    const texts = [known.text, ...own.flatMap(({ text }) => (text === undefined ? [] : [text]))];
    const isMine = mine.every(({ edits, text }) =>
      text === undefined
        ? before.some((value) => isUntouched(value, view.value, edits ?? []))
        : texts.includes(view.text),
    );
    if (!isMine) this.conflict.value = { kind: "edit", mine, theirs: view, before: known.value };
  }

  /** After a refused save: the draft is ours, the file's hash is theirs. */
  #draftOf(conflict: { theirs: FileView }): Partial<FileView> {
    const mine = this.server.value;
    if (!mine) return {};
    return { text: mine.text, value: mine.value, revision: mine.revision, isDirty: true, hash: conflict.theirs.hash };
  }

  #step(verb: "undo" | "redo" | "discard" | "fix", more?: () => Promise<object | undefined>): Promise<void> {
    this.#steps = this.#steps.then(() => this.#takeStep(verb, more ?? (async () => ({}))));
    return this.#steps;
  }

  async #takeStep(verb: string, more: () => Promise<object | undefined>): Promise<void> {
    if (!(await this.flush())) return;
    const told = await more();
    if (!told) return;
    // A step counts from a revision of the server that answers.
    if (this.#isStale) {
      toast(t().offline, "error");
      return;
    }
    try {
      const body = { base: this.server.value?.revision ?? 0, ...told };
      // The server refuses a step over what another has changed, so the answer has nothing of others.
      this.#take(await call<FileView>("POST", this.#path(verb), { body, isOfRun: true }), false, true);
    } catch (error) {
      this.#fail(error, "edit", [], this.server.value);
    }
  }

  #path(verb: string): string {
    return `files/${encodeURIComponent(this.id)}/${verb}`;
  }

  #put(batches: Batch[]): void {
    const all = batches.flatMap(inParts);
    this.pending.value = all;
    this.#remember();
  }

  #keep(batch: Batch): void {
    // A whole text stands for all before it.
    this.#taken = batch.text === undefined ? [...this.#taken.slice(-99), batch] : [batch];
    const forget = (): void => {
      // A server that is gone may have gone before it was written down.
      if (!isConnected.value) return void setTimeout(forget, KEPT);
      this.#taken = this.#taken.filter((one) => one !== batch);
      this.#remember();
    };
    setTimeout(forget, KEPT);
  }

  #remember(): void {
    const all = [...this.#taken, ...this.pending.value];
    if (all.length > 0) remember(this.id, all);
    else forget(this.id);
  }

  /** A server that began anew counts revisions anew: edits wait until the file is read from it. */
  async reopen(): Promise<void> {
    this.#isStale = true;
    await this.#inTurn(() => this.load(true));
    if (this.failure.value?.isOffline) {
      // Where another link is wanted, all is opened once more when it is there.
      if (access.value === "open") setTimeout(() => void this.reopen(), RETRY);
      return;
    }
    this.#isStale = false;
    this.#put([...this.#taken.splice(0), ...this.pending.value]);
    await this.sendAgain();
    await this.flush();
  }

  #schedule(pause: number): void {
    clearTimeout(this.#timer);
    if (access.value === "closed") return;
    this.#timer = setTimeout(() => void this.flush(), pause);
  }

  #send(): Promise<void> {
    this.#sending ??= this.#inTurn(() => this.#sendFirst()).finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  #inTurn<T>(ask: () => Promise<T>): Promise<T> {
    const asked = this.#asked.then(ask);
    this.#asked = asked.catch(() => undefined);
    return asked;
  }

  async #sendFirst(): Promise<void> {
    const [batch] = this.pending.value;
    const view = this.server.value;
    if (!batch || !view || this.#isStale) return;
    this.#inFlight = batch;
    this.#sent.add(batch);
    try {
      const body = { base: view.revision, ...batch };
      const answer = await call<Edited>("POST", this.#path("edits"), { body, isOfRun: true });
      // Both together: the page never shows the edit twice or not at all.
      const rest = this.pending.value.filter((one) => one !== batch);
      this.#keep(batch);
      const isWhole = !("splice" in answer);
      const now = this.server.value;
      const isNext = !isWhole && now?.revision === view.revision && now.hash === view.hash;
      if (isWhole) this.#take(answer);
      else if (isNext) this.#take(changed(now, answer, batch.edits ?? []), false, false, this.#found);
      this.#put(rest);
      this.#inFlight = undefined;
      // Somebody else's edit was heard of meanwhile.
      if (!isWhole && !isNext) await this.load();
    } catch (error) {
      this.#inFlight = undefined;
      this.#fail(error, "edit", this.pending.value, view, batch);
    }
  }

  #fail(error: unknown, kind: "edit" | "save", mine: Batch[], asked: FileView | undefined, sent?: Batch): void {
    if (!(error instanceof CallError)) throw error;
    // It was given up meanwhile.
    if (sent && !mine.includes(sent)) return;
    const isFinal = (error.status === 400 || error.status === 422) && error.failure.rewrite === undefined;
    const isWrong = isFinal && sent?.edits !== undefined;
    if (error.isConflict && error.failure.theirs) {
      this.conflict.value = { kind, mine, theirs: error.failure.theirs, before: asked?.value };
    } else if (error.isOffline) {
      if (mine.length > 0) this.#schedule(RETRY);
      else toast(t().offline, "error");
    } else if (sent && !isWrong) {
      // What was typed is lost only if somebody says so.
      this.conflict.value = { kind: "refused", mine, sent, failure: error };
    } else {
      // The server will never take it, so it does not stay in the way of the next ones.
      if (mine.length > 0) this.#put(mine.filter((batch) => batch !== sent));
      closeToast(this.#failure);
      this.#failure = toast(error.message || t().failed, "error", error.failure.help);
      void this.load();
    }
  }
}

/** The file after edits that were made for it. */
function changed(view: FileView, { splice, ...now }: FileChange, edits: readonly Edit[]): FileView {
  const text = view.text.slice(0, splice.from) + splice.text + view.text.slice(splice.to);
  return { ...view, ...now, text, value: apply(view.value, edits) };
}

/** A batch as the server takes it: in several if it is long. One that is short stays the same object. */
function inParts(batch: Batch): Batch[] {
  const { edits } = batch;
  if (!edits || edits.length <= MOST_EDITS) return [batch];
  const parts: Batch[] = [];
  for (let from = 0; from < edits.length; from += MOST_EDITS)
    parts.push({ id: from === 0 ? batch.id : randomId(), edits: edits.slice(from, from + MOST_EDITS) });
  return parts;
}

const open = new Map<string, OpenFile>();

/** The file with this id; it is loaded when it is asked for the first time. */
export function file(id: string): OpenFile {
  let found = open.get(id);
  if (!found) {
    found = new OpenFile(id);
    open.set(id, found);
    void found.load();
  }
  return found;
}

/** Findings are texts: in another language they are asked for again. */
export function followLanguage(): void {
  let before = lang.value;
  effect(() => {
    if (lang.value === before) return;
    before = lang.value;
    for (const one of open.values()) void one.load();
  });
}

export function openFiles(): IterableIterator<OpenFile> {
  return open.values();
}

/** Takes over edits that were not sent before the page was closed, and sends them. */
export function resume(kept: Kept[]): void {
  for (const one of kept) file(one.file).restore(one.batches);
}

/** Whether edits of this window at `pointer` are still on their way. */
export function isPendingAt(opened: OpenFile, pointer: string): boolean {
  return opened.pending.value.some((batch) => batch.edits?.some((edit) => overlaps(edit.pointer, pointer)));
}

export function randomId(): string {
  return crypto.randomUUID();
}

addEventListener("beforeunload", (event) => {
  // Drafts are safe on the server; only what it has not got is worth a question.
  if ([...open.values()].some((one) => one.pending.value.length > 0) && thisWindow()) event.preventDefault();
});
