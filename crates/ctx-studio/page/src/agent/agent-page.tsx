// The form of an agent: character, greetings, model, and parameters.
import { useEffect, useState } from "preact/hooks";
import type { OpenFile } from "../files";
import { current, currentId, filesOf, labelOf, registry } from "../project";
import { address, go } from "../route";
import { inputs } from "../turn";
import { get, isObject } from "../pointer";
import { figure, t } from "../language";
import { Button } from "../ui/button";
import { Field, Select } from "../ui/field";
import { view } from "../preset/state";
import { askName } from "../file-list/actions";
import { agentBase, change, isForeign, keyOf, numberIn, otherParameters, PARAMETERS, type Parameter } from "./edits";
import { Greetings } from "./greetings";

export interface FormProps {
  file: OpenFile;
  /** The file's value, and the place of the agent in it. */
  value: unknown;
  base: string;
}

export function AgentPage() {
  const file = current.value;
  if (!file) return currentId.value ? null : <p class="empty">{t().noAgents}</p>;
  const told = file.server.value;
  if (!told)
    return (
      <p class="empty soft" aria-busy={!file.failure.value}>
        {file.failure.value ? file.failure.value.message || t().offline : t().loading}
      </p>
    );
  const value = file.value.value;
  const base = agentBase(value);
  return (
    <section class="agent-page" aria-labelledby="agent-title">
      <h1 id="agent-title" class="hidden">
        {t().labeled(t().pageNames.agent, told.path)}
      </h1>
      {base === undefined ? (
        <NoForm value={value} />
      ) : (
        <div class="agent-form" key={file.id}>
          <Character file={file} value={value} base={base} />
          <Greetings file={file} value={value} base={base} />
          <Model file={file} value={value} base={base} />
          <Parameters file={file} value={value} base={base} />
          <Profile />
        </div>
      )}
    </section>
  );
}

function NoForm({ value }: { value: unknown }) {
  return (
    <div class="empty">
      <p>{value === undefined ? t().unreadable : isForeign(value) ? t().agentForm.foreign : t().agentForm.noForm}</p>
      {isForeign(value) && (
        <Button icon="file-input" onClick={() => go("import")}>
          {t().pageNames.import}
        </Button>
      )}
      <Button
        icon="code"
        onClick={() => {
          view.value = "text";
          go("preset");
        }}
      >
        {t().views.text}
      </Button>
    </div>
  );
}

function textAt(value: unknown, pointer: string): string {
  const text = get(value, pointer);
  return typeof text === "string" ? text : text === undefined || text === null ? "" : JSON.stringify(text);
}

function Character({ file, value, base }: FormProps) {
  const set = (key: string) => (next: string) => change(file, base, [key], next === "" ? undefined : next);
  return (
    <section aria-labelledby="agent-character">
      <h2 id="agent-character">{t().agentForm.character}</h2>
      <Field
        label={t().name}
        value={textAt(value, `${base}/name`)}
        help={t().agentForm.nameHelp}
        isDisabled={file.isReadOnly.value}
        onInput={set("name")}
        testId="agent-name"
      />
      <Field
        size="wide"
        rows={2}
        label={t().agentForm.description}
        value={textAt(value, `${base}/description`)}
        help={t().agentForm.descriptionHelp}
        isDisabled={file.isReadOnly.value}
        onInput={set("description")}
        testId="agent-description"
      />
    </section>
  );
}

function Model({ file, value, base }: FormProps) {
  const model = textAt(value, `${base}/modelId`);
  const window = registry.value.windows?.[model];
  return (
    <section aria-labelledby="agent-model">
      <h2 id="agent-model">{t().agentForm.model}</h2>
      <Field
        label={t().agentForm.model}
        isLabelHidden
        value={model}
        list="models"
        isLazy
        placeholder={t().agentForm.notSet}
        help={window === undefined ? t().agentForm.modelHelp : t().agentForm.window(figure(window))}
        isDisabled={file.isReadOnly.value}
        onInput={(next) => change(file, base, ["modelId"], next.trim() || undefined)}
        testId="agent-model"
      />
    </section>
  );
}

function Parameters({ file, value, base }: FormProps) {
  const all = get(value, `${base}/parameters`);
  const others = otherParameters(all);
  const stop = isObject(all) ? all["stop"] : undefined;
  const lines = Array.isArray(stop) ? stop.map(String) : typeof stop === "string" ? [stop] : [];
  return (
    <section aria-labelledby="agent-parameters">
      <h2 id="agent-parameters">{t().agentForm.parameters}</h2>
      <p class="soft">
        {t().agentForm.parametersHelp} <a href={address("pipeline")}>{t().agentForm.elsewhere}</a>
      </p>
      <div class="parameters">
        {PARAMETERS.map((about) => {
          const key = keyOf(all, about);
          return (
            <NumberInput
              key={about.name}
              about={about}
              value={isObject(all) ? all[key] : undefined}
              isDisabled={file.isReadOnly.value}
              onChange={(next) => change(file, base, ["parameters", key], next)}
            />
          );
        })}
      </div>
      <Field
        size="wide"
        rows={2}
        label={t().agentForm.names.stop}
        value={lines.join("\n")}
        placeholder={t().agentForm.notSet}
        help={t().agentForm.stopHelp}
        isDisabled={file.isReadOnly.value}
        onInput={(text) => {
          const next = text.split("\n").filter((line) => line !== "");
          change(file, base, ["parameters", "stop"], next.length > 0 ? next : undefined);
        }}
        testId="agent-stop"
      />
      {others.length > 0 && (
        <>
          <h3>{t().agentForm.others}</h3>
          <p class="soft">{t().agentForm.othersHelp}</p>
          <ul class="other-parameters" data-test="other-parameters">
            {others.map(([key, other]) => (
              <li key={key}>
                <code>{key}</code> <span class="soft">{JSON.stringify(other)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** A number that may be missing. An invalid text stays in the field with its reason. */
function NumberInput({
  about,
  value,
  isDisabled,
  onChange,
}: {
  about: Parameter;
  value: unknown;
  isDisabled: boolean;
  onChange: (next: number | undefined) => void;
}) {
  const shown = value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
  const [invalid, setInvalid] = useState<string | undefined>(undefined);
  useEffect(() => setInvalid(undefined), [shown]);
  return (
    <Field
      label={t().agentForm.names[about.name]}
      value={invalid ?? shown}
      placeholder={t().agentForm.notSet}
      isLazy
      inputMode="decimal"
      isDisabled={isDisabled}
      isInvalid={invalid !== undefined}
      help={
        invalid !== undefined
          ? t().form.number(about.isWhole === true, about.minimum, about.maximum)
          : about.maximum === undefined
            ? undefined
            : t().agentForm.range(about.minimum ?? 0, about.maximum)
      }
      onInput={(text) => {
        const next = numberIn(text, about);
        setInvalid(next === null ? text : undefined);
        if (next !== null) onChange(next);
      }}
      testId={`parameter-${about.name}`}
    />
  );
}

function Profile() {
  const profiles = filesOf("profile");
  const chosen = inputs.value.profile ?? "";
  const choose = (profile: string) => (inputs.value = { ...inputs.value, profile });
  return (
    <section aria-labelledby="agent-profile">
      <h2 id="agent-profile">{t().agentForm.profile}</h2>
      <div class="inline-fields">
        <Select
          label={t().agentForm.profile}
          isLabelHidden
          value={chosen}
          options={[{ value: "", label: t().none }, ...profiles.map((one) => ({ value: one.id, label: labelOf(one) }))]}
          onChange={choose}
          help={t().agentForm.profileHelp}
          testId="agent-profile"
        />
        <Button icon="plus" onClick={() => askName({ kind: "profile", then: ({ id }) => choose(id) })} testId="new-profile">
          {t().agentForm.newProfile}
        </Button>
        {chosen && (
          <a class="button plain" href={address("preset", chosen)}>
            {t().agentForm.editProfile}
          </a>
        )}
      </div>
    </section>
  );
}
