// Creates, copies, renames, deletes and exports files of the folder.
import { signal } from "@preact/signals";
import type { ExportedFile, CreatedFile, Finding, ProjectFile } from "../api";
import { call, CallError } from "../transport";
import { toast } from "../announce";
import { openFiles } from "../files";
import { leaving, loadProject } from "../project";
import { go, route, type PageName } from "../route";
import { moveDrafts } from "../talk/drafts";
import { inputs } from "../turn";
import { t } from "../language";

export type NewKind = "agent" | "preset" | "profile" | "worldbook" | "conversation";
export const NEW_KINDS: NewKind[] = ["agent", "preset", "profile", "worldbook", "conversation"];

export type Format = keyof ReturnType<typeof t>["fileList"]["exports"];
export const FORMATS: Partial<Record<ProjectFile["kind"], Format[]>> = {
  agent: ["st-preset", "st-card", "aio"],
  preset: ["st-preset"],
  worldbook: ["st-lorebook"],
  profile: ["json"],
};

/** The question of the open dialog: the name of a new file or of a copy, a new name, or whether to delete. */
export type Question =
  | { kind: NewKind; then: (made: CreatedFile) => void }
  | { kind: "rename" | "duplicate" | "delete"; file: ProjectFile };
export const question = signal<Question | undefined>(undefined);
/** Losses of the last export. */
export const losses = signal<{ name: string; findings: Finding[] } | undefined>(undefined);

export function askName(asked: Question): void {
  question.value = asked;
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The name without its extension. */
export function stemOf(path: string): string {
  return nameOf(path).replace(/\.[^.]+$/, "");
}

/** The page that shows a file. */
export function pageFor(kind: ProjectFile["kind"]): PageName {
  return kind === "worldbook" ? "books" : kind === "conversation" ? "talk" : "preset";
}

/** Sends the answer to the server. Throws its error. */
export async function answer(asked: Question, name: string): Promise<void> {
  if (!("file" in asked)) {
    const made = await call<CreatedFile>("POST", "files", { body: { kind: asked.kind, name } });
    toast(t().fileList.created(made.path));
    await loadProject();
    return asked.then(made);
  }
  const { file, kind } = asked;
  const path = `files/${encodeURIComponent(file.id)}/${kind}`;
  const open = [...openFiles()].find(({ id }) => id === file.id);
  // The server needs all edits before it copies or renames the draft.
  if (kind !== "delete" && open && !(await open.flush())) throw new CallError(409, { code: "unsent", message: t().fileList.unsent });
  // The notice of the server may arrive before its answer.
  if (kind !== "duplicate") leaving.add(file.id);
  if (kind === "delete") {
    await call("POST", path, { body: {} }).catch(stay(file.id));
    open?.abandon();
    leave(file.id, "");
    toast(t().fileList.deleted(file.path));
  } else {
    const made = await call<CreatedFile>("POST", path, { body: { name } }).catch(stay(file.id));
    if (kind === "rename") leave(file.id, made.id);
    toast((kind === "rename" ? t().fileList.renamed : t().fileList.created)(made.path));
  }
  await loadProject();
  leaving.delete(file.id);
}

function stay(id: string): (error: unknown) => never {
  return (error) => {
    leaving.delete(id);
    throw error;
  };
}

/** Replaces the id of a renamed file in this window, or removes the id of a deleted one. */
function leave(id: string, next: string): void {
  moveDrafts(id, next);
  const { conversation, profile, worldbooks, ...rest } = inputs.value;
  const moved = (one: string | undefined) => (one === id ? next || undefined : one);
  inputs.value = {
    ...rest,
    conversation: moved(conversation),
    profile: moved(profile),
    worldbooks: worldbooks.flatMap((one) => moved(one) ?? []),
  };
  if (route.value.file === id) go(route.value.page, next, true);
}

export async function exportFile(file: ProjectFile, format: Format): Promise<void> {
  const made = await call<ExportedFile>("GET", `files/${encodeURIComponent(file.id)}/export?format=${format}`);
  download(made.name, made.text);
  if (made.findings.length > 0) losses.value = made;
  toast(t().fileList.exported(made.name));
}

function download(name: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
