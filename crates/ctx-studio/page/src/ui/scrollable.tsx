// A text that can be focused if it has a scroll bar. The keyboard can then scroll it.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

export function Scrollable({
  label,
  children,
  onPointerLeave,
  ...rest
}: {
  label: string;
  children: ComponentChildren;
  class: string;
  onPointerLeave?: () => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const mark = () => {
    const element = box.current;
    if (!element) return;
    if (element.scrollHeight > element.clientHeight) element.tabIndex = 0;
    else element.removeAttribute("tabindex");
  };
  useLayoutEffect(mark);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(mark);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={box} class={rest.class} role="group" aria-label={label} onPointerLeave={onPointerLeave}>
      {children}
    </div>
  );
}
