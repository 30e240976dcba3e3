// One list of entries in the order of the file, the same entries at their places, or the file's text.
import { useEffect } from "preact/hooks";
import { current, currentId } from "../project";
import { preview } from "../preview";
import { figure, t } from "../language";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { EntryList } from "./entry-list";
import { ListBar } from "./list-bar";
import { rememberSaved } from "../saved-entries";
import { PlacedView } from "./placed-view";
import { Selection } from "./selection";
import { TextView } from "./text-view";
import { Toolbar } from "./toolbar";
import { expanded, preset, view } from "./state";
import type { Preset } from "./actions";
import type { OpenFile } from "../files";

export function PresetPage() {
  const file = current.value;
  if (!file) return currentId.value ? null : <p class="empty">{t().noAgents}</p>;
  const failure = file.failure.value;
  if (failure && !file.server.value) {
    return (
      <div class="empty">
        <p>
          <Icon name="circle-alert" />
          {failure.message || t().offline}
        </p>
        {failure.failure.help && <p class="soft">{failure.failure.help}</p>}
        <Button onClick={() => void file.load()}>{t().tryAgain}</Button>
      </div>
    );
  }
  if (!file.server.value)
    return (
      <p class="empty soft" aria-busy="true">
        {t().loading}
      </p>
    );
  const of = preset.value;
  const isUnreadable = file.value.value === undefined;
  // The text stays the same element when it breaks and when it is fixed: somebody is typing in it.
  const isText = isUnreadable || (!of && file.server.value.kind !== "agent" && file.server.value.kind !== "preset");
  const shown = isText ? "text" : view.value;
  return (
    <section class={`preset-page of-${shown}`} aria-labelledby="preset-title">
      <h1 id="preset-title" class="hidden">
        {t().labeled(t().pageNames.preset, file.server.value.path)}
      </h1>
      {of && <Remember of={of} />}
      <div class="preset-head" data-sticky={shown === "text" ? undefined : "top"}>
        {(!isText || isUnreadable) && <Toolbar file={file} of={of} />}
        {shown === "list" && of && of.entries.length > 0 && <ListBar of={of} />}
      </div>
      {isUnreadable && <Unreadable file={file} />}
      {file.server.value.more !== undefined && of && (
        <p class="bar-note" role="status" data-test="more">
          {t().firstEntries(of.entries.length, of.entries.length + file.server.value.more)}
        </p>
      )}
      {shown === "text" && <TextView key={file.id} file={file} />}
      {shown !== "text" && !of && <NoList file={file} />}
      {shown === "placed" && of && <PlacedView of={of} />}
      {shown === "list" && of && <EntryList of={of} />}
      {shown !== "text" && of && (
        <div class="preset-foot" data-sticky="bottom">
          {shown === "list" && <Selection of={of} />}
          <Total of={of} />
        </div>
      )}
    </section>
  );
}

/** Remembers the saved entries for the filter "Changed since save". */
function Remember({ of }: { of: Preset }) {
  const view = of.file.server.value;
  const isSent = of.file.pending.value.length === 0;
  useEffect(() => {
    if (view && isSent) rememberSaved(view, of.entries);
  }, [view, isSent]);
  return null;
}

/** A file that cannot be parsed: what is wrong, above its text. */
function Unreadable({ file }: { file: OpenFile }) {
  const first = file.server.value?.findings.find(({ severity }) => severity === "error");
  return (
    <p class="bar-note error" role="alert">
      <Icon name="circle-alert" />
      <span>
        {file.server.value?.isCut ? t().tooLargeToEdit : t().unreadable}{" "}
        {first && (
          <b>
            {first.line !== undefined && `${first.line}:${first.column ?? 1} `}
            {first.message}
          </b>
        )}
      </span>
    </p>
  );
}

function NoList({ file }: { file: OpenFile }) {
  const isObject = typeof file.value.value === "object" && file.value.value !== null;
  return (
    <div class="empty">
      <p>{t().noEntries}</p>
      {isObject && !file.isReadOnly.value && (
        <Button
          kind="main"
          icon="plus"
          onClick={() =>
            file.edit({
              op: "set",
              pointer: "/presetMessages",
              value: [{ role: "system", content: "" }, { type: "chat_history" }],
            })
          }
        >
          {t().beginPreset}
        </Button>
      )}
      <Button icon="code" onClick={() => (view.value = "text")}>
        {t().views.text}
      </Button>
    </div>
  );
}

function Total({ of }: { of: Preset }) {
  const shown = preview.value;
  if (!shown) return null;
  const areOpen = view.value === "list" && of.entries.some(({ key }) => expanded.value.has(key));
  const own = Object.values(shown.entryTokens).reduce((sum, tokens) => sum + tokens, 0);
  const all = shown.usage.tokens;
  return (
    <div class="total">
      <span data-test="total">
        {all === undefined ? t().totalOfEntries(figure(own)) : t().totalOf(figure(own), figure(all))}
      </span>
      {areOpen && (
        <Button kind="quiet" onClick={() => (expanded.value = new Set())}>
          {t().closeAll}
        </Button>
      )}
    </div>
  );
}
