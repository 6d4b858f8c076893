"use client";

import { Command } from "cmdk";
import {
  ArrowLeftRight,
  CornerDownLeft,
  HandCoins,
  KeyRound,
  Landmark,
  Moon,
  Send,
  Sun,
  VenetianMask,
  type LucideIcon,
} from "lucide-react";
import { useTheme } from "next-themes";
import { useRouter } from "next/navigation";
import { Dialog } from "radix-ui";
import { useEffect, useState, type ReactNode } from "react";
import { toast } from "sonner";
import { useApi } from "@/components/features/session/use-api";
import { usePublicConfig } from "@/components/providers/public-config";
import { GROUP_LOOKS } from "@/components/ui/combobox";
import { findJump } from "./jump";
import { NAVIGATION } from "./navigation";

interface PaletteProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

/** Ctrl/⌘ K: go somewhere, make something, or paste a hash, an address or an id. */
export const CommandPalette = ({ open, onOpenChange }: PaletteProps): ReactNode => {
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
          className="fixed top-[12vh] left-1/2 z-50 w-[calc(100vw-32px)] max-w-xl -translate-x-1/2 animate-fade-in overflow-hidden rounded-dialog border bg-surface shadow-float"
        >
          <Dialog.Title className="sr-only">Go to or search</Dialog.Title>
          <PaletteContent close={() => onOpenChange(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
};

const PaletteContent = ({ close }: { readonly close: () => void }): ReactNode => {
  const [text, setText] = useState("");
  const router = useRouter();
  const api = useApi();
  const { devnet } = usePublicConfig();
  const { setTheme } = useTheme();
  const go = (href: string): void => {
    close();
    router.push(href);
  };
  const jump = findJump(text.trim());
  const runJump = async (): Promise<void> => {
    if (jump === null) return;
    close();
    const href = await jump.find(api);
    if (href === null) toast.info(jump.notFound);
    else router.push(href);
  };
  return (
    <Command label="Go to or search" loop>
      <Command.Input
        value={text}
        onValueChange={setText}
        placeholder="Go to, create, or paste a hash, address or id"
        className="h-11 w-full border-b bg-transparent px-4 text-lg outline-none placeholder:text-fg-3"
      />
      <Command.List className="max-h-[50vh] overflow-y-auto p-1.5">
        <Command.Empty className="px-2.5 py-3 text-fg-3">Nothing found.</Command.Empty>
        {jump === null ? null : (
          <Command.Group heading="Jump to" className={GROUP_LOOKS} forceMount>
            <PaletteItem icon={CornerDownLeft} value={text} onSelect={() => void runJump()}>
              {jump.label}
            </PaletteItem>
          </Command.Group>
        )}
        <Command.Group heading="Go to" className={GROUP_LOOKS}>
          {NAVIGATION.filter((item) => devnet || item.developmentOnly !== true).map((item) => (
            <PaletteItem key={item.href} icon={item.icon} value={`go to ${item.label}`} onSelect={() => go(item.href)}>
              {item.label}
            </PaletteItem>
          ))}
        </Command.Group>
        <Command.Group heading="Create" className={GROUP_LOOKS}>
          <PaletteItem icon={ArrowLeftRight} value="create new swap" onSelect={() => go("/swap")}>
            New swap
          </PaletteItem>
          <PaletteItem icon={Send} value="create new transfer send" onSelect={() => go("/transfer")}>
            New transfer
          </PaletteItem>
          <PaletteItem icon={Landmark} value="create open new global account" onSelect={() => go("/accounts?new=true")}>
            New global account
          </PaletteItem>
          <PaletteItem icon={HandCoins} value="create new payout pay accounts" onSelect={() => go("/payouts/new")}>
            New payout
          </PaletteItem>
          <PaletteItem icon={VenetianMask} value="create shield private deposit" onSelect={() => go("/private/shield")}>
            Shield money
          </PaletteItem>
          <PaletteItem icon={VenetianMask} value="create new private transfer" onSelect={() => go("/private/transfer")}>
            New private transfer
          </PaletteItem>
          <PaletteItem icon={KeyRound} value="create new API key" onSelect={() => go("/api-keys?create=1")}>
            New API key
          </PaletteItem>
        </Command.Group>
        <Command.Group heading="Theme" className={GROUP_LOOKS}>
          <PaletteItem icon={Sun} value="light theme" onSelect={() => setTheme("light")}>
            Light theme
          </PaletteItem>
          <PaletteItem icon={Moon} value="dark theme" onSelect={() => setTheme("dark")}>
            Dark theme
          </PaletteItem>
        </Command.Group>
      </Command.List>
    </Command>
  );
};

interface PaletteItemProps {
  readonly icon: LucideIcon;
  readonly value: string;
  readonly onSelect: () => void;
  readonly children: ReactNode;
}

const PaletteItem = ({ icon: Icon, value, onSelect, children }: PaletteItemProps): ReactNode => (
  <Command.Item
    value={value}
    onSelect={onSelect}
    className="flex h-9 cursor-default items-center gap-2.5 rounded-control px-2.5 data-[selected=true]:bg-sunken touch-target"
  >
    <Icon className="size-4 shrink-0 text-fg-3" aria-hidden />
    {children}
  </Command.Item>
);
