// "Move to…": moves entries before or after another entry, which is found by name or number.
import { useRef, useState } from "preact/hooks";
import { t } from "../language";
import { Dialog } from "../ui/dialog";
import { Button } from "../ui/button";
import { move } from "./commands";
import { labelOf } from "./label";
import { lower, Marked } from "../ui/marked";
import { focusEntry } from "./state";
import type { Preset } from "./actions";
import type { Entry } from "./entries";

type Side = "before" | "after";
const SIDES: Side[] = ["before", "after"];

/** Entries whose name contains the text, after the entry with this number. */
function found(entries: readonly Entry[], wanted: string): Entry[] {
  const isNumber = ({ index }: Entry) => String(index + 1) === wanted;
  const named = entries.filter((entry) => !isNumber(entry) && lower(labelOf(entry)).includes(wanted));
  return [...entries.filter(isNumber), ...named];
}

export function MoveDialog({ of, chosen, close }: { of: Preset; chosen: Entry[]; close: () => void }) {
  const keys = new Set(chosen.map(({ key }) => key));
  const others = of.entries.filter(({ key }) => !keys.has(key));
  const [text, setText] = useState("");
  const [side, setSide] = useState<Side>("after");
  const [picked, pick] = useState<string | undefined>(() => neighbor(others, chosen)?.key);
  const list = useRef<HTMLUListElement>(null);
  const wanted = lower(text.trim());
  const matches = found(others, wanted);
  const to = matches.find(({ key }) => key === picked) ?? matches[0];
  const run = () => {
    if (!to) return;
    const [first] = chosen;
    close();
    setTimeout(() => {
      move(of, chosen, side === "before" ? to.index : to.index + 1);
      if (first) focusEntry(first.key);
    });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const at = to ? matches.indexOf(to) : -1;
    if (event.key === "Enter") run();
    else {
      const next = { ArrowDown: matches[at + 1], ArrowUp: matches[at - 1] }[event.key];
      if (!next) return;
      pick(next.key);
      list.current?.querySelector(`#move-${next.key}`)?.scrollIntoView({ block: "nearest" });
    }
    event.preventDefault();
  };
  return (
    <Dialog
      title={chosen.length === 1 && chosen[0] ? t().moveOne(labelOf(chosen[0])) : t().moveMany(chosen.length)}
      onClose={close}
      actions={
        <Button kind="main" onClick={run} isDisabled={!to} testId="move-run">
          {t().move}
        </Button>
      }
    >
      <div class="move-place">
        <span class="choice" role="group" aria-label={t().place}>
          {SIDES.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={side === name}
              onClick={() => setSide(name)}
              data-test={`move-${name}`}
            >
              {t().preset.sides[name]}
            </button>
          ))}
        </span>
        <span class="field">
          <input
            type="text"
            role="combobox"
            aria-expanded="true"
            aria-autocomplete="list"
            aria-controls="move-list"
            aria-activedescendant={to && `move-${to.key}`}
            aria-label={t().preset.moveSearch}
            placeholder={t().preset.moveSearch}
            autoComplete="off"
            spellcheck={false}
            value={text}
            data-autofocus
            data-test="move-to"
            onInput={(event) => {
              setText(event.currentTarget.value);
              pick(undefined);
            }}
            onKeyDown={onKeyDown}
          />
        </span>
      </div>
      <ul ref={list} class="move-list" id="move-list" role="listbox" aria-label={t().entriesLabel}>
        {matches.map((entry) => (
          <li
            key={entry.key}
            id={`move-${entry.key}`}
            role="option"
            aria-selected={entry === to}
            onClick={() => pick(entry.key)}
            onDblClick={run}
          >
            <span class="number">{entry.index + 1}</span>
            <span>
              <Marked text={labelOf(entry)} wanted={wanted} />
            </span>
          </li>
        ))}
      </ul>
      {matches.length === 0 && <p class="soft">{t().preset.noMatch}</p>}
    </Dialog>
  );
}

/** The entry above the moved ones. */
function neighbor(others: readonly Entry[], chosen: readonly Entry[]): Entry | undefined {
  const first = chosen[0]?.index ?? 0;
  return others.findLast(({ index }) => index < first) ?? others[0];
}
