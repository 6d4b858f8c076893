"use client";

import { useEffect, useState } from "react";

interface ListKeys {
  readonly keys: readonly string[];
  /** Enter on the active row. */
  readonly onOpen: (key: string) => void;
}

const typesText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) ||
    target.closest("[role=dialog]") !== null);

/** Enter belongs to the row from here on, and no longer to the button that was pressed last. */
const letGoOfFocus = (): void => {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
};

/** j and k move through a list, Enter opens, Escape lets go. Give the answer to `Table` as `activeKey`. */
export const useListKeys = ({ keys, onOpen }: ListKeys): string | null => {
  const [active, setActive] = useState<string | null>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || typesText(event.target)) return;
      if (event.key === "j" || event.key === "k") letGoOfFocus();
      const index = active === null ? -1 : keys.indexOf(active);
      if (event.key === "j") setActive(keys[Math.min(index + 1, keys.length - 1)] ?? null);
      else if (event.key === "k") setActive(keys[Math.max(index - 1, 0)] ?? null);
      else if (event.key === "Escape") setActive(null);
      else if (event.key === "Enter" && active !== null && event.target === document.body) onOpen(active);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [keys, active, onOpen]);
  return active !== null && keys.includes(active) ? active : null;
};
