"use client";

import { X } from "lucide-react";
import { AlertDialog, Dialog as Primitive } from "radix-ui";
import { type ReactNode, useRef, useState } from "react";
import { Button, IconButton } from "./button";
import { cn } from "./cn";
import { AmountsShownProvider } from "./hidden-amounts";
import { ActionError } from "./states";

const OVERLAY_LOOKS = "fixed inset-0 z-50 animate-fade-in bg-overlay";
const PANEL_LOOKS =
  "fixed z-50 flex outline-none max-h-[calc(100dvh-32px)] animate-pop-in flex-col overflow-hidden border bg-surface shadow-float inset-x-0 bottom-0 rounded-t-dialog sm:inset-x-auto sm:top-1/2 sm:bottom-auto sm:left-1/2 sm:w-[calc(100vw-32px)] sm:-translate-1/2 sm:rounded-dialog";

export interface DialogProps {
  /** Default: true, for dialogs that are mounted only while open. */
  readonly open?: boolean;
  /** Called on Esc, the close button and a click beside the dialog. */
  readonly onClose: () => void;
  readonly title: string;
  readonly description?: ReactNode;
  readonly footer?: ReactNode;
  readonly size?: "sm" | "md" | "lg" | "xl";
  readonly children?: ReactNode;
}

const SIZES = {
  sm: "sm:max-w-md",
  md: "sm:max-w-lg",
  lg: "sm:max-w-2xl",
  xl: "sm:max-w-4xl",
} as const;

/**
 * Without an `autoFocus` field, the dialog itself gets the focus, because focus on the close button
 * would open its tooltip.
 */
const focusPanel = (event: Event): void => {
  event.preventDefault();
  if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
};

export const Dialog = ({
  open = true,
  onClose,
  title,
  description,
  footer,
  size = "md",
  children,
}: DialogProps): ReactNode => {
  const onCloseAutoFocus = useReturnFocus(open);
  return (
    <Primitive.Root open={open} onOpenChange={() => onClose()}>
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
            {/* A person who approves an amount must see it, even if the page hides amounts. */}
            <AmountsShownProvider value>{children}</AmountsShownProvider>
          </div>
          {footer === undefined ? null : (
            <footer className="flex flex-wrap justify-end gap-2 border-t px-4 py-3">
              {footer}
            </footer>
          )}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
};

interface ActionDialogProps {
  /** Default: true, for dialogs that are mounted only while open. */
  readonly open?: boolean;
  /** Called when the person closes the dialog, and after the action. */
  readonly onClose: () => void;
  readonly title: string;
  /** Says what the confirmed action does, and whether it can be undone. */
  readonly description: ReactNode;
  readonly confirmLabel: string;
  readonly cancelLabel?: string;
  readonly tone?: "primary" | "danger";
  /** The mutation that `onConfirm` runs. Its error is shown, and reset when the dialog closes. */
  readonly action?: { readonly error: unknown; readonly reset: () => void };
  /** Says where the money is after an error. */
  readonly money?: string;
  /** The dialog closes when it resolves, and stays for another try when it rejects. */
  readonly onConfirm: () => Promise<void> | void;
}

/** Asks before an action that cannot be undone. The focus is on the safe answer. */
export const ActionDialog = (props: ActionDialogProps): ReactNode => {
  const { open = true, action, tone = "danger" } = props;
  const [busy, setBusy] = useState(false);
  const onCloseAutoFocus = useReturnFocus(open);
  const close = (): void => {
    action?.reset();
    props.onClose();
  };
  const confirm = async (): Promise<void> => {
    setBusy(true);
    try {
      await props.onConfirm();
      close();
    } catch {
      // The dialog shows the error of `action`.
    } finally {
      setBusy(false);
    }
  };
  return (
    <AlertDialog.Root open={open} onOpenChange={close}>
      <AlertDialog.Portal>
        {/* Same z-index as dialogs and later in the document, so it covers the dialog below. */}
        <AlertDialog.Overlay className={cn(OVERLAY_LOOKS, "z-50")} />
        <AlertDialog.Content
          className={cn(PANEL_LOOKS, SIZES.sm, "gap-2 p-4")}
          onCloseAutoFocus={onCloseAutoFocus}
        >
          <AlertDialog.Title className="text-lg font-semibold">{props.title}</AlertDialog.Title>
          <AlertDialog.Description asChild>
            <div className="flex flex-col gap-2 text-fg-2">
              <div>{props.description}</div>
              <ActionError error={action?.error} money={props.money} />
            </div>
          </AlertDialog.Description>
          <div className="mt-2 flex flex-wrap justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>{props.cancelLabel ?? "Cancel"}</Button>
            </AlertDialog.Cancel>
            <Button variant={tone} loading={busy} onClick={() => void confirm()}>
              {props.confirmLabel}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
};

interface DialogButtonsProps {
  readonly onCancel: () => void;
  readonly busy: boolean;
  readonly disabled?: boolean;
  readonly tone?: "primary" | "danger";
  /** When absent, the button submits the surrounding form. */
  readonly onAct?: () => void;
  readonly children: ReactNode;
}

export const DialogButtons = (props: DialogButtonsProps): ReactNode => (
  <div className="flex justify-end gap-2">
    <Button onClick={props.onCancel}>Cancel</Button>
    <Button
      type={props.onAct === undefined ? "submit" : "button"}
      variant={props.tone ?? "primary"}
      loading={props.busy}
      disabled={props.disabled}
      onClick={props.onAct}
    >
      {props.children}
    </Button>
  </div>
);

let lastFocused: Element | null = null;
if (typeof document !== "undefined")
  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof Element) lastFocused = target;
  });

/**
 * The focused element. For a menu item, which disappears once chosen, the button that opened the
 * menu.
 */
const openerOf = (focused: Element | null): HTMLElement | null => {
  // A dialog whose code is loaded at its opening appears after the menu is gone, and before the
  // menu has returned the focus. The body then has the focus, so the element before it is used.
  const active = focused === document.body ? lastFocused : focused;
  const menu = active?.closest('[role="menu"]');
  const button = document.getElementById(menu?.getAttribute("aria-labelledby") ?? "");
  return button ?? (active instanceof HTMLElement ? active : null);
};

/**
 * Returns the focus to the button that opened a dialog, or to the page when that button is gone.
 * The opener is read during the first rendering, because a field with `autoFocus` takes the focus
 * as soon as the dialog is mounted.
 * @returns Radix's `onCloseAutoFocus`
 */
export const useReturnFocus = (open: boolean): ((event: Event) => void) => {
  const opener = useRef<HTMLElement | null>(null);
  const wasOpen = useRef(false);
  if (open !== wasOpen.current) {
    wasOpen.current = open;
    if (open && typeof document !== "undefined")
      opener.current = openerOf(document.activeElement);
  }
  return (event) => {
    event.preventDefault();
    if (opener.current?.isConnected === true) opener.current.focus();
    // A scroll to the start of the content would move the title below the bar.
    else document.getElementById("content")?.focus({ preventScroll: true });
  };
};
