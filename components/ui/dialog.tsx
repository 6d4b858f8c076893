"use client";

import { X } from "lucide-react";
import { AlertDialog, Dialog as Primitive } from "radix-ui";
import { useState, type ReactNode } from "react";
import { Button, IconButton } from "./button";
import { cn } from "./cn";
import { AmountsShownProvider } from "./hidden-amounts";
import { useReturnFocus } from "./use-return-focus";

const OVERLAY_LOOKS = "fixed inset-0 z-50 animate-fade-in bg-overlay";
const PANEL_LOOKS =
  "fixed z-50 flex outline-none max-h-[calc(100dvh-32px)] animate-pop-in flex-col overflow-hidden border bg-surface shadow-float inset-x-0 bottom-0 rounded-t-dialog sm:inset-x-auto sm:top-1/2 sm:bottom-auto sm:left-1/2 sm:w-[calc(100vw-32px)] sm:-translate-1/2 sm:rounded-dialog";

interface DialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly description?: ReactNode;
  /** Buttons at the bottom right. */
  readonly footer?: ReactNode;
  readonly size?: "sm" | "md" | "lg" | "xl";
  readonly children?: ReactNode;
}

const SIZES = { sm: "sm:max-w-md", md: "sm:max-w-lg", lg: "sm:max-w-2xl", xl: "sm:max-w-4xl" } as const;

/** Without a field that asks for it, the focus goes to the dialog as a whole: on the close button it would open its tooltip. */
const focusPanel = (event: Event): void => {
  event.preventDefault();
  if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
};

/** A controlled dialog; slides up from the bottom on phones. Esc and the close button ask `onOpenChange(false)`. */
export const Dialog = ({
  open,
  onOpenChange,
  title,
  description,
  footer,
  size = "md",
  children,
}: DialogProps): ReactNode => {
  const onCloseAutoFocus = useReturnFocus(open);
  return (
    <Primitive.Root open={open} onOpenChange={onOpenChange}>
      <Primitive.Portal>
        <Primitive.Overlay className={OVERLAY_LOOKS} />
        <Primitive.Content
          className={cn(PANEL_LOOKS, SIZES[size])}
          onOpenAutoFocus={focusPanel}
          onCloseAutoFocus={onCloseAutoFocus}
          {...(description === undefined ? { "aria-describedby": undefined } : {})}
        >
          <header className="flex items-start justify-between gap-4 border-b px-4 py-3">
            <div>
              <Primitive.Title className="text-lg font-semibold">{title}</Primitive.Title>
              {description === undefined ? null : (
                <Primitive.Description asChild>
                  <div className="text-sm text-fg-2">{description}</div>
                </Primitive.Description>
              )}
            </div>
            <Primitive.Close asChild>
              <IconButton label="Close">
                <X aria-hidden />
              </IconButton>
            </Primitive.Close>
          </header>
          <div className="min-h-0 overflow-y-auto p-4">
            {/* A person who approves an amount has to see it, also where the page hides amounts. */}
            <AmountsShownProvider value>{children}</AmountsShownProvider>
          </div>
          {footer === undefined ? null : (
            <footer className="flex flex-wrap justify-end gap-2 border-t px-4 py-3">{footer}</footer>
          )}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
};

interface ConfirmDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  /** Tells what the confirmed action does, and whether it can be undone. */
  readonly description: ReactNode;
  readonly confirmLabel: string;
  readonly cancelLabel?: string;
  readonly tone?: "primary" | "danger";
  /** The dialog closes when it resolves; when it rejects the dialog stays and the caller shows why. */
  readonly onConfirm: () => Promise<void> | void;
}

/** Asks before something that cannot be undone. The safe answer has the focus. */
export const ConfirmDialog = ({
  open,
  onOpenChange,
  title,
  description,
  confirmLabel,
  cancelLabel = "Cancel",
  tone = "danger",
  onConfirm,
}: ConfirmDialogProps): ReactNode => {
  const [busy, setBusy] = useState(false);
  const onCloseAutoFocus = useReturnFocus(open);
  const confirm = async (): Promise<void> => {
    setBusy(true);
    try {
      await onConfirm();
      onOpenChange(false);
    } catch {
      // The caller shows the reason; the dialog stays so that the person can try again.
    } finally {
      setBusy(false);
    }
  };
  return (
    <AlertDialog.Root open={open} onOpenChange={onOpenChange}>
      <AlertDialog.Portal>
        {/* As high as dialogs, and later in the page: it covers the dialog that asks. */}
        <AlertDialog.Overlay className={cn(OVERLAY_LOOKS, "z-50")} />
        <AlertDialog.Content className={cn(PANEL_LOOKS, SIZES.sm, "gap-2 p-4")} onCloseAutoFocus={onCloseAutoFocus}>
          <AlertDialog.Title className="text-lg font-semibold">{title}</AlertDialog.Title>
          <AlertDialog.Description asChild>
            <div className="text-fg-2">{description}</div>
          </AlertDialog.Description>
          <div className="mt-2 flex flex-wrap justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>{cancelLabel}</Button>
            </AlertDialog.Cancel>
            <Button variant={tone} loading={busy} onClick={() => void confirm()}>
              {confirmLabel}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
};
