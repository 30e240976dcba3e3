// A worldbook: its entries as a table with an editor next to it, or its text.
import { useEffect, useState } from "preact/hooks";
import { current, filesOf, openFile } from "../project";
import { t } from "../language";
import { Icon } from "../ui/icon";
import { Button } from "../ui/button";
import { Check } from "../ui/field";
import { inputs } from "../turn";
import { TextView } from "../preset/text-view";
import { NO_FILTERS } from "./arrange";
import { BookDialog } from "./book-dialog";
import { added, type BookEntry } from "./entries";
import { EntrySide, focusEntryEditor, revealOpenEntry } from "./entry-side";
import { EntryTable } from "./entry-table";
import { FilterBar } from "./filter-bar";
import { Bulk } from "./bulk";
import { ScanBox } from "./scan-box";
import {
  bookEntries,
  bookView,
  filters,
  isTesting,
  openEntry,
  setFilters,
  shownEntries,
  typed,
  type BookView,
} from "./state";
import type { OpenFile } from "../files";

const VIEWS: BookView[] = ["entries", "text"];

export function BooksPage() {
  useEffect(() => {
    document.addEventListener("keydown", focusSearch);
    return () => document.removeEventListener("keydown", focusSearch);
  }, []);
  const file = current.value;
  const books = t().books;
  if (filesOf("worldbook").length === 0 || !file) return <p class="empty">{books.none}</p>;
  if (!file.server.value) return <p class="empty soft">{file.failure.value?.message || t().loading}</p>;
  const entries = bookEntries.value;
  const isUnreadable = file.value.value === undefined;
  const shown = isUnreadable || !entries ? "text" : bookView.value;
  const open = shown === "entries" ? entries?.find(({ pointer }) => pointer === openEntry.value) : undefined;
  return (
    <section class={`books-page ${open ? "has-side" : ""}`} aria-labelledby="books-title">
      <h1 id="books-title" class="hidden">
        {t().labeled(t().pageNames.books, file.server.value.path)}
      </h1>
      <Tools file={file} shown={shown} hasEntries={entries !== undefined} />
      {!isUnreadable && !entries && (
        <p class="bar-note">
          <Icon name="info" />
          {books.otherForm}
        </p>
      )}
      {shown === "text" && <TextView key={file.id} file={file} />}
      {shown === "entries" && entries && (
        <div class="book-body">
          <Entries key={file.id} file={file} entries={entries} />
          {open && <EntrySide key={`side ${file.id}`} file={file} entry={open} />}
        </div>
      )}
    </section>
  );
}

function Tools({ file, shown, hasEntries }: { file: OpenFile; shown: BookView; hasEntries: boolean }) {
  const [isChoosing, setChoosing] = useState(false);
  const { books } = t();
  const { worldbooks } = inputs.value;
  return (
    <div class="toolbar" role="toolbar" aria-label={t().pageNames.books}>
      {filesOf("worldbook").length > 1 && (
        <Button icon="book-open" label={books.open} onClick={() => setChoosing(true)} testId="open-book">
          {file.server.value?.path}
        </Button>
      )}
      <span class="choice" role="group" aria-label={t().viewAs}>
        {VIEWS.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={shown === name}
            disabled={name === "entries" && !hasEntries}
            onClick={() => (bookView.value = name)}
            data-test={`books-${name}`}
          >
            {books.views[name]}
          </button>
        ))}
      </span>
      {shown === "entries" && (
        <Button icon="play" pressed={isTesting.value} title={books.testHelp} onClick={switchTest} testId="books-test">
          {books.test}
        </Button>
      )}
      <Check
        label={books.inTurn}
        isChecked={worldbooks.includes(file.id)}
        onChange={() => (inputs.value = { ...inputs.value, worldbooks: switched(worldbooks, file.id) })}
      />
      <span class="gap" />
      {shown === "entries" && (
        <Button
          icon="plus"
          label={t().addEntry}
          isDisabled={file.isReadOnly.value}
          onClick={() => add(file)}
          testId="add-book-entry"
        >
          {t().entry}
        </Button>
      )}
      {isChoosing && (
        <BookDialog title={books.open} choose={({ id }) => openFile("books", id)} close={() => setChoosing(false)} />
      )}
    </div>
  );
}

function Entries({ file, entries }: { file: OpenFile; entries: BookEntry[] }) {
  const shown = shownEntries.value;
  return (
    <div class="book-main">
      <FilterBar entries={entries} shown={shown} />
      {isTesting.value && <ScanBox />}
      <EntryTable file={file} entries={shown} />
      {shown.length === 0 && <p class="empty soft">{entries.length === 0 ? t().emptyList : t().books.noMatch}</p>}
      <Bulk file={file} entries={entries} />
    </div>
  );
}

function switched(ids: readonly string[], id: string): string[] {
  return ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id];
}

/** Ending the test also ends its text and its filter. */
function switchTest(): void {
  isTesting.value = !isTesting.value;
  if (isTesting.value) return;
  typed.value = undefined;
  setFilters({ states: [] });
}

/** Clears the filters, which could hide the new entry. */
function add(file: OpenFile): void {
  const { pointer, edit } = added(file.value.peek());
  file.edit(edit);
  filters.value = { ...NO_FILTERS, sort: filters.peek().sort };
  openEntry.value = pointer;
  revealOpenEntry();
  focusEntryEditor();
}

/** As in many applications, a slash goes to the search. */
function focusSearch(event: KeyboardEvent): void {
  const isField = event.target instanceof HTMLElement && event.target.closest("input, textarea, select, .cm-editor, dialog");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isField) return;
  event.preventDefault();
  document.querySelector<HTMLElement>("[data-test=book-query]")?.focus();
}
