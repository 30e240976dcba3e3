// A button that opens a list of commands: arrows, Home, End and letters choose; Escape closes and gives the focus back.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Icon } from "./icon";

export interface MenuItem {
  label: string;
  icon?: string;
  keys?: string;
  detail?: string;
  isDisabled?: boolean;
  isDangerous?: boolean;
  /** A line above it. */
  isFirstOfPart?: boolean;
  /** Shown as chosen or not. */
  checked?: boolean;
  testId?: string;
  run: () => void;
}

export function Menu({
  label,
  icon,
  items,
  children,
  class: className,
  testId,
  isDisabled,
}: {
  label: string;
  icon?: string;
  items: () => MenuItem[];
  children?: ComponentChildren;
  class?: string;
  testId?: string;
  isDisabled?: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = (isFocusKept = true) => {
    setOpen(false);
    if (isFocusKept) button.current?.focus();
  };
  return (
    <span class="menu-place">
      <button
        ref={button}
        type="button"
        class={className ?? (children === undefined ? "icon-button" : "button plain")}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={children === undefined ? label : undefined}
        title={label}
        disabled={isDisabled}
        data-test={testId}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" || event.altKey) return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {icon && <Icon name={icon} />}
        {children !== undefined && <span>{children}</span>}
      </button>
      {isOpen && button.current && <List label={label} items={items()} close={close} button={button.current} />}
    </span>
  );
}

function List({
  label,
  items,
  close,
  button,
}: {
  label: string;
  items: MenuItem[];
  close: (isFocusKept?: boolean) => void;
  button: HTMLButtonElement;
}) {
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    // Into the top layer: the row around it is contained, and would cut it off.
    if (typeof element.showPopover === "function") element.showPopover();
    place(element, button);
    options(element)[0]?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    const outside = (event: PointerEvent) => {
      const target = event.target as Node;
      if (!list.current?.contains(target) && !button.contains(target)) close(false);
    };
    const moved = (event: Event) => {
      // A resize comes from the window, which is no part of the page.
      const isInside = event.target instanceof Node && list.current?.contains(event.target);
      if (!isInside) close(false);
    };
    document.addEventListener("pointerdown", outside, true);
    document.addEventListener("scroll", moved, true);
    addEventListener("resize", moved);
    return () => {
      document.removeEventListener("pointerdown", outside, true);
      document.removeEventListener("scroll", moved, true);
      removeEventListener("resize", moved);
    };
  }, []);

  const onKeyDown = (event: KeyboardEvent) => {
    const all = options(list.current);
    const at = all.indexOf(document.activeElement as HTMLElement);
    const focus = (index: number) => all[(index + all.length) % all.length]?.focus();
    if (event.key === "ArrowDown") focus(at + 1);
    else if (event.key === "ArrowUp") focus(at - 1);
    else if (event.key === "Home") focus(0);
    else if (event.key === "End") focus(-1);
    else if (event.key === "Escape") close();
    else if (event.key === "Tab") return close();
    else if (event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey) {
      const letter = event.key.toLocaleLowerCase();
      const next = [...all.slice(at + 1), ...all].find((one) =>
        one.textContent?.trim().toLocaleLowerCase().startsWith(letter),
      );
      next?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={list} class="menu" popover="manual" role="menu" aria-label={label} onKeyDown={onKeyDown}>
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role={item.checked === undefined ? "menuitem" : "menuitemradio"}
          tabIndex={-1}
          aria-checked={item.checked}
          aria-disabled={item.isDisabled ? "true" : undefined}
          data-test={item.testId}
          class={`${item.isDangerous ? "danger" : ""} ${item.isFirstOfPart ? "part" : ""}`}
          onClick={() => {
            if (item.isDisabled) return;
            close();
            item.run();
          }}
        >
          {item.checked === undefined ? (
            <Icon name={item.icon ?? "none"} />
          ) : (
            <Icon name={item.checked ? "check" : "none"} />
          )}
          <span class="what">
            {item.label}
            {item.detail && <small>{item.detail}</small>}
          </span>
          {item.keys && <kbd>{item.keys}</kbd>}
        </button>
      ))}
    </div>
  );
}

function options(list: HTMLElement | null): HTMLElement[] {
  return list ? [...list.querySelectorAll<HTMLElement>("button")] : [];
}

/** Below the button, or above it where there is no room; never outside of the window. */
function place(list: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect();
  const size = list.getBoundingClientRect();
  const isAbove = at.bottom + size.height + 8 > innerHeight && at.top - size.height > 8;
  const left = Math.min(Math.max(8, at.left), innerWidth - size.width - 8);
  const top = isAbove
    ? at.top - size.height - 4
    : Math.min(at.bottom + 4, innerHeight - Math.min(size.height, innerHeight - 16) - 8);
  list.style.left = `${left}px`;
  list.style.top = `${Math.max(8, top)}px`;
}
