// Tabs: arrows move between them, and the chosen one names its panel.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

export interface Tab<Name extends string> {
  name: Name;
  label: string;
  count?: number;
}

export function Tabs<Name extends string>({
  label,
  tabs,
  chosen,
  choose,
  children,
  id,
}: {
  label: string;
  tabs: Tab<Name>[];
  chosen: Name;
  choose: (next: Name) => void;
  children: ComponentChildren;
  id: string;
}) {
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.findIndex(({ name }) => name === chosen);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const to = step ? (at + step + tabs.length) % tabs.length : { Home: 0, End: tabs.length - 1 }[event.key];
    const next = to === undefined ? undefined : tabs[to];
    if (!next) return;
    event.preventDefault();
    choose(next.name);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[to ?? 0]?.focus();
  };
  return (
    <>
      <div ref={list} class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.name}
            type="button"
            role="tab"
            id={`${id}-${tab.name}`}
            aria-selected={tab.name === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={tab.name === chosen ? 0 : -1}
            onClick={() => choose(tab.name)}
          >
            {tab.label}
            {tab.count !== undefined && <span class="count">{tab.count}</span>}
          </button>
        ))}
      </div>
      <div class="panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`} tabIndex={-1}>
        {children}
      </div>
    </>
  );
}
