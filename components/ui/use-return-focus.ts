"use client";

import { useRef } from "react";

/** The element that had the focus; for an item of a menu, which is gone once it was chosen, the button that opened the menu. */
const openerOf = (active: Element | null): HTMLElement | null => {
  const menu = active?.closest('[role="menu"]');
  const button = document.getElementById(menu?.getAttribute("aria-labelledby") ?? "");
  return button ?? (active instanceof HTMLElement ? active : null);
};

/**
 * Gives the focus back to what opened a dialog; to the page where that is gone. The opener is read while the open dialog is first drawn: once it
 * is in the page, a field of it with `autoFocus` has the focus already.
 * @returns Radix's `onCloseAutoFocus`
 */
export const useReturnFocus = (open: boolean): ((event: Event) => void) => {
  const opener = useRef<HTMLElement | null>(null);
  const wasOpen = useRef(false);
  if (open !== wasOpen.current) {
    wasOpen.current = open;
    if (open && typeof document !== "undefined") opener.current = openerOf(document.activeElement);
  }
  return (event) => {
    event.preventDefault();
    const target = opener.current?.isConnected === true ? opener.current : document.getElementById("content");
    target?.focus();
  };
};
