"use client";

import {
  CircleUserRound,
  Eye,
  EyeOff,
  LogOut,
  Menu,
  Search,
  Settings,
  WifiOff,
} from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { NotificationBell } from "@/components/features/notifications/notifications";
import { type Me, useMe } from "@/components/features/profile/use-me";
import { useSignOut } from "@/components/features/session/use-sign-out";
import { NetworkHealth } from "@/components/features/system/readiness";
import { AddressMark, shorten } from "@/components/ui/address";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { useOnline } from "@/components/ui/use-online";
import {
  DropdownMenu,
  MenuItem,
  MenuLabel,
  MenuSeparator,
} from "@/components/ui/dropdown-menu";
import { useHiddenAmounts } from "@/components/ui/hidden-amounts";
import { Kbd } from "@/components/ui/kbd";
import { Logo, Wordmark } from "./logo";
import { NavList } from "./nav-list";
import { isCurrent, NAVIGATION } from "./navigation";
import { ProjectSwitcher } from "./project-switcher";
import { ThemeSwitch } from "./theme-switch";

// These dialogs are loaded when they open, so that they do not delay the page.
const CommandPalette = dynamic(
  () => import("./command-palette").then((module) => module.CommandPalette),
  {
    ssr: false,
  },
);
const Drawer = dynamic(() => import("./drawer").then((module) => module.Drawer), {
  ssr: false,
});

/**
 * The state of a lazily loaded dialog. Once opened, the dialog stays mounted, so that it can
 * animate its closing and return the focus.
 */
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
        {/* In a low window only the list scrolls, so that the system's state stays visible. */}
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
        <main
          id="content"
          tabIndex={-1}
          className="mx-auto w-full max-w-[80rem] flex-1 p-4 pb-24 outline-none md:p-6"
        >
          {children}
        </main>
      </div>
      <PhoneBar onMore={() => drawer.setOpen(true)} />
      {palette.wasOpened ? (
        <CommandPalette open={palette.open} onOpenChange={palette.setOpen} />
      ) : null}
      {drawer.wasOpened ? <Drawer open={drawer.open} onOpenChange={drawer.setOpen} /> : null}
    </div>
  );
};

/** The verified e-mail address, otherwise the wallet with which the person signs in. */
const Who = ({ me }: { readonly me: Me | undefined }): ReactNode => {
  if (me === undefined) return <span className="max-sm:hidden">Account</span>;
  return me.email !== null && me.emailVerified ? (
    <span className="max-w-24 truncate max-sm:hidden lg:max-w-40 xl:max-w-56" title={me.email}>
      {me.email}
    </span>
  ) : (
    <span className="font-mono max-sm:hidden">{shorten(me.address)}</span>
  );
};

const AccountMenu = (): ReactNode => {
  const { data } = useMe();
  const signOut = useSignOut();
  const [hidden, setHidden] = useHiddenAmounts();
  return (
    <DropdownMenu
      trigger={
        <Button size="sm" aria-label="Account">
          {data === undefined ? (
            <CircleUserRound aria-hidden />
          ) : (
            <AddressMark value={data.address} />
          )}
          <Who me={data} />
        </Button>
      }
    >
      <MenuLabel>
        {data === undefined ? (
          "Signed in"
        ) : (
          <code className="font-mono">{shorten(data.address, 10, 8)}</code>
        )}
      </MenuLabel>
      <MenuSeparator />
      <MenuItem asChild>
        <Link href="/settings">
          <Settings aria-hidden /> Settings
        </Link>
      </MenuItem>
      <MenuItem onSelect={() => setHidden(!hidden)}>
        {hidden ? <Eye aria-hidden /> : <EyeOff aria-hidden />}{" "}
        {hidden ? "Show amounts" : "Hide amounts"}
      </MenuItem>
      <MenuItem onSelect={() => void signOut()}>
        <LogOut aria-hidden /> Sign out
      </MenuItem>
    </DropdownMenu>
  );
};

const OfflineNotice = (): ReactNode => {
  if (useOnline()) return null;
  return (
    <p role="alert" className="flex items-center gap-2 bg-warning-tint px-4 py-2 text-warning">
      <WifiOff className="size-4 shrink-0" aria-hidden />
      You are offline. This page may be out of date. Money that is on its way is not affected.
    </p>
  );
};

const ITEM_LOOKS = "flex h-14 flex-1 flex-col items-center justify-center gap-0.5 text-xs";

const PhoneBar = ({ onMore }: { readonly onMore: () => void }): ReactNode => {
  const path = usePathname();
  return (
    <nav
      aria-label="Quick"
      className="fixed inset-x-0 bottom-0 z-30 flex border-t bg-surface pb-[env(safe-area-inset-bottom)] md:hidden print:hidden"
    >
      {NAVIGATION.filter((item) => item.onPhoneBar === true).map(({ icon: Icon, ...item }) => {
        const current = isCurrent(item.href, path);
        return (
          <Link
            key={item.href}
            href={item.href}
            aria-current={current ? "page" : undefined}
            className={cn(ITEM_LOOKS, current ? "font-medium text-accent" : "text-fg-2")}
          >
            <Icon className="size-5" aria-hidden />
            {item.label}
          </Link>
        );
      })}
      <button type="button" onClick={onMore} className={cn(ITEM_LOOKS, "text-fg-2")}>
        <Menu className="size-5" aria-hidden />
        More
      </button>
    </nav>
  );
};

interface Palette {
  readonly open: boolean;
  readonly setOpen: (open: boolean) => void;
}

const usePaletteKey = ({ open, setOpen }: Palette): void => {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey)
        return;
      event.preventDefault();
      setOpen(!open);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [open, setOpen]);
};
