// Buttons: with a text, or a picture whose text is its label.
import type { ComponentChildren, Ref } from "preact";
import { Icon } from "./icon";

export interface ButtonProps {
  onClick?: (event: MouseEvent) => void;
  icon?: string;
  children?: ComponentChildren;
  kind?: "plain" | "main" | "quiet" | "danger";
  isDisabled?: boolean;
  title?: string;
  keys?: string;
  buttonRef?: Ref<HTMLButtonElement>;
  pressed?: boolean;
  /** Whether the area that the button toggles is open. */
  isExpanded?: boolean;
  class?: string;
  testId?: string;
  /** The whole name, where the text is short. */
  label?: string;
}

export function Button({
  onClick,
  icon,
  children,
  kind = "plain",
  isDisabled,
  title,
  keys,
  buttonRef,
  pressed,
  isExpanded,
  testId,
  label,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      ref={buttonRef}
      class={`button ${kind} ${rest.class ?? ""}`}
      onClick={onClick}
      disabled={isDisabled}
      title={title ?? label}
      aria-label={label}
      aria-keyshortcuts={keys}
      aria-pressed={pressed}
      aria-expanded={isExpanded}
      data-test={testId}
    >
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

/** A button that shows only a picture. */
export function IconButton({
  label,
  icon,
  onClick,
  isDisabled,
  keys,
  buttonRef,
  pressed,
  testId,
  ...rest
}: {
  label: string;
  icon: string;
  onClick?: (event: MouseEvent) => void;
  isDisabled?: boolean;
  keys?: string;
  buttonRef?: Ref<HTMLButtonElement>;
  pressed?: boolean;
  class?: string;
  testId?: string;
}) {
  return (
    <button
      type="button"
      ref={buttonRef}
      class={`icon-button ${rest.class ?? ""}`}
      onClick={onClick}
      disabled={isDisabled}
      title={keys ? `${label} (${keys})` : label}
      aria-label={label}
      aria-keyshortcuts={keys?.replaceAll("Ctrl", "Control")}
      aria-pressed={pressed}
      data-test={testId}
    >
      <Icon name={icon} />
    </button>
  );
}

/** On or off. */
export function Switch({
  isOn,
  label,
  onChange,
  isDisabled,
  isRadio,
}: {
  isOn: boolean;
  label: string;
  onChange: (next: boolean) => void;
  isDisabled?: boolean;
  isRadio?: boolean;
}) {
  return (
    <button
      type="button"
      role="switch"
      class={`switch ${isRadio ? "radio" : ""}`}
      aria-checked={isOn}
      aria-label={label}
      title={label}
      disabled={isDisabled}
      onClick={() => onChange(!isOn)}
    >
      <span class="knob" />
    </button>
  );
}
