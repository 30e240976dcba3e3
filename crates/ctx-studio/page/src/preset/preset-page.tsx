// One list of entries in the order of the file, the same entries at their places, or the file's text.
import { current, currentId } from "../project";
import { preview } from "../preview";
import { figure, t } from "../language";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { EntryList } from "./entry-list";
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
        <p><Icon name="circle-alert" />{failure.message || t().offline}</p>
        {failure.failure.help && <p class="soft">{failure.failure.help}</p>}
        <Button onClick={() => void file.load()}>{t().tryAgain}</Button>
      </div>
    );
  }
  if (!file.server.value) return <p class="empty soft" aria-busy="true">{t().loading}</p>;
  if (file.value.value === undefined) return <Unreadable file={file} />;
  const of = preset.value;
  return (
    <section class="preset-page" aria-labelledby="preset-title">
      <h1 id="preset-title" class="hidden">{t().pageNames.preset}: {file.server.value.path}</h1>
      <Toolbar file={file} of={of} />
      {view.value === "text" ? <TextView key={file.id} file={file} /> : !of ? <NoList file={file} /> : view.value === "placed" ? <PlacedView of={of} /> : <EntryList of={of} />}
      {of && view.value === "list" && <Selection of={of} />}
      {of && view.value !== "text" && <Total of={of} />}
    </section>
  );
}

/** A file that cannot be parsed: its text, with the place. */
function Unreadable({ file }: { file: OpenFile }) {
  const first = file.server.value?.findings.find(({ severity }) => severity === "error");
  return (
    <section class="preset-page" aria-labelledby="preset-title">
      <h1 id="preset-title" class="hidden">{file.server.value?.path}</h1>
      <p class="bar-note error" role="alert"><Icon name="circle-alert" />
        <span>{t().unreadable} {first && <b>{first.line !== undefined && `${first.line}:${first.column ?? 1} `}{first.message}</b>}</span>
      </p>
      <TextView key={file.id} file={file} />
    </section>
  );
}

function NoList({ file }: { file: OpenFile }) {
  const isObject = typeof file.value.value === "object" && file.value.value !== null;
  return (
    <div class="empty">
      <p>{t().noEntries}</p>
      {isObject && !file.isReadOnly.value && (
        <Button kind="main" icon="plus" onClick={() => file.edit({ op: "set", pointer: "/presetMessages", value: [{ role: "system", content: "" }, { type: "chat_history" }] })}>{t().beginPreset}</Button>
      )}
      <Button icon="code" onClick={() => (view.value = "text")}>{t().views.text}</Button>
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
      <span data-test="total">{all === undefined ? t().totalOfEntries(figure(own)) : t().totalOf(figure(own), figure(all))}</span>
      {areOpen && <Button kind="quiet" onClick={() => (expanded.value = new Set())}>{t().closeAll}</Button>}
    </div>
  );
}
