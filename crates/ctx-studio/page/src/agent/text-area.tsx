// A field of several lines that grows with its text. A value from outside waits until the field is left.
import { useEffect, useRef, useState } from "preact/hooks";
import { useId } from "../ui/field";

export function TextArea({
  label,
  value,
  onInput,
  isDisabled,
  isLabelHidden,
  placeholder,
  help,
  rows = 2,
  testId,
}: {
  label: string;
  value: string;
  onInput: (next: string) => void;
  isDisabled?: boolean;
  isLabelHidden?: boolean;
  placeholder?: string;
  help?: string;
  rows?: number;
  testId?: string;
}) {
  const id = useId();
  const [text, setText] = useState(value);
  const isFocused = useRef(false);
  const isComposing = useRef(false);
  useEffect(() => {
    if (!isFocused.current) setText(value);
  }, [value]);
  return (
    <label class="field wide" for={id}>
      <span class={isLabelHidden ? "hidden" : "label"}>{label}</span>
      <textarea
        id={id}
        class="growing"
        rows={Math.max(rows, Math.min(24, text.split("\n").length))}
        value={text}
        placeholder={placeholder}
        disabled={isDisabled}
        aria-describedby={help ? `${id}-help` : undefined}
        data-test={testId}
        onFocus={() => (isFocused.current = true)}
        onBlur={() => {
          isFocused.current = false;
          if (text !== value) setText(value);
        }}
        onCompositionStart={() => (isComposing.current = true)}
        onCompositionEnd={(event) => {
          isComposing.current = false;
          onInput(event.currentTarget.value);
        }}
        onInput={(event) => {
          setText(event.currentTarget.value);
          if (!isComposing.current) onInput(event.currentTarget.value);
        }}
      />
      {help && (
        <small id={`${id}-help`} class="soft">
          {help}
        </small>
      )}
    </label>
  );
}
