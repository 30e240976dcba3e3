// Fields that keep the typed text. Outside values wait until a lazy field loses the focus.
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface FieldProps {
  label: string;
  value: string;
  onInput: (next: string) => void;
  /** Called when the field is left or Enter is pressed, if it should not be told of every letter. */
  isLazy?: boolean;
  placeholder?: string;
  type?: "text" | "datetime-local";
  isInvalid?: boolean;
  help?: string;
  list?: string;
  isDisabled?: boolean;
  size?: "short" | "normal" | "wide";
  isLabelHidden?: boolean;
  /** Several lines; the field grows with its text. */
  rows?: number;
  inputMode?: "numeric" | "decimal" | "text";
  testId?: string;
  step?: string;
  isAutofocused?: boolean;
  /** Set if the label and the help are drawn elsewhere. */
  id?: string;
  describedBy?: string;
}

let lastId = 0;
export function useId(): string {
  return useState(() => `f${++lastId}`)[0];
}

/** The element around a control; a label, unless the control has one elsewhere. */
function tagOf(id: string | undefined): "label" {
  return (id === undefined ? "label" : "span") as "label";
}

export function Field(props: FieldProps) {
  const { label, value, onInput, isLazy, size = "normal", help } = props;
  const ownId = useId();
  const id = props.id ?? ownId;
  const Tag = tagOf(props.id);
  const area = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(value);
  const isFocused = useRef(false);
  const isComposing = useRef(false);
  /** Whether a lazy field has unsent text. */
  const isTyped = useRef(false);
  const isTelling = useRef(false);
  // Shows outside values before the next key press, but keeps the typed form of the field's own value.
  useLayoutEffect(() => {
    const isOther = isLazy ? !isTyped.current : !isTelling.current && !isComposing.current;
    if (!isFocused.current || isOther) setText(value);
  }, [value]);
  const caret = area.current && isFocused.current ? area.current.selectionStart : undefined;
  const shown = area.current?.value ?? text;
  useLayoutEffect(() => {
    // Setting another text puts the caret at its end.
    if (caret !== undefined && shown !== text) {
      const at = placeIn(text, shown, caret);
      area.current?.setSelectionRange(at, at);
    }
  }, [text]);
  useLayoutEffect(() => {
    isTelling.current = false;
  });
  const tell = (next: string) => {
    isTyped.current = false;
    isTelling.current = true;
    if (next !== value) onInput(next);
  };
  const control = {
    id,
    value: text,
    placeholder: props.placeholder,
    disabled: props.isDisabled,
    "aria-invalid": props.isInvalid ? ("true" as const) : undefined,
    "aria-describedby": props.describedBy ?? (help ? `${id}-help` : undefined),
    "data-test": props.testId,
    "data-autofocus": props.isAutofocused,
    onFocus: () => (isFocused.current = true),
    onBlur: () => {
      isFocused.current = false;
      if (isLazy) tell(text);
      else if (text !== value) setText(value);
    },
    onCompositionStart: () => (isComposing.current = true),
    onCompositionEnd: (event: Typed) => {
      isComposing.current = false;
      if (!isLazy) tell(event.currentTarget.value);
    },
    onInput: (event: Typed) => {
      isTyped.current = true;
      setText(event.currentTarget.value);
      if (!isLazy && !isComposing.current) tell(event.currentTarget.value);
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key === "Enter" && isLazy && !event.isComposing) tell(text);
    },
  };
  return (
    <Tag class={`field ${size}`} for={props.id ? undefined : id}>
      {!props.id && <span class={props.isLabelHidden ? "hidden" : "label"}>{label}</span>}
      {props.rows === undefined ? (
        <input
          {...control}
          type={props.type ?? "text"}
          list={props.list}
          inputMode={props.inputMode}
          autoComplete="off"
          spellcheck={false}
          step={props.step}
        />
      ) : (
        <textarea {...control} ref={area} class="growing" rows={Math.max(props.rows, Math.min(24, text.split("\n").length))} />
      )}
      {help && (
        <small id={`${id}-help`} class={props.isInvalid ? "wrong" : "soft"}>
          {help}
        </small>
      )}
    </Tag>
  );
}

interface Typed {
  currentTarget: HTMLInputElement | HTMLTextAreaElement;
}

/** The place in a text that was a place in another text. */
function placeIn(text: string, before: string, at: number): number {
  let same = 0;
  while (same < at && text[same] === before[same]) same++;
  return same === at ? at : Math.max(same, at + text.length - before.length);
}

export interface Option {
  value: string;
  label: string;
  isDisabled?: boolean;
}

export function Select({
  label,
  value,
  options,
  more,
  onChange,
  isLabelHidden,
  isDisabled,
  testId,
  size = "normal",
  help,
  ...elsewhere
}: {
  label: string;
  value: string;
  options: Option[];
  /** Options that stand below the others, under a name of their own. */
  more?: { label: string; options: Option[] };
  onChange: (next: string) => void;
  isLabelHidden?: boolean;
  isDisabled?: boolean;
  testId?: string;
  size?: string;
  help?: string;
  /** As of a field. */
  id?: string;
  describedBy?: string;
}) {
  const ownId = useId();
  const id = elsewhere.id ?? ownId;
  const Tag = tagOf(elsewhere.id);
  // A value that no option has must not look like the first option.
  const isThere = [...options, ...(more?.options ?? [])].some((option) => option.value === value);
  const all = isThere ? options : [{ value, label: value || "–" }, ...options];
  const drawn = (option: Option) => (
    <option key={option.value} value={option.value} disabled={option.isDisabled}>
      {option.label}
    </option>
  );
  return (
    <Tag class={`field ${size}`} for={elsewhere.id ? undefined : id}>
      {!elsewhere.id && <span class={isLabelHidden ? "hidden" : "label"}>{label}</span>}
      <select
        id={id}
        value={value}
        disabled={isDisabled}
        aria-describedby={elsewhere.describedBy ?? (help ? `${id}-help` : undefined)}
        data-test={testId}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {all.map(drawn)}
        {more && more.options.length > 0 && <optgroup label={more.label}>{more.options.map(drawn)}</optgroup>}
      </select>
      {help && (
        <small id={`${id}-help`} class="soft">
          {help}
        </small>
      )}
    </Tag>
  );
}

export function Check({
  label,
  isChecked,
  onChange,
  isDisabled,
}: {
  label: string;
  isChecked: boolean;
  onChange: (next: boolean) => void;
  isDisabled?: boolean;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isChecked}
        disabled={isDisabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}
