// The preview: what the model would receive for the drafts and the turn of now.
import { computed, effect, signal } from "@preact/signals";
import type { BodyView, Finding, LifeView, Preview, PreviewRequest, Row, RowText, RowTexts } from "./api";
import { call, CallError, thisWindow } from "./transport";
import { agentId, current, projectInfo } from "./project";
import { file } from "./files";
import { inputs, turn } from "./turn";
import { outside } from "./notices";
import { lang } from "./language";
import { joined, type Shown } from "./difference";
import { previewedImport } from "./import/previewed";
import { shown } from "./shown";

export type { Shown };
/** What a preview can be asked for instead of what stands on the page. */
export type Instead = Partial<Pick<PreviewRequest, "agent" | "saved">> & { turn?: PreviewRequest["turn"] };

export const preview = signal<Shown | undefined>(undefined);
export const previewFailure = signal<CallError | undefined>(undefined);
/** What is shown is not that of now: a newer preview is asked for, or will be at once. At first nothing is shown. */
export const isWorking = signal(true);
/** Ids of processors that are switched for the preview only. */
export const switches = signal<{ enable: string[]; disable: string[] }>({ enable: [], disable: [] });

/** What the preview on the page was made with: with another conversation, most of it is new anyway. */
let madeWith = "";
let isRunning = false;
let isStale = false;
let timer: ReturnType<typeof setTimeout> | undefined;
let finding: ReturnType<typeof setTimeout> | undefined;
/** How long somebody who types rests before it is asked what is wrong: that would slow the next preview down. */
const REST = 150;

export function request(instead: Instead = {}): PreviewRequest {
  return {
    window: thisWindow(),
    agent: agentId.value,
    ...inputs.value,
    import: previewedImport.value?.batch,
    turn: turn.value,
    ...switches.value,
    ...instead,
  };
}

/** Makes the preview anew whenever something that it is made of changes. */
export function followPreview(): void {
  const stamp = computed(() =>
    [
      JSON.stringify(request()),
      previewedImport.value?.files,
      current.value?.server.value?.revision,
      current.value?.server.value?.hash,
      outside.value,
      lang.value,
      projectInfo.value !== undefined,
    ].join(),
  );
  effect(() => {
    void stamp.value;
    if (!projectInfo.peek()) return;
    isWorking.value = true;
    clearTimeout(timer);
    // What changes in one moment is one request; a pause would be felt, as one is made at a time anyway.
    timer = setTimeout(() => void refresh());
  });
}

/** What is wrong with the agent, or with the file that is being edited, where it cannot be read: the server would say
 * the same. */
function unreadable(): Finding | undefined {
  const id = agentId.peek();
  for (const one of [id === undefined ? undefined : file(id), current.peek()]) {
    const view = one?.server.peek();
    const isBroken = view !== undefined && view.value === undefined && !view.isCut;
    const wrong = isBroken ? view.findings.find(({ severity }) => severity === "error") : undefined;
    if (wrong) return wrong;
  }
  return undefined;
}

/** One at a time: a newer request would end the older one, and a browser tells each such end on its console. */
export async function refresh(): Promise<void> {
  const wrong = previewedImport.peek() ? undefined : unreadable();
  if (wrong) {
    previewFailure.value = new CallError(422, { code: wrong.code, message: wrong.message });
    isWorking.value = isRunning;
    return;
  }
  isWorking.value = true;
  isStale = isRunning;
  if (isRunning) return;
  isRunning = true;
  try {
    await shown();
    isStale = false;
    const asked = request();
    const made = JSON.stringify([asked.import, asked.conversation, asked.turn?.model, lang.peek()]);
    const have = made === madeWith ? preview.peek()?.id : undefined;
    const ask = async (have?: string) =>
      joined(await call<Preview>("POST", "preview", { body: { ...asked, have } }), preview.peek());
    // Whole where the page has another one by now.
    const whole = (await ask(have)) ?? (await ask());
    madeWith = made;
    preview.value = whole;
    previewFailure.value = undefined;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    // Another request of this window was newer.
    if (error.failure.code !== "CTX1012") previewFailure.value = error;
  } finally {
    isRunning = false;
    if (isStale) void refresh();
    else {
      isWorking.value = false;
      clearTimeout(finding);
      finding = setTimeout(() => {
        const edited = current.peek();
        if (!isWorking.peek() && edited?.pending.peek().length === 0) void edited.find();
      }, REST);
    }
  }
}

/** A preview that stays: its id can be compared with later ones. */
export async function pinned(instead: Instead = {}): Promise<Shown> {
  const whole = joined(await call<Preview>("POST", "preview", { body: { ...request(instead), pin: true } }), undefined);
  if (!whole) throw new Error("a preview that is asked for as a whole is whole");
  return whole;
}

// --- What is asked for as it comes into view ----------------------------------------------------------------------

const texts = new Map<string, Promise<RowText>>();

/** The pieces of a row. Equal keys have equal texts, so what was read once is not asked for again. */
export function textOf(id: string, row: Row): Promise<RowText> {
  const known = texts.get(row.key);
  if (known) return known;
  const asked = call<RowTexts>("GET", `previews/${id}/rows?from=${row.row}&to=${row.row + 1}`).then(
    ({ rows }) => rows[0] ?? { row: row.row, pieces: [] },
  );
  if (texts.size > 500) texts.clear();
  texts.set(row.key, asked);
  asked.catch(() => texts.delete(row.key));
  return asked;
}

export function lifeOf(id: string, row: Row): Promise<LifeView> {
  return call<LifeView>("GET", `previews/${id}/life?row=${row.row}`);
}

export function bodyOf(id: string, dialect: string): Promise<BodyView> {
  return call<BodyView>("GET", `previews/${id}/body?dialect=${encodeURIComponent(dialect)}`);
}

/** Why an entry is not sent, by its pointer. */
export const droppedBy = computed(() => {
  const reasons = new Map<string, string>();
  for (const row of preview.value?.rows ?? []) {
    if (row.dropped !== undefined && row.pointer !== undefined) reasons.set(row.pointer, row.dropped);
  }
  return reasons;
});

/** The findings of the folder, of the file and of the preview, each once. */
export const allFindings = computed<Finding[]>(() => {
  const seen = new Set<string>();
  const all = [
    ...(projectInfo.value?.findings ?? []),
    ...(current.value?.server.value?.findings ?? []),
    ...(preview.value?.findings ?? []),
  ];
  return all.filter((one) => {
    const key = `${one.code} ${one.pointer ?? ""} ${one.message}`;
    return !seen.has(key) && seen.add(key);
  });
});
