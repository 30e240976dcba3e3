// The open entry, next to the table or covering it in a narrow window: scan result and fields.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ScannedEntry } from "../api";
import type { OpenFile } from "../files";
import { figure, t } from "../language";
import { Button, IconButton, Switch } from "../ui/button";
import { findingsByEntry, flag, setAll, titleOf, type BookEntry } from "./entries";
import { EntryEditor } from "./entry-editor";
import { FoundText } from "./found-text";
import { isScanning, openEntry, scan, scanFailure, shownEntries, tested } from "./state";
import { State } from "./state-label";

const TITLE = "book-entry-title";

/** Acts on an element after it is rendered, which can take some frames. */
function whenRendered(selector: string, act: (found: HTMLElement) => void, frames = 30): void {
  requestAnimationFrame(() => {
    const found = document.querySelector<HTMLElement>(selector);
    if (found) act(found);
    else if (frames > 0) whenRendered(selector, act, frames - 1);
  });
}

export function focusEntryEditor(): void {
  whenRendered(".book-side [data-test=book-name]", (name) => name.focus());
}

export function revealOpenEntry(): void {
  whenRendered(".book-entries tr.open", (row) => row.scrollIntoView({ block: "nearest" }));
}

export function EntrySide({ file, entry }: { file: OpenFile; entry: BookEntry }) {
  const side = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    // If it covers the table, the focused row is hidden.
    const isHidden = document.activeElement && getComputedStyle(document.activeElement).visibility === "hidden";
    if (isHidden) document.getElementById(TITLE)?.focus();
  }, []);
  useLayoutEffect(() => {
    if (side.current) side.current.scrollTop = 0;
  }, [entry.pointer]);
  const { back, earlier, later } = t().books;
  const title = titleOf(entry);
  const rows = shownEntries.value;
  const at = rows.findIndex(({ pointer }) => pointer === entry.pointer);
  const step = (to: number, icon: string, label: string) => (
    <IconButton
      icon={icon}
      label={label}
      isDisabled={at < 0 || !rows[to]}
      onClick={() => {
        openEntry.value = rows[to]?.pointer;
        revealOpenEntry();
      }}
    />
  );
  const close = () => {
    openEntry.value = undefined;
    whenRendered(`.book-entries tr[data-uid="${CSS.escape(entry.uid)}"] th button`, (row) => row.focus());
  };
  return (
    <section
      ref={side}
      class="book-side"
      aria-labelledby={TITLE}
      data-test="book-side"
      onKeyDown={(event) => {
        const isText = event.target instanceof HTMLElement && event.target.isContentEditable;
        if (event.key === "Escape" && !event.defaultPrevented && !isText) close();
      }}
    >
      <header>
        <Button icon="chevron-right" class="book-back" onClick={close} testId="book-back">
          {back}
        </Button>
        <Switch
          isOn={!flag(entry, "disable")}
          label={t().switchOne(title)}
          isDisabled={file.isReadOnly.value}
          onChange={(next) => file.edit(...setAll([entry], "disable", !next))}
        />
        <h2 id={TITLE} tabIndex={-1}>
          {title}
        </h2>
        {step(at - 1, "arrow-up", earlier)}
        {step(at + 1, "arrow-down", later)}
        <IconButton class="close" icon="x" label={t().close} onClick={close} testId="book-close" />
      </header>
      <Why key={`why ${entry.pointer}`} entry={entry} />
      <EntryEditor
        key={entry.pointer}
        file={file}
        entry={entry}
        findings={findingsByEntry(file.server.value?.findings ?? []).get(entry.pointer) ?? []}
      />
    </section>
  );
}

/** Scan result of the entry: its state, the reason, and its matched keys. */
function Why({ entry }: { entry: BookEntry }) {
  const { why, whyNot, notScanned } = t().books;
  const found = tested.value.get(entry.pointer);
  const failure = scanFailure.value;
  if (!found)
    return (
      <p class="scan-why soft" data-test="why">
        {failure ? failure.message || t().offline : isScanning.value ? t().loading : notScanned}
      </p>
    );
  const isActive = found.state === "active";
  return (
    <section class={`scan-why ${isActive ? "active" : ""}`} aria-label={isActive ? why : whyNot} data-test="why">
      <p>
        <b>{isActive ? why : whyNot}</b> <State of={found} />
      </p>
      {found.why && <p data-test="reason">{found.why}</p>}
      <Facts found={found} />
      <Hits found={found} />
    </section>
  );
}

function Facts({ found }: { found: ScannedEntry }) {
  const { passOf, budgetOf } = t().books;
  const budget = scan.value?.budget;
  const facts = [
    found.place,
    ...(found.pass === undefined ? [] : [passOf(found.pass)]),
    ...(found.tokens === undefined ? [] : [`${figure(found.tokens)} ${t().tokens}`]),
    // The used budget explains this state.
    ...(found.state === "budget" && budget !== undefined
      ? [t().labeled(t().books.budgetLabel, budgetOf(figure(scan.value?.tokens ?? 0), figure(budget)))]
      : []),
  ];
  return <p class="soft">{t().listed(facts)}</p>;
}

function Hits({ found }: { found: ScannedEntry }) {
  const [shown, show] = useState<number | undefined>(undefined);
  const hit = shown === undefined ? undefined : found.hits[shown];
  return (
    <>
      {found.hits.length > 0 && (
        <p class="key-hits">
          {found.hits.map(({ key, text }, at) =>
            text === undefined ? (
              <span key={at} class="key-chip">
                {key}
              </span>
            ) : (
              <button
                key={at}
                type="button"
                class="key-chip"
                title={t().books.showPlace}
                aria-expanded={shown === at}
                onClick={() => show(shown === at ? undefined : at)}
                data-test="hit"
              >
                {key}
              </button>
            ),
          )}
        </p>
      )}
      {hit && scan.value && <FoundText found={scan.value} hit={hit} close={() => show(undefined)} />}
    </>
  );
}
