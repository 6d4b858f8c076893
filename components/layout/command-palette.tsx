"use client";

import { Dialog } from "radix-ui";
import type { ReactNode } from "react";
import { useReturnFocus } from "@/components/ui/use-return-focus";
import { PaletteContent } from "./palette-content";

interface PaletteProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

/** Ctrl/⌘ K: go somewhere, make something, find a record by its name, or paste a hash, an address or an id. */
export const CommandPalette = ({ open, onOpenChange }: PaletteProps): ReactNode => {
  const onCloseAutoFocus = useReturnFocus(open);
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 animate-fade-in bg-overlay" />
        <Dialog.Content
          aria-describedby={undefined}
          onCloseAutoFocus={onCloseAutoFocus}
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-32px)] max-w-xl -translate-x-1/2 animate-fade-in overflow-hidden rounded-dialog border bg-surface shadow-float"
        >
          <Dialog.Title className="sr-only">Go to or search</Dialog.Title>
          <PaletteContent close={() => onOpenChange(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
};
