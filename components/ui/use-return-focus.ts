"use client";

import { useRef } from "react";

/** The element that had the focus; for an item of a menu, which is gone once it was chosen, the button that opened the menu. */
const openerOf = (active: Element | null): HTMLElement | null => {
  const menu = active?.closest('[role="menu"]');
  const button = document.getElementById(menu?.getAttribute("aria-labelledby") ?? "");
  return button ?? (active instanceof HTMLElement ? active : null);
};

/**
 * Gives the focus back to the button that opened a dialog, or to the page where that button is gone. The opener is read while the dialog is
 * first drawn, because a field with `autoFocus` takes the focus as soon as the dialog is in the page.
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
