// The settings of processors as the server merges them, and what this window shows of them.
import { computed, effect, signal } from "@preact/signals";
import type { EffectiveSetting, PipelineView, ProcessorInfo, SettingsLayerView } from "../api";
import { call, CallError } from "../transport";
import { file, type OpenFile } from "../files";
import { request } from "../preview";
import { agentId, projectInfo, registry } from "../project";
import { outside } from "../notices";
import { route } from "../route";
import { inputs } from "../turn";
import { lang } from "../language";
import { layer, layerFile } from "./layer";

export const pipeline = signal<PipelineView | undefined>(undefined);
export const pipelineFailure = signal<CallError | undefined>(undefined);
export const openProcessors = signal<ReadonlySet<string>>(new Set());

export const layerView = computed<SettingsLayerView | undefined>(() =>
  pipeline.value?.layers.find(({ origin }) => origin === layer.value),
);
export const layerDraft = computed<OpenFile | undefined>(() =>
  layerView.value ? file(layerView.value.file) : undefined,
);

/** A processor with what holds for it. */
export interface Processor {
  about: ProcessorInfo;
  setting: EffectiveSetting;
}
export const processors = computed<Processor[]>(() =>
  (pipeline.value?.settings ?? []).flatMap((setting) => {
    const about = registry.value.processors.find(({ id }) => id === setting.id);
    return about ? [{ about, setting }] : [];
  }),
);

let isRunning = false;
let isStale = false;

/** Asks again whenever a file of a layer, or what the turn is, has changed. */
export function followPipeline(): void {
  effect(() => {
    const ctxToml = projectInfo.value?.files.find(({ path }) => path === "ctx.toml")?.id;
    const ids = [agentId.value, inputs.value.modelSettings, ctxToml].filter((id): id is string => Boolean(id));
    const isShown = route.value.page === "pipeline" && projectInfo.value !== undefined;
    if (!isShown) return;
    void [JSON.stringify(request()), lang.value, outside.value];
    for (const id of ids) void file(id).server.value?.revision;
    void ask();
  });
  effect(() => {
    const id = layer.value === "agent" ? undefined : layerView.value?.file;
    if (pipeline.value) layerFile.value = id;
  });
}

async function ask(): Promise<void> {
  isStale = isRunning;
  if (isRunning) return;
  isRunning = true;
  try {
    pipeline.value = await call<PipelineView>("POST", "pipeline", { body: request() });
    pipelineFailure.value = undefined;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    pipelineFailure.value = error;
  } finally {
    isRunning = false;
    if (isStale) void ask();
  }
}
