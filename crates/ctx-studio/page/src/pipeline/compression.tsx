// When conversations are compressed, and how: key by key, each inherited or set; and what would be compressed next.
import { useEffect, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import type { CompressionLayer, CompressionPlan, CompressionSettings, ConfigField, Edit } from "../api";
import { call, CallError } from "../transport";
import { file } from "../files";
import { get, isObject, join } from "../pointer";
import { agentId, projectInfo } from "../project";
import { outside } from "../notices";
import { figure, lang, t } from "../language";
import { Button } from "../ui/button";
import { ConfigInput } from "../ui/config-field";
import { FindingList } from "../inspector/finding-list";
import { talkId } from "../talk/state";
import { layer } from "./layer";

const settings = signal<CompressionSettings | undefined>(undefined);

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
  return (
    <div class="compression">
      <p class="soft">{t().pipeline.keyByKey}</p>
      <Next stamp={revisions} />
      {told.findings.length > 0 && agentId.value && <FindingList findings={told.findings} file={file(agentId.value)} />}
      <div class="fields settings">
        {told.fields.map((field) => (
          <Setting key={field.key} field={field} told={told} own={own} />
        ))}
      </div>
    </div>
  );
}

/** One setting: inherited with the value that holds, or set in the layer. */
function Setting({
  field,
  told,
  own,
}: {
  field: ConfigField;
  told: CompressionSettings;
  own: CompressionLayer | undefined;
}) {
  const { origins, inherit, inherited } = t().pipeline;
  const draft = own && file(own.file);
  const value = draft?.value.value;
  const pointer = own && placeOf(value, own.base, field.key);
  const set = pointer === undefined ? undefined : get(value, pointer);
  const held = told.values.find(({ key }) => key === field.key);
  const isFixed = draft?.isReadOnly.value !== false;
  const change = (next: unknown) => {
    if (own && draft) draft.edit(...setEdits(draft.value.peek(), own.base, field.key, next));
  };
  return (
    <ConfigInput
      field={field}
      value={set !== undefined ? set : (held?.value ?? field.default)}
      isDisabled={isFixed}
      onChange={change}
    >
      {set === undefined ? (
        <span class={`badge origin of-${held?.origin ?? "built-in"}`}>{inherited(origins[held?.origin ?? "built-in"])}</span>
      ) : (
        <Button
          class="small"
          isDisabled={isFixed}
          onClick={() => pointer !== undefined && draft?.edit({ op: "remove", pointer })}
          label={t().labeled(inherit, field.label)}
        >
          {inherit}
        </Button>
      )}
    </ConfigInput>
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
