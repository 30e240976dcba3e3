// A picture of the sprite. It says nothing to a screen reader: the text beside it does.
export function Icon({ name }: { name: string }) {
  return (
    <svg class="icon" aria-hidden="true" focusable="false">
      <use href={`#icon-${name}`} />
    </svg>
  );
}
