/**
 * Toasts: short notes at the edge of the window. Their library is loaded after the first key, click
 * or note, so that it delays no page.
 */

let wanted = false;
const listeners = new Set<() => void>();

/** Makes `Toaster` load its library, then show all notes, also earlier ones. */
export const wantToasts = (): void => {
  if (wanted) return;
  wanted = true;
  for (const listener of listeners) listener();
};

export const toastsWanted = (): boolean => wanted;

export const subscribeToToasts = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const show =
  (kind: "success" | "error" | "info") =>
  (text: string): void => {
    wantToasts();
    void import("sonner").then(({ toast: sonner }) => sonner[kind](text));
  };

/** Shows a short note. Messages that people must act on belong in the page instead. */
export const toast = { success: show("success"), error: show("error"), info: show("info") };
