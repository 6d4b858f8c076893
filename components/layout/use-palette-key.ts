"use client";

import { useEffect } from "react";

interface Palette {
  readonly open: boolean;
  readonly setOpen: (open: boolean) => void;
}

/** Ctrl/⌘ K opens and closes the palette. */
export const usePaletteKey = ({ open, setOpen }: Palette): void => {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      setOpen(!open);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [open, setOpen]);
};
