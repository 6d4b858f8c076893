"use client";

import { Search } from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { useCallback, useState, type ReactNode } from "react";
import { NotificationBell } from "@/components/features/notifications/notification-bell";
import { NetworkHealth } from "@/components/features/system/network-health";
import { Button } from "@/components/ui/button";
import { Kbd } from "@/components/ui/kbd";
import { AccountMenu } from "./account-menu";
import { Logo, Wordmark } from "./logo";
import { NavList } from "./nav-list";
import { OfflineNotice } from "./offline-notice";
import { PhoneBar } from "./phone-bar";
import { ProjectSwitcher } from "./project-switcher";
import { ThemeSwitch } from "./theme-switch";
import { usePaletteKey } from "./use-palette-key";

// Both are opened by a key or a click, so no page carries them at first.
const CommandPalette = dynamic(() => import("./command-palette").then((module) => module.CommandPalette), {
  ssr: false,
});
const Drawer = dynamic(() => import("./drawer").then((module) => module.Drawer), { ssr: false });

/** A dialog stays once it was opened, so that it can close before the eye and give the focus back. */
const useDialog = () => {
  const [open, set] = useState(false);
  const [wasOpened, setWasOpened] = useState(false);
  const setOpen = useCallback((next: boolean): void => {
    set(next);
    if (next) setWasOpened(true);
  }, []);
  return { open, setOpen, wasOpened };
};

const SKIP_LOOKS =
  "sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-60 focus:rounded-control focus:bg-accent focus:px-3 focus:py-2 focus:text-on-accent";

/** Everything around a page: sidebar or phone bar, header, palette. */
export const AppShell = ({ children }: { readonly children: ReactNode }): ReactNode => {
  const palette = useDialog();
  const drawer = useDialog();
  usePaletteKey(palette);
  return (
    <div className="md:grid md:grid-cols-[13.5rem_minmax(0,1fr)] print:block!">
      <a href="#content" className={SKIP_LOOKS}>
        Skip to content
      </a>
      <aside className="print:hidden! sticky top-0 hidden h-dvh flex-col gap-3 border-r bg-surface px-3 pt-3 md:flex">
        <Link href="/" className="flex h-8 items-center px-2">
          <Wordmark />
        </Link>
        <ProjectSwitcher />
        {/* The list scrolls where the window is low; the state of the system stays in sight. */}
        <div className="-mx-3 min-h-0 flex-1 overflow-y-auto px-3">
          <NavList />
        </div>
        <div className="-mx-3 border-t px-3 py-1">
          <NetworkHealth />
        </div>
      </aside>
      <div className="flex min-h-dvh min-w-0 flex-col">
        <header className="print:hidden sticky top-0 z-20 flex h-12 items-center gap-2 border-b bg-bg px-4">
          <Link href="/" aria-label="Causeway, overview" className="mr-auto md:hidden">
            <Logo />
          </Link>
          <Button
            size="sm"
            className="font-normal text-fg-3 max-md:order-none md:mr-auto md:w-72 md:justify-start"
            onClick={() => palette.setOpen(true)}
            aria-keyshortcuts="Control+K Meta+K"
          >
            <Search aria-hidden />
            <span className="max-md:sr-only">Go to or search …</span>
            <span aria-hidden className="ml-auto flex gap-0.5 max-md:hidden">
              <Kbd>Ctrl</Kbd>
              <Kbd>K</Kbd>
            </span>
          </Button>
          <NotificationBell />
          <ThemeSwitch />
          <AccountMenu />
        </header>
        <OfflineNotice />
        <main id="content" tabIndex={-1} className="mx-auto w-full max-w-[80rem] flex-1 p-4 pb-24 outline-none md:p-6">
          {children}
        </main>
      </div>
      <PhoneBar onMore={() => drawer.setOpen(true)} />
      {palette.wasOpened ? <CommandPalette open={palette.open} onOpenChange={palette.setOpen} /> : null}
      {drawer.wasOpened ? <Drawer open={drawer.open} onOpenChange={drawer.setOpen} /> : null}
    </div>
  );
};
