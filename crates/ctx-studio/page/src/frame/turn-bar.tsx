// What the preview is made for, and how much room is left.
import { useState } from "preact/hooks";
import { filesOf, labelOf, projectInfo, registry } from "../project";
import { route } from "../route";
import { inputs, now, setTurn, turn } from "../turn";
import { t } from "../language";
import { Button, IconButton } from "../ui/button";
import { Menu } from "../ui/menu";
import { Field, Select } from "../ui/field";
import { Meter } from "./meter";

const PREFIX_MODES = ["moving", "append-only", "auto"];

export function TurnBar() {
  const [isOpen, setOpen] = useState(false);
  const { conversation, profile, worldbooks } = inputs.value;
  const settings = turn.value;
  // The page has both itself.
  const isChat = route.value.page === "talk";
  const prefix = settings.prefix ?? "";
  const none = { value: "", label: t().none };
  const options = (...kinds: Parameters<typeof filesOf>) => [
    none,
    ...filesOf(...kinds).map((one) => ({ value: one.id, label: labelOf(one) })),
  ];
  const books = filesOf("worldbook");
  const models = registry.value.models;
  return (
    <section class={`turn ${isOpen ? "open" : ""}`} aria-label={t().turn}>
      <div class="turn-row first">
        {!isChat && (
          <Field
            label={t().input}
            isLabelHidden
            placeholder={t().inputHint}
            value={settings.input ?? ""}
            size="wide"
            onInput={(input) => setTurn({ input })}
            testId="input"
          />
        )}
        <Meter />
        <Button class="only-narrow" icon={isOpen ? "chevron-up" : "chevron-down"} onClick={() => setOpen(!isOpen)}>
          {t().turn}
        </Button>
      </div>
      <div class="turn-row settings">
        {!isChat && (
          <Select
            label={t().conversation}
            value={conversation ?? ""}
            options={options("conversation")}
            onChange={(id) => (inputs.value = { ...inputs.value, conversation: id })}
            testId="conversation"
          />
        )}
        <Select
          label={t().profile}
          value={profile ?? ""}
          options={options("profile")}
          onChange={(id) => (inputs.value = { ...inputs.value, profile: id })}
          testId="profile"
        />
        {books.length > 0 && (
          <span class="field">
            <span class="label" id="books-label">
              {t().worldbooks}
            </span>
            <Menu
              label={t().worldbooks}
              class="button plain"
              items={() =>
                books.map(({ id, path }) => ({
                  label: path,
                  checked: worldbooks.includes(id),
                  run: () =>
                    (inputs.value = {
                      ...inputs.value,
                      worldbooks: worldbooks.includes(id)
                        ? worldbooks.filter((one) => one !== id)
                        : [...worldbooks, id],
                    }),
                }))
              }
            >
              {worldbooks.length === 0 ? t().none : t().chosenOf(worldbooks.length, books.length)}
            </Menu>
          </span>
        )}
        <Field
          label={t().model}
          value={settings.model ?? ""}
          placeholder={projectInfo.value?.model ?? "–"}
          isLazy
          list="models"
          onInput={(model) => setTurn({ model })}
          testId="model"
        />
        <datalist id="models">
          {models.map((model) => (
            <option key={model} value={model} />
          ))}
        </datalist>
        <NumberField
          label={t().budget}
          value={settings.contextTokens}
          set={(contextTokens) => setTurn({ contextTokens })}
          testId="budget"
        />
        <NumberField
          label={t().reserve}
          value={settings.reserve}
          set={(reserve) => setTurn({ reserve })}
          testId="reserve"
        />
        <Select
          label={t().prefix}
          value={prefix}
          options={["", ...PREFIX_MODES].map((mode) => ({ value: mode, label: mode || t().asInAgent }))}
          help={t().prefixHelp[prefix]}
          onChange={(prefix) => setTurn({ prefix })}
          testId="prefix"
        />
        <NumberField label={t().seed} value={settings.seed} set={(seed) => setTurn({ seed })} testId="seed" />
        <span class="at">
          <Field
            label={t().at}
            type="datetime-local"
            value={settings.at.slice(0, 16)}
            isLazy
            onInput={(at) => at && setTurn({ at: `${at}:00${settings.at.slice(19)}` })}
            testId="at"
          />
          <IconButton icon="clock" label={t().now} onClick={() => setTurn({ at: now() })} testId="now" />
        </span>
      </div>
    </section>
  );
}

function NumberField({
  label,
  value,
  set,
  testId,
}: {
  label: string;
  value?: number;
  set: (next: number | undefined) => void;
  testId: string;
}) {
  return (
    <Field
      label={label}
      size="short"
      inputMode="numeric"
      isLazy
      placeholder={t().automatic}
      value={value === undefined ? "" : String(value)}
      testId={testId}
      onInput={(text) => {
        const digits = text.replace(/[\s,._]/g, "");
        if (digits === "") set(undefined);
        else if (/^\d{1,12}$/.test(digits)) set(Number(digits));
      }}
    />
  );
}
