// Search, filter and sort controls above the list.
import { useEffect, useRef, useState } from "preact/hooks";
import { roleName, t } from "../language";
import { Button, IconButton } from "../ui/button";
import { Check, Select } from "../ui/field";
import { Icon } from "../ui/icon";
import { roleOf } from "./entries";
import { fold, folded } from "./folds";
import { isPlaceholder } from "./label";
import {
  filter,
  filterCount,
  foldIds,
  isFiltered,
  query,
  showAll,
  shownEntries,
  sort,
  type Filter,
  type SortName,
} from "./list-view";
import { isSavedKnown } from "../saved-entries";
import type { Preset } from "./actions";

const SORTS: SortName[] = ["file", "name", "tokens"];

export function ListBar({ of }: { of: Preset }) {
  const [isOpen, setOpen] = useState(false);
  const search = useRef<HTMLInputElement>(null);
  useSearchKeys(search);
  const shown = shownEntries.value.length;
  const ids = foldIds.value;
  const areFolded = ids.length > 0 && ids.every((id) => folded.value.has(id));
  return (
    <>
      <div class="list-bar" role="search" data-sticky="top" aria-label={t().preset.search}>
        <span class="search-field">
          <Icon name="search" />
          <input
            ref={search}
            type="search"
            value={query.value}
            placeholder={t().preset.searchHint}
            aria-label={t().preset.search}
            aria-keyshortcuts="/ Control+F"
            autoComplete="off"
            spellcheck={false}
            data-test="search-entries"
            onInput={(event) => (query.value = event.currentTarget.value)}
            onKeyDown={onSearchKey}
          />
        </span>
        <Button
          icon="settings-2"
          testId="filter"
          isExpanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          class={filterCount.value > 0 ? "used" : ""}
        >
          {filterCount.value > 0 ? t().preset.filterOf(filterCount.value) : t().filter}
        </Button>
        <Select
          label={t().preset.sort}
          isLabelHidden
          value={sort.value}
          options={SORTS.map((name) => ({ value: name, label: t().preset.sorts[name] }))}
          onChange={(name) => (sort.value = name as SortName)}
          testId="sort"
        />
        {ids.length > 0 && (
          <IconButton
            icon={areFolded ? "chevron-right" : "chevron-down"}
            label={areFolded ? t().preset.unfoldAll : t().preset.foldAll}
            testId="fold-all"
            onClick={() => fold(ids, !areFolded)}
          />
        )}
        <span class="count" role="status" data-test="count">
          {isFiltered.value ? t().chosenOf(shown, of.entries.length) : t().entries(of.entries.length)}
        </span>
      </div>
      {isOpen && <Filters of={of} />}
      {sort.value !== "file" && <p class="soft sort-note">{t().preset.fileOrderOnly}</p>}
    </>
  );
}

function Filters({ of }: { of: Preset }) {
  const { states, types, anyRole } = t().preset;
  const set = (change: Partial<Filter>) => (filter.value = { ...filter.value, ...change });
  const roles = [...new Set(of.entries.filter((entry) => !isPlaceholder(entry)).map(roleOf))].sort();
  const view = of.file.server.value;
  const isKnown = view !== undefined && isSavedKnown(view);
  const options = (names: Record<string, string>) => Object.entries(names).map(([value, label]) => ({ value, label }));
  return (
    <div class="filters" role="group" aria-label={t().filter}>
      <Select
        label={t().preset.state}
        value={filter.value.state}
        options={options(states)}
        onChange={(state) => set({ state: state as Filter["state"] })}
        testId="filter-state"
      />
      <Select
        label={t().preset.type}
        value={filter.value.type}
        options={options(types)}
        onChange={(type) => set({ type: type as Filter["type"] })}
        testId="filter-type"
      />
      <Select
        label={t().role}
        value={filter.value.role}
        options={[{ value: "", label: anyRole }, ...roles.map((role) => ({ value: role, label: roleName(role) }))]}
        onChange={(role) => set({ role })}
        testId="filter-role"
      />
      <span data-test="filter-changed" title={isKnown ? undefined : t().preset.changedUnknown}>
        <Check
          label={t().preset.changed}
          isChecked={filter.value.isChanged}
          isDisabled={!isKnown && !filter.value.isChanged}
          onChange={(isChanged) => set({ isChanged })}
        />
      </span>
      {isFiltered.value && (
        <Button kind="quiet" onClick={showAll} testId="show-all">
          {t().preset.showAll}
        </Button>
      )}
    </div>
  );
}

/** Down and Enter go to the first match. Escape clears the search, then goes to the list. */
function onSearchKey(event: KeyboardEvent): void {
  if (event.isComposing) return;
  if (event.key === "Escape" && query.peek() !== "") query.value = "";
  else if (event.key === "ArrowDown" || event.key === "Enter" || event.key === "Escape")
    document.querySelector<HTMLElement>(".entries > li:not([hidden]) [data-part=main]")?.focus();
  else return;
  event.preventDefault();
}

const FIELDS = "input:not([type=checkbox]), textarea, select, [contenteditable=true]";

/** Focuses the search on `/` outside of fields, and on Ctrl+F outside of text editors, which have their own search. */
function useSearchKeys(search: { current: HTMLInputElement | null }): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const at = event.target instanceof Element ? event.target : document.body;
      if (document.querySelector("dialog[open]") || at.closest("aside, .text-editor") || event.altKey) return;
      const isControl = event.ctrlKey || event.metaKey;
      const isFind = isControl && !event.shiftKey && event.key.toLowerCase() === "f";
      const isSlash = !isControl && event.key === "/" && !at.closest(FIELDS);
      if (!isFind && !isSlash) return;
      event.preventDefault();
      search.current?.focus();
      search.current?.select();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}
