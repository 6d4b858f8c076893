"use client";

import { useRef } from "react";

/** The element that had the focus; for an item of a menu, which is gone once it was chosen, the button that opened the menu. */
const openerOf = (active: Element | null): HTMLElement | null => {
  const menu = active?.closest('[role="menu"]');
  const button = document.getElementById(menu?.getAttribute("aria-labelledby") ?? "");
  return button ?? (active instanceof HTMLElement ? active : null);
};

interface ReturnFocus {
  /** Called before the dialog takes the focus. */
  readonly remember: () => void;
  readonly onCloseAutoFocus: (event: Event) => void;
}

/** Gives the focus back to what opened a dialog; to the page where that is gone. */
export const useReturnFocus = (): ReturnFocus => {
  const opener = useRef<HTMLElement | null>(null);
  return {
    remember: () => {
      opener.current = openerOf(document.activeElement);
    },
    onCloseAutoFocus: (event) => {
      event.preventDefault();
      const target = opener.current?.isConnected === true ? opener.current : document.getElementById("content");
      target?.focus();
    },
  };
};
