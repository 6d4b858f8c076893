"use client";

import dynamic from "next/dynamic";
import { Dialog } from "radix-ui";
import { useEffect, type ReactNode } from "react";
import { Skeleton } from "@/components/ui/skeleton";
import { useReturnFocus } from "@/components/ui/use-return-focus";

interface PaletteProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

// It is opened by a key or a click, so no page carries it at first.
const PaletteContent = dynamic(() => import("./palette-content").then((module) => module.PaletteContent), {
  ssr: false,
  loading: () => (
    <div className="flex h-11 items-center px-4">
      <Skeleton className="w-1/2" />
    </div>
  ),
});

/** Ctrl/⌘ K: go somewhere, make something, find a record by its name, or paste a hash, an address or an id. */
export const CommandPalette = ({ open, onOpenChange }: PaletteProps): ReactNode => {
  const { remember, onCloseAutoFocus } = useReturnFocus();
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      onOpenChange(!open);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [open, onOpenChange]);
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 animate-fade-in bg-overlay" />
        <Dialog.Content
          aria-describedby={undefined}
          onOpenAutoFocus={remember}
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
