// A question that must be answered: the native element keeps the focus inside and gives it back.
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { IconButton } from "./button";
import { t } from "../language";

export function Dialog({
  title,
  children,
  actions,
  onClose,
  isWide,
}: {
  title: string;
  children: ComponentChildren;
  actions?: ComponentChildren;
  onClose: () => void;
  isWide?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const element = dialog.current;
    element?.showModal();
    element?.querySelector<HTMLElement>("[data-autofocus]")?.focus();
    return () => {
      element?.close();
      if (before?.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? "wide" : ""}
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2 id="dialog-title">{title}</h2>
        <IconButton label={t().close} icon="x" onClick={onClose} />
      </header>
      <div class="dialog-body">{children}</div>
      {actions && <footer>{actions}</footer>}
    </dialog>
  );
}
