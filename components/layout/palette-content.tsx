"use client";

import { Command, useCommandState } from "cmdk";
import {
  ArrowDownToLine,
  ArrowLeftRight,
  BookUser,
  CornerDownLeft,
  Eye,
  EyeOff,
  HandCoins,
  KeyRound,
  Landmark,
  LogOut,
  Monitor,
  Moon,
  Send,
  Sun,
  VenetianMask,
  Wallet,
  type LucideIcon,
} from "lucide-react";
import { useTheme } from "next-themes";
import { useRouter } from "next/navigation";
import { useState, type ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { useApi } from "@/components/features/session/use-api";
import { useSignOut } from "@/components/features/session/use-sign-out";
import { usePublicConfig } from "@/components/providers/public-config";
import { GROUP_LOOKS } from "@/components/ui/combobox";
import { useHiddenAmounts } from "@/components/ui/hidden-amounts";
import { findJump } from "./jump";
import { NAVIGATION } from "./navigation";
import { usePaletteRecords, type PaletteRecord } from "./palette-search";

interface Action {
  readonly icon: LucideIcon;
  readonly label: string;
  /** Further words that find it. */
  readonly words: string;
  readonly href: string;
}

const ACTIONS: readonly Action[] = [
  { icon: ArrowLeftRight, label: "New swap", words: "create exchange", href: "/swap" },
  { icon: Send, label: "New transfer", words: "create send pay", href: "/transfer" },
  { icon: ArrowDownToLine, label: "Receive money", words: "deposit fund address", href: "/receive" },
  { icon: Landmark, label: "New global account", words: "create open", href: "/accounts?new=true" },
  { icon: HandCoins, label: "New payout", words: "create pay many accounts wallets", href: "/payouts/new" },
  { icon: VenetianMask, label: "Shield money", words: "create private deposit", href: "/private/shield" },
  { icon: VenetianMask, label: "New private transfer", words: "create", href: "/private/transfer" },
  { icon: BookUser, label: "New contact", words: "create add address book", href: "/contacts?new=true" },
  { icon: KeyRound, label: "New API key", words: "create", href: "/api-keys?create=1" },
];

const KINDS = {
  account: { heading: "Global accounts", icon: Landmark },
  contact: { heading: "Contacts: send to", icon: BookUser },
  wallet: { heading: "Wallets", icon: Wallet },
  payout: { heading: "Payouts", icon: HandCoins },
} as const satisfies Record<PaletteRecord["kind"], { heading: string; icon: LucideIcon }>;

export const PaletteContent = ({ close }: { readonly close: () => void }): ReactNode => {
  const [text, setText] = useState("");
  const router = useRouter();
  const { devnet } = usePublicConfig();
  const { setTheme } = useTheme();
  const signOut = useSignOut();
  const [hidden, setHidden] = useHiddenAmounts();
  const records = usePaletteRecords(text);
  const go = (href: string): void => {
    close();
    router.push(href);
  };
  return (
    <Command label="Go to or search" loop>
      {/* The dialog gives it the focus, after it has noted which element had it before. */}
      <Command.Input
        value={text}
        onValueChange={setText}
        placeholder="Go to, create, find, or paste a hash, address or id"
        className="h-11 w-full border-b bg-transparent px-4 text-lg outline-none placeholder:text-fg-3"
      />
      <Command.List className="max-h-[50vh] overflow-y-auto p-1.5">
        <JumpItem text={text} close={close} go={go} />
        <Records records={records} go={go} />
        <Command.Group heading="Go to" className={GROUP_LOOKS}>
          {NAVIGATION.filter((item) => devnet || item.developmentOnly !== true).map((item) => (
            <PaletteItem key={item.href} icon={item.icon} value={`go to ${item.label}`} onSelect={() => go(item.href)}>
              {item.label}
            </PaletteItem>
          ))}
        </Command.Group>
        <Command.Group heading="Create" className={GROUP_LOOKS}>
          {ACTIONS.map(({ icon, label, words, href }) => (
            <PaletteItem key={label} icon={icon} value={`${label} ${words}`} onSelect={() => go(href)}>
              {label}
            </PaletteItem>
          ))}
        </Command.Group>
        <Command.Group heading="This browser" className={GROUP_LOOKS}>
          <PaletteItem icon={Sun} value="light theme" onSelect={() => setTheme("light")}>
            Light theme
          </PaletteItem>
          <PaletteItem icon={Moon} value="dark theme" onSelect={() => setTheme("dark")}>
            Dark theme
          </PaletteItem>
          <PaletteItem icon={Monitor} value="system theme" onSelect={() => setTheme("system")}>
            System theme
          </PaletteItem>
          <PaletteItem
            icon={hidden ? Eye : EyeOff}
            value={hidden ? "show amounts" : "hide amounts"}
            onSelect={() => {
              setHidden(!hidden);
              close();
            }}
          >
            {hidden ? "Show amounts" : "Hide amounts"}
          </PaletteItem>
          <PaletteItem icon={LogOut} value="sign out log out" onSelect={() => void signOut()}>
            Sign out
          </PaletteItem>
        </Command.Group>
        <NothingFound known={records.length > 0 || findJump(text.trim()) !== null} />
      </Command.List>
    </Command>
  );
};

/** cmdk counts only what it filters itself; records and jumps were found elsewhere. */
const NothingFound = ({ known }: { readonly known: boolean }): ReactNode => {
  const count = useCommandState(({ filtered }) => filtered.count);
  return count > 0 || known ? null : <p className="px-2.5 py-3 text-fg-3">Nothing found.</p>;
};

interface JumpItemProps {
  readonly text: string;
  readonly close: () => void;
  readonly go: (href: string) => void;
}

const JumpItem = ({ text, close, go }: JumpItemProps): ReactNode => {
  const api = useApi();
  const jump = findJump(text.trim());
  if (jump === null) return null;
  const run = async (): Promise<void> => {
    close();
    const href = await jump.find(api);
    if (href === null) toast.info(jump.notFound);
    else go(href);
  };
  return (
    <Command.Group heading="Jump to" className={GROUP_LOOKS} forceMount>
      <PaletteItem icon={CornerDownLeft} value={text} onSelect={() => void run()} found>
        {jump.label}
      </PaletteItem>
    </Command.Group>
  );
};

interface RecordsProps {
  readonly records: readonly PaletteRecord[];
  readonly go: (href: string) => void;
}

const Records = ({ records, go }: RecordsProps): ReactNode =>
  (["account", "contact", "wallet", "payout"] as const).map((kind) => {
    const members = records.filter((record) => record.kind === kind);
    return members.length === 0 ? null : (
      <Command.Group key={kind} heading={KINDS[kind].heading} className={GROUP_LOOKS} forceMount>
        {members.map((record) => (
          <PaletteItem key={record.id} icon={KINDS[kind].icon} value={record.id} onSelect={() => go(record.href)} found>
            <span className="min-w-0 truncate">{record.name}</span>
            <span className="ml-auto max-w-1/2 truncate text-sm text-fg-3">{record.detail}</span>
          </PaletteItem>
        ))}
      </Command.Group>
    );
  });

interface PaletteItemProps {
  readonly icon: LucideIcon;
  readonly value: string;
  readonly onSelect: () => void;
  /** Found by a search of its own, so it stays whatever is typed. */
  readonly found?: boolean;
  readonly children: ReactNode;
}

const PaletteItem = ({ icon: Icon, value, onSelect, found = false, children }: PaletteItemProps): ReactNode => (
  <Command.Item
    value={value}
    onSelect={onSelect}
    forceMount={found}
    className="flex h-9 cursor-default items-center gap-2.5 rounded-control px-2.5 data-[selected=true]:bg-sunken touch-target"
  >
    <Icon className="size-4 shrink-0 text-fg-3" aria-hidden />
    {children}
  </Command.Item>
);
