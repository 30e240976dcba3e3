// The settings of compression, each inherited or set, and the next compression.
import { useEffect, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import type { CompressionLayer, CompressionPlan, CompressionSettings, ConfigField, Edit, Origin } from "../api";
import { call, CallError } from "../transport";
import { file, type OpenFile } from "../files";
import { apply, get, isObject, join } from "../pointer";
import { agentId, projectInfo } from "../project";
import { outside } from "../notices";
import { figure, lang, t } from "../language";
import { Button } from "../ui/button";
import { ConfigInput } from "../ui/config-field";
import { FindingList } from "../inspector/finding-list";
import { talkId } from "../talk/state";
import { removal } from "./edits";
import { layer } from "./layer";
import { SetBy } from "./set-by";

const settings = signal<CompressionSettings | undefined>(undefined);
const isAdvancedOpen = signal(false);

/** A setting of the edited layer, own or inherited. */
interface Held {
  field: ConfigField;
  value: unknown;
  origin: Origin;
  /** Place in the file of the layer. Missing if the layer has no file. */
  pointer?: string;
  isOwn: boolean;
}

export function Compression() {
  const [failure, fail] = useState<string | undefined>(undefined);
  const ctxToml = projectInfo.value?.files.find(({ path }) => path === "ctx.toml")?.id;
  const revisions = [agentId.value, ctxToml].map((id) => (id ? file(id).server.value?.revision : undefined)).join();
  useEffect(() => {
    let isGone = false;
    call<CompressionSettings>("POST", "compression", { body: { agent: agentId.value } }).then(
      (told) => {
        if (isGone) return;
        settings.value = told;
        fail(undefined);
      },
      (error) => !isGone && fail(error instanceof CallError ? error.message || t().offline : String(error)),
    );
    return () => {
      isGone = true;
    };
  }, [agentId.value, revisions, outside.value, lang.value]);
  const told = settings.value;
  if (failure) return <p class="wrong">{failure}</p>;
  if (!told) return <p class="empty soft">{t().loading}</p>;
  const own = told.layers.find(({ origin }) => origin === layer.value);
  const draft = own && file(own.file);
  const all = told.fields.map((field) => heldOf(field, told, own, draft));
  const valueOf = (key: string) => all.find(({ field }) => field.key === key)?.value;
  const drawn = (isFirst: boolean) =>
    all
      .filter(({ field }) => isLeading(field.key, valueOf) === isFirst)
      .map((held) => <Setting key={held.field.key} held={held} own={own} draft={draft} />);
  const { advanced, advancedSet, keyByKey } = t().pipeline;
  const advancedOwn = all.filter(({ field, isOwn }) => isOwn && !isLeading(field.key, valueOf)).length;
  return (
    <div class="compression">
      <p class="in-short" data-test="compression-summary">
        <b>{inShort(valueOf)}</b>
        <ResetAll all={all} draft={draft} />
      </p>
      <div class="config">{drawn(true)}</div>
      <details class="more" open={isAdvancedOpen.value}>
        <summary
          data-test="compression-advanced"
          onClick={(event) => {
            event.preventDefault();
            isAdvancedOpen.value = !isAdvancedOpen.value;
          }}
        >
          {advancedOwn > 0 ? advancedSet(advancedOwn) : advanced}
        </summary>
        <p class="soft">{keyByKey}</p>
        <div class="config">{drawn(false)}</div>
      </details>
      <Next stamp={revisions} />
      {told.findings.length > 0 && agentId.value && <FindingList findings={told.findings} file={file(agentId.value)} />}
    </div>
  );
}

/** Whether a setting decides about the trigger and the kept messages. The others are under "Advanced". */
function isLeading(key: string, valueOf: (key: string) => unknown): boolean {
  switch (key) {
    case "enabled":
    case "autoTrigger":
    case "protectRecentCount":
      return true;
    case "tokenThreshold":
      return valueOf("triggerMode") !== "count";
    case "countThreshold":
      return valueOf("triggerMode") !== "token";
    default:
      return false;
  }
}

function inShort(valueOf: (key: string) => unknown): string {
  const { off, manual, automatic, tokens, messages } = t().pipeline.inShort;
  if (valueOf("enabled") === false) return off;
  if (valueOf("autoTrigger") === false) return manual;
  const [number, mode] = [(key: string) => Number(valueOf(key)), valueOf("triggerMode")];
  return automatic(
    [
      mode !== "count" && tokens(figure(number("tokenThreshold"))),
      mode !== "token" && messages(number("countThreshold")),
    ].filter((part) => part !== false),
    number("protectRecentCount"),
  );
}

function heldOf(
  field: ConfigField,
  told: CompressionSettings,
  own: CompressionLayer | undefined,
  draft: OpenFile | undefined,
): Held {
  const held = told.values.find(({ key }) => key === field.key);
  const value = draft?.value.value;
  const pointer = own && placeOf(value, own.base, field.key);
  const set = pointer === undefined ? undefined : get(value, pointer);
  if (set === undefined)
    return { field, value: held?.value ?? field.default, origin: held?.origin ?? "built-in", pointer, isOwn: false };
  // Until the server responds, `held` has the previous origin.
  const origin = held && held.origin !== "built-in" ? held.origin : layer.value;
  return { field, value: set, origin, pointer, isOwn: true };
}

function Setting({
  held: { field, value, origin, pointer, isOwn },
  own,
  draft,
}: {
  held: Held;
  own: CompressionLayer | undefined;
  draft: OpenFile | undefined;
}) {
  const isFixed = draft?.isReadOnly.value !== false;
  const remove = () => {
    if (pointer !== undefined) draft?.edit(removal(draft.value.peek(), pointer));
  };
  return (
    <ConfigInput
      field={field}
      value={value}
      isDisabled={isFixed}
      onChange={(next) => own && draft?.edit(...setEdits(draft.value.peek(), own.base, field.key, next))}
    >
      <SetBy origin={origin} name={field.label} isFixed={isFixed} reset={isOwn ? remove : undefined} />
    </ConfigInput>
  );
}

function ResetAll({ all, draft }: { all: readonly Held[]; draft: OpenFile | undefined }) {
  const own = all.flatMap(({ isOwn, pointer }) => (isOwn && pointer !== undefined ? [pointer] : []));
  if (own.length === 0 || !draft) return null;
  const reset = () => {
    let value = draft.value.peek();
    const edits: Edit[] = [];
    for (const pointer of own) {
      const edit = removal(value, pointer);
      value = apply(value, [edit]);
      edits.push(edit);
    }
    draft.edit(...edits);
    document.querySelector<HTMLElement>("[data-test=layer]")?.focus();
  };
  return (
    <Button icon="undo-2" isDisabled={draft.isReadOnly.value} onClick={reset} testId="reset-all">
      {t().pipeline.resetAll(own.length)}
    </Button>
  );
}

/** Applications write the settings for all into `defaultStrategy`. */
function placeOf(value: unknown, base: string, key: string): string {
  const inner = join(base, "defaultStrategy", key);
  return get(value, inner) !== undefined ? inner : join(base, key);
}

function setEdits(value: unknown, base: string, key: string, next: unknown): Edit[] {
  const pointer = placeOf(value, base, key);
  if (isObject(get(value, base))) return [{ op: "set", pointer, value: next }];
  const above = base.slice(0, base.lastIndexOf("/"));
  if (above === "" || isObject(get(value, above))) return [{ op: "set", pointer: base, value: { [key]: next } }];
  return [{ op: "set", pointer: above, value: { [base.slice(above.length + 1)]: { [key]: next } } }];
}

/** What the settings would do with the conversation of the turn now. */
function Next({ stamp }: { stamp: string }) {
  const [plan, show] = useState<CompressionPlan | undefined>(undefined);
  const id = talkId.value;
  const path = projectInfo.value?.files.find((one) => one.id === id)?.path;
  useEffect(() => {
    let isGone = false;
    if (!id) return show(undefined);
    const body = { base: "", agent: agentId.value, range: { kind: "auto" } };
    call<CompressionPlan>("POST", `conversations/${encodeURIComponent(id)}/plan`, { body }).then(
      (made) => !isGone && show(made),
      () => !isGone && show(undefined),
    );
    return () => {
      isGone = true;
    };
  }, [id, stamp, outside.value, lang.value, agentId.value]);
  if (!plan || !path) return null;
  const hides = t().talk.hides(plan.ids.length, plan.summaries.length, figure(plan.tokens));
  return (
    <div class="next" role="status" data-test="next-compression" data-needed={plan.isNeeded}>
      <p>
        {t().pipeline.next(path)} <b>{plan.told}</b>
      </p>
      {plan.isNeeded && (
        <p class="soft">{t().clauses(plan.trigger, t().labeled(hides, t().listed(plan.ids)))}</p>
      )}
    </div>
  );
}
