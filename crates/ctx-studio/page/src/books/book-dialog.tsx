// A choice among the worldbooks of the folder, with search: Enter takes the first match.
import { useState } from "preact/hooks";
import type { ProjectFile } from "../api";
import { filesOf } from "../project";
import { t } from "../language";
import { Dialog } from "../ui/dialog";
import { Icon } from "../ui/icon";

export function BookDialog({
  title,
  labelOf = ({ path }) => path,
  choose,
  close,
}: {
  title: string;
  labelOf?: (book: ProjectFile) => string;
  choose: (book: ProjectFile) => void;
  close: () => void;
}) {
  const [query, setQuery] = useState("");
  const { find, noneFound } = t().books;
  const books = filesOf("worldbook").filter(({ path }) => path.toLowerCase().includes(query.trim().toLowerCase()));
  const take = (book: ProjectFile) => {
    close();
    // The closing dialog restores the focus first.
    setTimeout(() => choose(book));
  };
  const focus = (event: KeyboardEvent, step: number) => {
    const all = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("input, .book-options button")];
    event.preventDefault();
    all[Math.max(0, Math.min(all.length - 1, all.indexOf(event.target as HTMLElement) + step))]?.focus();
  };
  return (
    <Dialog title={title} onClose={close}>
      <div
        class="book-choice"
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") focus(event, 1);
          else if (event.key === "ArrowUp") focus(event, -1);
        }}
      >
        <input
          type="search"
          aria-label={find}
          placeholder={find}
          value={query}
          data-autofocus
          data-test="book-search"
          onInput={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={(event) => {
            const [first] = books;
            if (event.key !== "Enter" || event.isComposing || !first) return;
            // Otherwise the key would press the button that gets the focus back.
            event.preventDefault();
            take(first);
          }}
        />
        <ul class="book-options" data-test="book-options">
          {books.map((book) => (
            <li key={book.id}>
              <button type="button" onClick={() => take(book)}>
                <Icon name="book-open" />
                <span>{labelOf(book)}</span>
              </button>
            </li>
          ))}
        </ul>
        {books.length === 0 && (
          <p class="soft" role="status">
            {noneFound}
          </p>
        )}
      </div>
    </Dialog>
  );
}
