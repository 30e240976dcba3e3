// The folder: its files, the registry, and which file this window edits.
import { computed, effect, signal } from "@preact/signals";
import type { AnchorInfo, Project, ProjectFile, Registry } from "./api";
import { call, CallError } from "./transport";
import { toast } from "./announce";
import { file, openFiles, type OpenFile } from "./files";
import { go, route, type PageName } from "./route";
import { suggestLang, lang, t } from "./language";
import { chooseInputs } from "./turn";
import { layer, layerFile } from "./pipeline/layer";

export const projectInfo = signal<Project | undefined>(undefined);
export const projectFailure = signal<CallError | undefined>(undefined);
/** Files that this window renames or deletes. Their end is not reported. */
export const leaving = new Set<string>();
export const registry = signal<Registry>({ anchors: [], macros: [], processors: [], models: [], windows: {}, dialects: [] });

/** The agents and presets, which the page Preset can show. */
export const agents = computed<ProjectFile[]>(() =>
  (projectInfo.value?.files ?? []).filter((one) => one.kind === "agent" || one.kind === "preset"),
);

/** What is edited here as text: conversations are not, since they change only step by step. */
const TEXTS: ProjectFile["kind"][] = ["profile", "worldbook", "settings", "config", "other"];
export const texts = computed<ProjectFile[]>(() => filesOf(...TEXTS));

/** The agent that was shown last. */
let lastAgent: string | undefined;

/** The worldbook in the address, or the first. */
export const bookId = computed<string | undefined>(() => {
  const books = filesOf("worldbook");
  return (books.find(({ id }) => id === route.value.file) ?? books[0])?.id;
});

/** The file in the address, or the first agent; of the page Books the first worldbook. */
export const currentId = computed<string | undefined>(() => {
  if (route.value.page === "books") return bookId.value;
  if (route.value.page === "talk") return lastAgent ?? defaults().agent ?? agents.value[0]?.id;
  if (route.value.page === "pipeline" && layerFile.value) return layerFile.value;
  const files = projectInfo.value?.files ?? [];
  return files.find((one) => one.id === route.value.file)?.id ?? defaults().agent ?? agents.value[0]?.id;
});
export const currentKind = computed(() => projectInfo.value?.files.find((one) => one.id === currentId.value)?.kind);
export const current = computed<OpenFile | undefined>(() => (currentId.value ? file(currentId.value) : undefined));

/** The agent that is previewed: that of the address, or the last one where a profile or a book is open. */
export const agentId = computed<string | undefined>((): string | undefined => {
  const kind = currentKind.value;
  // A file that cannot be read may be an agent once it is mended.
  if (kind === undefined || kind === "agent" || kind === "preset" || kind === "other") lastAgent = currentId.value;
  const isThere = agents.value.some((one) => one.id === lastAgent);
  return isThere || kind === "other" ? lastAgent : (defaults().agent ?? agents.value[0]?.id);
});

/** Opens another file; on the page Pipeline an agent is one whose settings are shown. */
export function openFile(page: PageName, id: string): void {
  layer.value = "agent";
  layerFile.value = undefined;
  go(page, id);
}

export function filesOf(...kinds: ProjectFile["kind"][]): ProjectFile[] {
  return (projectInfo.value?.files ?? []).filter((one) => kinds.includes(one.kind));
}

/** Title of a file. A stored conversation without a title is named after its creation time. */
export function titleOf({ path, isStored }: ProjectFile): string {
  const at = isStored ? /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)\d\d-\d{3}$/.exec(path) : null;
  if (!at) return path;
  const [, year, month, day, hour, minute] = at;
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}Z`);
  return t().talk.untitled(date.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" }));
}

/** What a choice of files calls one. */
export function labelOf(file: ProjectFile): string {
  return file.isStored ? t().talk.stored(titleOf(file)) : file.path;
}

/** What `ctx.toml` names. */
export function defaults(): Project["defaults"] {
  return projectInfo.value?.defaults ?? { worldbooks: [] };
}

export async function loadProject(): Promise<void> {
  try {
    const { page, file: id } = route.value;
    const query = page === "talk" && id ? `?conversation=${encodeURIComponent(id)}` : "";
    const loaded = await call<Project>("GET", `project${query}`);
    suggestLang(loaded.lang);
    const shown = projectInfo.value?.files.find(({ id }) => id === currentId.value);
    const isGone = shown && !loaded.files.some(({ id }) => id === shown.id);
    if (isGone && !leaving.has(shown.id)) toast(t().fileGone(shown.path), "error");
    projectInfo.value = loaded;
    const ids = new Set(loaded.files.map(({ id }) => id));
    // A file that left the list, or came back.
    for (const one of openFiles()) if (ids.has(one.id) === one.isMissing) void one.load();
    projectFailure.value = undefined;
    chooseInputs(loaded, defaults());
    // An agent that cannot be read is none, and yet what somebody came to mend.
    const isEmpty = agents.value.length === 0 && loaded.defaults.agent === undefined;
    if (isEmpty && route.value.page === "preset" && !route.value.file) go("start", undefined, true);
    else if (!isEmpty && route.value.page === "start") go("preset", undefined, true);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    projectFailure.value = error;
  }
}

/** The registry depends on the agent, and its texts on the language. */
export function followRegistry(): void {
  effect(() => {
    const id = agentId.value;
    void lang.value;
    if (!projectInfo.value) return;
    const query = id ? `?agent=${encodeURIComponent(id)}` : "";
    call<Registry>("GET", `registry${query}`).then(
      (loaded) => (registry.value = { ...loaded, anchors: loaded.anchors.map(inLanguage) }),
      () => {
        // The page works without help for macros; a lost server is told elsewhere.
      },
    );
  });
}

/** The registry's template of the user profile is Chinese: the English page inserts an English one. */
function inLanguage(anchor: AnchorInfo): AnchorInfo {
  return { ...anchor, template: t().templates[anchor.id] ?? anchor.template };
}
