// A worldbook: its entries as a table, what a turn makes of them, or its text.
import { current, filesOf } from "../project";
import { t } from "../language";
import { Icon } from "../ui/icon";
import { Button } from "../ui/button";
import { Check } from "../ui/field";
import { inputs } from "../turn";
import { TextView } from "../preset/text-view";
import { added } from "./entries";
import { bookEntries, bookView, openEntries, scan, type BookView } from "./state";
import { EntryTable } from "./entry-table";
import { Bulk } from "./bulk";
import { TestPane } from "./test-pane";
import type { OpenFile } from "../files";

const VIEWS: BookView[] = ["entries", "test", "text"];

export function BooksPage() {
  const file = current.value;
  const books = t().books;
  if (filesOf("worldbook").length === 0 || !file) return <p class="empty">{books.none}</p>;
  if (!file.server.value) return <p class="empty soft">{file.failure.value?.message || t().loading}</p>;
  const entries = bookEntries.value;
  const isUnreadable = file.value.value === undefined;
  const shown = isUnreadable || (!entries && bookView.value === "entries") ? "text" : bookView.value;
  return (
    <section class="books-page" aria-labelledby="books-title">
      <h1 id="books-title" class="hidden">
        {t().labeled(t().pageNames.books, file.server.value.path)}
      </h1>
      <div class="toolbar" role="toolbar" aria-label={t().pageNames.books}>
        <span class="choice" role="group" aria-label={t().viewAs}>
          {VIEWS.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={shown === name}
              disabled={name === "entries" && !entries}
              onClick={() => (bookView.value = name)}
              data-test={`books-${name}`}
            >
              {books.views[name]}
            </button>
          ))}
        </span>
        <span class="soft" role="status" data-test="scan-figures">
          {scan.value && books.active(scan.value.entries.filter(isActive).length, scan.value.entries.length)}
        </span>
        <Check
          label={books.inTurn}
          isChecked={inputs.value.worldbooks.includes(file.id)}
          onChange={() => (inputs.value = { ...inputs.value, worldbooks: switched(inputs.value.worldbooks, file.id) })}
        />
        <span class="gap" />
        {shown === "entries" && (
          <Button icon="plus" isDisabled={file.isReadOnly.value} onClick={() => add(file)} testId="add-book-entry">
            {t().entry}
          </Button>
        )}
      </div>
      {!isUnreadable && !entries && (
        <p class="bar-note">
          <Icon name="info" />
          {books.otherForm}
        </p>
      )}
      {shown === "text" && <TextView key={file.id} file={file} />}
      {shown === "entries" && entries && <EntryTable key={file.id} file={file} entries={entries} />}
      {shown === "entries" && entries && <Bulk file={file} entries={entries} />}
      {shown === "test" && <TestPane />}
    </section>
  );
}

function switched(ids: readonly string[], id: string): string[] {
  return ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id];
}

const isActive = ({ state }: { state: string }) => state === "active";

function add(file: OpenFile): void {
  const { pointer, edit } = added(file.value.peek(), bookEntries.peek() ?? []);
  file.edit(edit);
  openEntries.value = new Set([...openEntries.peek(), pointer]);
}
