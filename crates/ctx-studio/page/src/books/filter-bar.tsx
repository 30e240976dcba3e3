// Search, filters, and the order of the table.
import { figure, t } from "../language";
import { Button } from "../ui/button";
import { Select } from "../ui/field";
import { NO_FILTERS, SHOWS, SORTS, type Filters } from "./arrange";
import type { BookEntry } from "./entries";
import { canCompare, filters, setFilters, tested } from "./state";

export function FilterBar({ entries, shown }: { entries: BookEntry[]; shown: BookEntry[] }) {
  const { books } = t();
  const { query, show, position, sort, states } = filters.value;
  const active = [...tested.value.values()].filter(({ state }) => state === "active").length;
  const isFiltered = query !== "" || show !== "all" || position !== "" || states.length > 0;
  const shows = SHOWS.filter((name) => name !== "changed" || canCompare.value || show === name);
  return (
    <div class="book-filters" role="search">
      <input
        type="search"
        aria-label={books.search}
        placeholder={books.search}
        value={query}
        spellcheck={false}
        data-test="book-query"
        onInput={(event) => setFilters({ query: event.currentTarget.value })}
      />
      <Select
        label={books.show}
        isLabelHidden
        value={show}
        options={shows.map((value) => ({ value, label: books.shows[value] }))}
        onChange={(next) => setFilters({ show: next as Filters["show"] })}
        testId="book-show"
      />
      <Select
        label={books.columns.place}
        isLabelHidden
        value={position}
        options={[
          { value: "", label: books.anyPosition },
          ...books.positions.map((label, at) => ({ value: String(at), label })),
        ]}
        onChange={(next) => setFilters({ position: next })}
        testId="book-position"
      />
      <Select
        label={books.sort}
        isLabelHidden
        value={sort}
        options={SORTS.map((value) => ({ value, label: books.sorts[value] }))}
        onChange={(next) => setFilters({ sort: next as Filters["sort"] })}
        testId="book-sort"
      />
      <span class="soft" role="status" data-test="book-count">
        {t().listed([
          books.count(figure(shown.length), figure(entries.length)),
          ...(tested.value.size > 0 ? [books.active(figure(active))] : []),
        ])}
      </span>
      {isFiltered && (
        <Button kind="quiet" onClick={() => setFilters({ ...NO_FILTERS, sort })} testId="clear-filters">
          {books.clear}
        </Button>
      )}
    </div>
  );
}
