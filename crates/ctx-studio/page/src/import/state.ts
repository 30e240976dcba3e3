// The files that were dropped, and the report of what would become of them.
import { signal } from "@preact/signals";
import type { ImportTargetView, ImportView, ImportWritten } from "../api";
import { call, CallError } from "../transport";
import { announce, toast } from "../announce";
import { go } from "../route";
import { t } from "../language";
import { loadProject, projectInfo } from "../project";
import { randomId } from "../files";
import { importWithAgent } from "./previewed";

export const report = signal<ImportView | undefined>(undefined);
export const failed = signal<{ name: string; message: string; help?: string }[]>([]);
export const sending = signal<{ done: number; all: number } | undefined>(undefined);
export const folder = signal("");
/** Result of checking the folder; undefined during the check. */
export const target = signal<ImportTargetView | undefined>(undefined);

let batch: string | undefined;
/** Whether the folder was typed: then other files do not rename it. */
let isFolderChosen = false;
let timer: ReturnType<typeof setTimeout> | undefined;
/** As `ctx import` takes them; a larger file is refused by the server too. */
const TIMEOUT = 120_000;
const PAUSE = 150;

export async function add(files: readonly File[]): Promise<void> {
  if (files.length === 0 || projectInfo.value?.isReadOnly) return;
  go("import");
  const id = (batch ??= randomId());
  sending.value = { done: 0, all: files.length };
  for (const [index, file] of files.entries()) {
    try {
      const path = `import?name=${encodeURIComponent(file.name)}&batch=${encodeURIComponent(id)}`;
      const view = await call<ImportView>("POST", path, { bytes: file, timeout: TIMEOUT });
      // Discarded or written while it was sent.
      if (batch !== id) return forget(id);
      report.value = view;
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      if (batch !== id) return;
      failed.value = [
        ...failed.value,
        { name: file.name, message: error.message || t().offline, help: error.failure.help },
      ];
    }
    sending.value = { done: index + 1, all: files.length };
  }
  sending.value = undefined;
  const made = report.value;
  if (made) {
    const hasAgent = made.writes.some(({ path }) => path === "agent.yaml");
    importWithAgent.value = hasAgent ? { batch: id, files: (importWithAgent.value?.files ?? 0) + files.length } : undefined;
    if (isFolderChosen) void check();
    else {
      folder.value = made.folder;
      target.value = { writes: made.writes };
    }
  }
  announce(t().read(files.length));
  requestAnimationFrame(() => document.getElementById("import-title")?.focus());
}

export function chooseFolder(next: string): void {
  isFolderChosen = true;
  folder.value = next;
  target.value = undefined;
  clearTimeout(timer);
  timer = setTimeout(() => void check(), PAUSE);
}

async function check(): Promise<void> {
  const asked = { batch, folder: folder.value };
  try {
    const answer = await call<ImportTargetView>("POST", "import/check", { body: asked });
    if (asked.batch === batch && asked.folder === folder.value) target.value = answer;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (asked.folder === folder.value) target.value = { problem: error.message || t().offline, writes: [] };
  }
}

export async function write(isOverwriting: boolean): Promise<void> {
  if (!batch || !report.value) return;
  // The batch is gone after the write: a later preview must not ask for it.
  const shown = importWithAgent.value;
  importWithAgent.value = undefined;
  try {
    const body = { batch, folder: folder.value, ...(isOverwriting ? { overwrite: true } : {}) };
    const written = await call<ImportWritten>("POST", "import/write", { body, timeout: TIMEOUT });
    clear();
    await opened(written);
  } catch (error) {
    importWithAgent.value = shown;
    if (!(error instanceof CallError)) throw error;
    toast(error.message || t().offline, "error", error.failure.help);
  }
}

/** After files were written: they are listed, and the agent among them opens. */
export async function opened(written: ImportWritten): Promise<void> {
  toast(t().written(written.written.length));
  await loadProject();
  const files = projectInfo.value?.files ?? [];
  const agent =
    files.find(({ id, path }) => id === written.agent || path === written.agent) ??
    files.find(({ path, kind }) => written.written.includes(path) && (kind === "agent" || kind === "preset"));
  go("preset", agent?.id);
}

export async function discard(): Promise<void> {
  const id = batch;
  clear();
  if (id) await forget(id);
}

async function forget(id: string): Promise<void> {
  try {
    await call("POST", "import/discard", { body: { batch: id } });
  } catch {
    // The server forgets it by itself.
  }
}

function clear(): void {
  clearTimeout(timer);
  batch = undefined;
  sending.value = undefined;
  isFolderChosen = false;
  report.value = undefined;
  target.value = undefined;
  importWithAgent.value = undefined;
  failed.value = [];
}
