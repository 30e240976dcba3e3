// The drafts that this window has open: what the server holds, and the edits that it has not acknowledged yet.
import { batch as together, computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import type { Edit, Edited, FileChange, FileFindings, FileView, Finding } from "./api";
import { apply, get } from "./pointer";
import { digest, find, isSame, originsOf, placeOf, rebase, type Batch, type EditClash } from "./rebase";
import { access, call, CallError, isConnected, isReachable, thisWindow } from "./transport";
import { forget, remember, type Kept } from "./unsent";
import { closeToast, toast } from "./announce";
import { lang, t } from "./language";

/** A whole text waits for the keystrokes of one moment. Edits of values do not: while one is on its way, those behind
 * it join. */
const PAUSE = 150;
const RETRY = 1500;
/** So many retries are not worth a notice. */
const MOST_SILENT = 2;
/** An edit that the server took is written down within a fifth of a second: so long it may have to be sent again. */
const KEPT = 1000;
/** The server takes no more at once. */
const MOST_EDITS = 1000;

export type Side = "mine" | "theirs";

/** Two versions of an entry: the user chooses one. */
export interface Clash {
  place: string;
  mine: unknown;
  theirs: unknown;
  /** Pointer in the file, if the entry exists. */
  pointer?: string;
  /** Changed by another program, not by another window. */
  isOutside: boolean;
  /** The entry was removed: the typed text can only be copied. */
  isLost?: boolean;
}

export type Conflict =
  | { kind: "gone" }
  /** The server does not take what was typed, and nobody else has changed it. */
  | { kind: "refused"; sent: Batch; failure: CallError };

/** Files that need a decision of the user. They are shown on every page. */
export const refusals = signal<readonly OpenFile[]>([]);

export class OpenFile {
  /** The draft as the server last told it. */
  readonly server: Signal<FileView | undefined> = signal(undefined);
  /** Edits for that draft. */
  readonly pending: Signal<Batch[]> = signal([]);
  readonly conflict: Signal<Conflict | undefined> = signal(undefined);
  readonly failure: Signal<CallError | undefined> = signal(undefined);
  /** The value with the edits that are still on their way. */
  readonly value: ReadonlySignal<unknown> = computed(() =>
    apply(this.server.value?.value, this.pending.value.flatMap(({ edits = [] }) => edits)),
  );
  /** The same for the text; structured edits show in it once the server has made them. */
  readonly text = computed(
    () => this.pending.value.findLast((batch) => batch.text !== undefined)?.text ?? this.server.value?.text ?? "",
  );
  readonly isDirty = computed(() => this.pending.value.length > 0 || this.server.value?.isDirty === true);
  readonly isReadOnly = computed(() => this.server.value?.isReadOnly === true);
  /** Places of pending edits that another window changed too. */
  readonly #clashes: Signal<EditClash[]> = signal([]);
  /** Choices for entries that another program changed. */
  readonly #chosen: Signal<{ hash: string; sides: Record<string, Side> }> = signal({ hash: "", sides: {} });
  /** Entries with two versions. */
  readonly clashes: ReadonlySignal<Clash[]> = computed(() => {
    const own = this.#clashes.value.map(({ place, path, theirs, lost }): Clash => {
      if (place === "") return { place, mine: this.text.value, theirs, isOutside: false };
      const pointer = find(this.value.value, path);
      const mine = lost ?? (pointer === undefined ? undefined : get(this.value.value, pointer));
      return { place, mine, theirs, pointer, isOutside: false, isLost: lost !== undefined };
    });
    const outside = this.server.value?.outside;
    const { hash, sides } = this.#chosen.value;
    const open = outside?.clashes.filter(({ place }) => hash !== outside.hash || !(place in sides)) ?? [];
    return [...own, ...open.map(({ place, mine, theirs }): Clash => ({ place, mine, theirs, isOutside: true }))];
  });

  /** The revision of which the findings are. */
  #found = -1;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What the server took lately. It knows edits by their ids, so that none counts twice. */
  #taken: Batch[] = [];
  #sending: Promise<boolean> | undefined;
  /** What was sent once, answered or not: the server may know its id, and would take no more under it. */
  #sent = new WeakSet<Batch>();
  /** Whether the server began anew, and the file was not read from it yet. */
  #isStale = false;
  /** Requests go one after the other, so that each answer follows from the one before. */
  #asked: Promise<unknown> = Promise.resolve();
  /** Path of the latest edit. */
  #edited: EditClash["path"] = [];
  /** The notice of the last failure, over once a save goes through. */
  #failure = 0;
  #lastPath = "";
  #retries = 0;
  /** The notice that edits wait for a busy server. */
  #delay = 0;

  constructor(readonly id: string) {
    effect(() => {
      const isOpen = this.conflict.value !== undefined || this.clashes.value.length > 0;
      const isShown = refusals.peek().includes(this);
      if (isOpen !== isShown) refusals.value = [...refusals.peek().filter((one) => one !== this), ...(isOpen ? [this] : [])];
    });
  }

  /** The last known path. */
  get path(): string {
    return this.server.value?.path ?? (this.#lastPath || this.id);
  }

  /** Whether the server no longer has the file. */
  get isMissing(): boolean {
    return this.failure.peek()?.status === 404;
  }

  load(): Promise<void> {
    return this.#inTurn(() => this.#load());
  }

  async #load(): Promise<void> {
    try {
      const view = await call<FileView>("GET", `files/${encodeURIComponent(this.id)}`);
      await this.#whenFree(view);
      if (this.isMissing) this.conflict.value = undefined;
      this.#take(view);
      this.failure.value = undefined;
      if (this.pending.value.length > 0) this.#schedule(0);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      this.failure.value = error;
      if (this.isMissing) return this.#close(error);
      const isWaiting = this.pending.value.length > 0 && !this.server.value;
      if (error.isOffline && isWaiting && access.value === "open") setTimeout(() => void this.load(), RETRY);
    }
  }

  /** The file is gone: what was typed for it is shown until the user discards it. */
  #close(failure: CallError): void {
    this.failure.value = failure;
    const [sent] = this.pending.peek();
    this.#clashes.value = this.#clashes.peek().filter(({ lost }) => lost !== undefined);
    this.conflict.value = sent && { kind: "refused", sent, failure };
    if (!sent) this.server.value = undefined;
  }

  /** Forgets unsent edits of a file that the user deleted. */
  abandon(): void {
    this.conflict.value = undefined;
    this.#clashes.value = [];
    this.#taken = [];
    this.#put([]);
  }

  /** Changes the draft: at once in this page, and soon on the server. */
  edit(...all: (Edit | readonly Edit[])[]): void {
    if (this.isReadOnly.value) return;
    const edits = all.flat();
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
    const origins = isNext ? last.origins : originsOf(this.value.value, edits);
    this.#edited = origins?.at(-1)?.path ?? [];
    if (isNext) this.#put([...waiting.slice(0, -1), { ...last, edits }]);
    else this.#put([...waiting, { id: randomId(), edits, origins }]);
    this.#schedule(0);
  }

  /** Replaces the whole text of the draft. */
  editText(text: string): void {
    if (this.isReadOnly.value) return;
    const waiting = this.pending.value;
    const last = waiting.at(-1);
    const isNext = last?.text !== undefined && !this.#sent.has(last);
    this.#edited = [];
    if (isNext) this.#put([...waiting.slice(0, -1), { ...last, text }]);
    else this.#put([...waiting, { id: randomId(), text, was: [...(last?.was ?? []), digest(this.text.value)] }]);
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
      const isWanted = ({ code, message, pointer }: Finding) =>
        code === wanted.code && message === wanted.message && pointer === wanted.pointer;
      const found = this.server.value?.findings.find((one) => one.fixable && isWanted(one));
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
    return (await this.flush()) && this.#inTurn(() => this.#save(isOverwriting ? { overwrite: true } : {}));
  }

  async #save(body: object, isAgain = false): Promise<boolean> {
    const view = this.server.value;
    if (!view || this.#clashes.peek().length > 0) return false;
    try {
      this.#take(await call<FileView>("POST", this.#path("save"), { body, ifMatch: view.hash }));
      this.conflict.value = undefined;
      closeToast(this.#failure);
      return true;
    } catch (error) {
      const theirs = error instanceof CallError && error.isConflict ? error.failure.theirs : undefined;
      if (!theirs) {
        this.#fail(error);
        return false;
      }
      this.#take(theirs);
      if (theirs.isGone) this.conflict.value = { kind: "gone" };
      // The draft now contains the other program's changes of other entries.
      return !theirs.isGone && !theirs.outside && !isAgain && this.#save(body, true);
    }
  }

  /** Waits until the server has all edits; false if it does not take them now. */
  async flush(): Promise<boolean> {
    while (this.pending.value.length > 0) {
      if (this.#isBlocked) return false;
      clearTimeout(this.#timer);
      this.#sending ??= this.#inTurn(() => this.#sendFirst()).finally(() => (this.#sending = undefined));
      if (!(await this.#sending)) return false;
    }
    return true;
  }

  /** Whether edits wait for a decision of the user. */
  get #isBlocked(): boolean {
    return this.conflict.peek()?.kind === "refused" || this.#clashes.peek().length > 0;
  }

  /** Takes one of two versions of an entry. */
  async choose({ place, isOutside }: Clash, side: Side): Promise<void> {
    const outside = this.server.value?.outside;
    if (isOutside && outside) {
      const { hash, sides } = this.#chosen.value;
      this.#chosen.value = { hash: outside.hash, sides: { ...(hash === outside.hash && sides), [place]: side } };
      if (!this.clashes.value.some((one) => one.isOutside)) await this.#resolve();
      return;
    }
    const view = this.server.value;
    together(() => {
      this.#clashes.value = this.#clashes.value.filter((one) => one.place !== place);
      if (side === "mine") return;
      if (!view) return this.#remember();
      const isKept = (batch: Batch, at: number) => !batch.origins?.[at] || placeOf(batch.origins[at]) !== place;
      const rest = this.pending.value.flatMap((batch): Batch[] => {
        if (batch.text !== undefined) return place === "" ? [] : [batch];
        const kept = <Item>(list: Item[] = []) => list.filter((_, at) => isKept(batch, at));
        return [{ ...batch, edits: kept(batch.edits), origins: kept(batch.origins) }];
      });
      this.#put(rebase(rest, view, view).batches);
    });
    await this.flush();
  }

  /** Sends the choices for entries that another program changed. */
  async #resolve(): Promise<void> {
    await this.#step("resolve", async () => {
      const outside = this.server.value?.outside;
      const { hash, sides } = this.#chosen.value;
      // Another program may have changed the file again.
      if (outside?.hash !== hash || outside.clashes.some(({ place }) => !(place in sides))) return undefined;
      return { hash, theirs: Object.keys(sides).filter((place) => sides[place] === "theirs") };
    });
    this.#chosen.value = { hash: "", sides: {} };
  }

  /** Discards a rejected edit and all later ones, or the draft of a deleted file. */
  async dropMine(): Promise<void> {
    const conflict = this.conflict.value;
    this.conflict.value = undefined;
    if (conflict?.kind === "gone") return this.discard();
    if (!conflict) return;
    this.#put([]);
    await this.load();
  }

  /** Sends once more what the server refused: a full disk may have room again. */
  async sendAgain(): Promise<void> {
    if (this.conflict.value?.kind !== "refused") return;
    if (this.isMissing) return this.load();
    this.conflict.value = undefined;
    await this.flush();
  }

  /** Sends once more what the text of the file cannot express, so that a part of it is written anew. */
  async rewrite(): Promise<void> {
    const conflict = this.conflict.value;
    if (conflict?.kind !== "refused") return;
    const { sent } = conflict;
    this.#put(this.pending.value.map((batch) => (batch.id === sent.id ? { ...batch, rewrite: true } : batch)));
    await this.sendAgain();
  }

  /** Edits of an earlier life of this window, which the server may not have. */
  restore({ path, batches, lost }: Kept): void {
    this.#lastPath = path;
    for (const batch of batches) this.#sent.add(batch);
    this.#clashes.value = [...lost, ...this.#clashes.peek()];
    this.#put([...batches, ...this.pending.value]);
    this.#schedule(0);
  }

  /** Takes the draft of the latest response, and rebases the pending edits on it. Requests are sent one after the other,
   * so no response is older than the one before. `isOwn`: the change is of this window, so nothing clashes. */
  #take(view: FileView, { isOwn = false, waiting = this.pending.peek() } = {}): void {
    const known = this.server.peek();
    this.#lastPath = view.path;
    this.#found = view.revision;
    together(() => {
      this.server.value = view;
      const { batches, clashes } = rebase(waiting, view, isOwn ? view : known);
      for (const batch of batches) {
        const before = waiting.find(({ id }) => id === batch.id);
        if (before && this.#sent.has(before)) this.#sent.add(batch);
      }
      const places = new Set(clashes.map(({ place }) => place));
      const isNew = ({ place }: EditClash) => !places.has(place);
      if (clashes.length > 0) this.#clashes.value = [...this.#clashes.peek().filter(isNew), ...clashes];
      if (waiting.length > 0 || this.pending.peek().length > 0) this.#put(batches);
    });
  }

  /** Undo and such, one after the other: each counts from what the one before has left. */
  async #step(verb: string, more: () => Promise<object | undefined> = async () => ({})): Promise<void> {
    if (!(await this.flush())) return;
    await this.#inTurn(async () => {
      const told = await more();
      if (!told || this.#isBlocked) return;
      // A step counts from a revision of the server that answers.
      if (this.#isStale) {
        toast(t().offline, "error");
        return;
      }
      try {
        const body = { base: this.server.value?.revision ?? 0, ...told };
        this.#take(await call<FileView>("POST", this.#path(verb), { body, isOfRun: true }), { isOwn: true });
      } catch (error) {
        if (error instanceof CallError && error.failure.theirs) this.#take(error.failure.theirs);
        this.#fail(error);
      }
    });
  }

  #path(verb: string): string {
    return `files/${encodeURIComponent(this.id)}/${verb}`;
  }

  #put(batches: Batch[]): void {
    this.pending.value = batches.flatMap(inParts);
    if (this.pending.peek().length === 0 && this.#clashes.peek().length > 0) this.#clashes.value = this.#clashes.peek().filter(({ lost }) => lost !== undefined);
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
    // A whole text can be larger than half of the storage.
    const newest = all.findLast(({ text }) => text !== undefined);
    const batches = all.filter((batch) => batch.text === undefined || batch === newest);
    const lost = this.#clashes.peek().filter((clash) => clash.lost !== undefined);
    if (batches.length + lost.length > 0) remember({ file: this.id, path: this.path, batches, lost });
    else forget(this.id);
  }

  /** A server that began anew counts revisions anew: edits wait until the file is read from it. */
  async reopen(): Promise<void> {
    this.#isStale = true;
    await this.#inTurn(async () => {
      const taken = this.#taken;
      this.#taken = [];
      this.#put([...taken, ...this.pending.value]);
      await this.#load();
    });
    if (this.failure.value?.isOffline) {
      // Where another link is wanted, all is opened once more when it is there.
      if (access.value === "open") setTimeout(() => void this.reopen(), RETRY);
      return;
    }
    this.#isStale = false;
    await this.sendAgain();
    await this.flush();
  }

  /** Waits for the end of an IME composition, if the new draft changes the composed text. */
  async #whenFree(view: FileView): Promise<void> {
    const edited = (value: unknown) => {
      const pointer = find(value, this.#edited);
      return pointer === undefined ? undefined : get(value, pointer);
    };
    const known = this.server.peek();
    const isFree = known && isSame(edited(known.value), edited(view.value));
    if (!isFree || (this.#edited.length === 0 && known.text !== view.text)) await composed;
  }

  #schedule(pause: number): void {
    clearTimeout(this.#timer);
    if (access.value === "closed") return;
    this.#timer = setTimeout(() => void this.flush(), pause);
  }

  #inTurn<T>(ask: () => Promise<T>): Promise<T> {
    const asked = this.#asked.then(ask);
    this.#asked = asked.catch(() => undefined);
    return asked;
  }

  /** Sends the first edits that wait; returns whether to go on. */
  async #sendFirst(): Promise<boolean> {
    const [batch] = this.pending.value;
    const view = this.server.value;
    // A response before this one may need a decision first.
    if (!batch || !view || this.#isStale || this.#isBlocked) return false;
    this.#sent.add(batch);
    const { origins: _origins, was: _was, ...sent } = batch;
    try {
      const body = { base: view.revision, ...sent };
      const answer = await call<Edited>("POST", this.#path("edits"), { body, isOfRun: true });
      this.#keep(batch);
      closeToast(this.#delay);
      this.#retries = this.#delay = 0;
      const rest = this.pending.value.filter(({ id }) => id !== batch.id);
      const now = "splice" in answer ? changed(view, this.server.peek()?.findings ?? [], answer, batch.edits ?? []) : answer;
      // A whole text that was typed meanwhile does not contain the edit.
      const isTextNext = rest.some(({ text }) => text !== undefined);
      if (now === answer || isTextNext) this.#take(now, { waiting: rest });
      // Both together: the page never shows the edit twice or not at all.
      else
        together(() => {
          this.server.value = now;
          this.#put(rest);
        });
      return true;
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      // It was given up meanwhile.
      if (!this.pending.value.some(({ id }) => id === batch.id)) return true;
      const { theirs, rewrite } = error.failure;
      if (error.isConflict && theirs) {
        await this.#whenFree(theirs);
        this.#take(theirs);
        if (this.server.peek()?.revision !== view.revision) return true;
      }
      if (error.isOffline) {
        // Without a network or a link, the page says so anyway.
        if (isReachable.peek() && access.peek() === "open" && ++this.#retries > MOST_SILENT)
          this.#delay ||= toast(t().unreachable, "error");
        this.#schedule(RETRY);
        return false;
      }
      const isFinal = (error.status === 400 || error.status === 422) && rewrite === undefined && !isTyped(batch);
      // What was typed is lost only if somebody says so.
      if (error.status === 404) this.#close(error);
      else if (!isFinal) this.conflict.value = { kind: "refused", sent: batch, failure: error };
      else {
        // The server will never take it, so it does not stay in the way of the next ones.
        this.#put(this.pending.value.filter(({ id }) => id !== batch.id));
        this.#fail(error);
        void this.load();
      }
      return false;
    }
  }

  #fail(error: unknown): void {
    if (!(error instanceof CallError)) throw error;
    closeToast(this.#failure);
    this.#failure = toast(error.isOffline ? t().offline : error.message || t().failed, "error", error.failure.help);
  }
}

/** The file after edits that were made for it. */
function changed(view: FileView, findings: Finding[], { splice, ...now }: FileChange, edits: readonly Edit[]): FileView {
  const text = view.text.slice(0, splice.from) + splice.text + view.text.slice(splice.to);
  return { ...view, ...now, findings, text, value: apply(view.value, edits) };
}

/** Whether a batch contains text. */
function isTyped({ edits, text }: Batch): boolean {
  const isText = (edit: Edit) =>
    edit.op === "insert" || edit.op === "rename" || (edit.op === "set" && !["boolean", "number"].includes(typeof edit.value));
  return text !== undefined || edits?.some(isText) === true;
}

/** A batch as the server takes it: in several if it is long. One that is short stays the same object. */
function inParts(batch: Batch): Batch[] {
  const { edits, origins } = batch;
  if (!edits || edits.length <= MOST_EDITS) return [batch];
  const parts: Batch[] = [];
  for (let from = 0; from < edits.length; from += MOST_EDITS) {
    const part = { edits: edits.slice(from, from + MOST_EDITS), origins: origins?.slice(from, from + MOST_EDITS) };
    parts.push({ ...batch, ...part, id: from === 0 ? batch.id : randomId() });
  }
  return parts;
}

/** Resolved at the end of an IME composition. */
let composed: Promise<void> | undefined;
let endComposition: (() => void) | undefined;

addEventListener("compositionstart", () => {
  composed ??= new Promise((resolve) => (endComposition = resolve));
});
addEventListener("compositionend", () => {
  // Editors report the composed text after the event.
  setTimeout(() => {
    endComposition?.();
    composed = endComposition = undefined;
  }, 100);
});

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
  for (const one of kept) file(one.file).restore(one);
}

export function randomId(): string {
  return crypto.randomUUID();
}

addEventListener("beforeunload", (event) => {
  // Drafts are safe on the server; only what it has not got is worth a question.
  if ([...open.values()].some((one) => one.pending.value.length > 0) && thisWindow()) event.preventDefault();
});
