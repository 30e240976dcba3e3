// The settings of the turn that the preview shows: one line, which opens to all of them.
import { signal } from "@preact/signals";
import { current, filesOf, labelOf, projectInfo, registry } from "../project";
import { preview } from "../preview";
import { get } from "../pointer";
import { route } from "../route";
import { inputs, now, setTurn, turn } from "../turn";
import { figure, t } from "../language";
import { stemOf } from "../file-list/actions";
import { IconButton } from "../ui/button";
import { Icon } from "../ui/icon";
import { Menu } from "../ui/menu";
import { Field, Select } from "../ui/field";
import { Meter } from "./meter";

const PREFIX_MODES = ["moving", "append-only", "auto"];
const KEY = "ctx-studio/turn-open";
const isOpen = signal(localStorage.getItem(KEY) === "true");
/** Maximum length of the user message in the closed line. */
const MOST = 40;

export function TurnBar() {
  const parts = summary();
  return (
    <section class={`turn ${isOpen.value ? "open" : ""}`} aria-label={t().turn}>
      <div class="turn-line">
        <button
          type="button"
          class="turn-summary"
          aria-expanded={isOpen.value}
          aria-controls="turn-settings"
          title={t().frame.turnOf(t().listed(parts))}
          onClick={() => {
            isOpen.value = !isOpen.value;
            localStorage.setItem(KEY, String(isOpen.value));
          }}
          data-test="turn"
        >
          <span class="hidden">{t().labeled(t().turn, "")} </span>
          <span class="parts">{parts.join(" · ")}</span>
          <Icon name={isOpen.value ? "chevron-up" : "chevron-down"} />
        </button>
        <Meter />
      </div>
      {isOpen.value && <Settings />}
      <datalist id="models">
        {registry.value.models.map((model) => {
          const window = registry.value.windows?.[model];
          return <option key={model} value={model} label={window === undefined ? undefined : t().agentForm.window(figure(window))} />;
        })}
      </datalist>
    </section>
  );
}

/** The conversation, the user profile, the model, the budget, and the user message. */
function summary(): string[] {
  const files = projectInfo.value?.files ?? [];
  const name = (id: string | undefined) => {
    const found = id ? files.find((one) => one.id === id) : undefined;
    return found && (found.isStored ? labelOf(found) : stemOf(found.path));
  };
  const settings = turn.value;
  const agentModel = get(current.value?.value.value, "/modelId");
  const model = settings.model ?? projectInfo.value?.model ?? (typeof agentModel === "string" ? agentModel : undefined);
  const limit = preview.value?.usage.limit ?? settings.contextTokens;
  const input = settings.input?.trim() ?? "";
  return [
    name(inputs.value.conversation) ?? t().frame.noConversation,
    name(inputs.value.profile),
    model ?? t().frame.noModel,
    limit === undefined ? undefined : limit < 1000 ? String(limit) : t().frame.thousands(Math.round(limit / 1000)),
    input === "" ? undefined : t().frame.quoted(input.length > MOST ? `${input.slice(0, MOST)}…` : input),
  ].filter((part) => part !== undefined);
}

function Settings() {
  const { conversation, profile, worldbooks } = inputs.value;
  const settings = turn.value;
  const prefix = settings.prefix ?? "";
  const none = { value: "", label: t().none };
  const options = (...kinds: Parameters<typeof filesOf>) => [
    none,
    ...filesOf(...kinds).map((one) => ({ value: one.id, label: labelOf(one) })),
  ];
  const books = filesOf("worldbook");
  // The page Chat has a choice of conversations and a field for the message itself.
  const isChat = route.value.page === "talk";
  return (
    <div class="turn-settings" id="turn-settings">
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
      <div class="turn-row">
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
    </div>
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
