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
  type LucideIcon,
  Monitor,
  Moon,
  Send,
  Sun,
  VenetianMask,
  Wallet,
} from "lucide-react";
import { useTheme } from "next-themes";
import { useRouter } from "next/navigation";
import { Dialog } from "radix-ui";
import { type ReactNode, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { useContacts } from "@/components/features/contacts/use-contacts";
import { accountName } from "@/components/features/global-accounts/account";
import { titleOf } from "@/components/features/payouts/payout";
import { newestPayoutsQuery } from "@/components/features/payouts/use-payouts";
import { apiQuery } from "@/components/features/session/api-query";
import { useApi } from "@/components/features/session/use-api";
import { useSignOut } from "@/components/features/session/use-sign-out";
import { useWallets, walletName } from "@/components/features/wallets/use-wallets";
import { usePublicConfig } from "@/components/providers/public-config";
import { STATUS_VIEWS } from "@/components/ui/badge";
import { GROUP_LOOKS } from "@/components/ui/combobox";
import { useReturnFocus } from "@/components/ui/dialog";
import { useHiddenAmounts } from "@/components/ui/hidden-amounts";
import { toast } from "@/components/ui/toast";
import { useTitleOptions } from "@/components/ui/use-locale";
import { useSettled } from "@/components/ui/use-settled";
import {
  getPrivateTransfer,
  listGlobalAccounts,
  listOperations,
  listWallets,
} from "@/lib/api-client/calls.gen";
import type { ApiClient } from "@/lib/api-client/client";
import { listedName } from "@/lib/core/look-alike";
import { isId } from "@/lib/core/ids";
import { NAVIGATION } from "./navigation";

interface PaletteProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

/**
 * The palette of Ctrl/⌘ K: open a page, create something, find a record by name, or paste a hash,
 * an address or an id.
 */
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

interface Action {
  readonly icon: LucideIcon;
  readonly label: string;
  /** Further words that the search matches. */
  readonly words: string;
  readonly href: string;
}

const ACTIONS: readonly Action[] = [
  { icon: ArrowLeftRight, label: "New swap", words: "create exchange", href: "/swap" },
  { icon: Send, label: "New transfer", words: "create send pay", href: "/transfer" },
  {
    icon: ArrowDownToLine,
    label: "Receive money",
    words: "deposit fund address",
    href: "/receive",
  },
  {
    icon: Landmark,
    label: "New global account",
    words: "create open",
    href: "/accounts?new=true",
  },
  {
    icon: HandCoins,
    label: "New payout",
    words: "create pay many accounts wallets",
    href: "/payouts/new",
  },
  {
    icon: VenetianMask,
    label: "Shield money",
    words: "create private deposit",
    href: "/private/shield",
  },
  {
    icon: VenetianMask,
    label: "New private transfer",
    words: "create",
    href: "/private/transfer",
  },
  {
    icon: BookUser,
    label: "New contact",
    words: "create add address book",
    href: "/contacts?new=true",
  },
  { icon: KeyRound, label: "New API key", words: "create", href: "/api-keys?create=1" },
];

const KINDS = {
  account: { heading: "Global accounts", icon: Landmark },
  contact: { heading: "Contacts: send to", icon: BookUser },
  wallet: { heading: "Wallets", icon: Wallet },
  payout: { heading: "Payouts", icon: HandCoins },
} as const satisfies Record<PaletteRecord["kind"], { heading: string; icon: LucideIcon }>;

const PaletteContent = ({ close }: { readonly close: () => void }): ReactNode => {
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
      {/* The dialog focuses this field after it has remembered the previously focused element. */}
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
            <PaletteItem
              key={item.href}
              icon={item.icon}
              value={`go to ${item.label}`}
              onSelect={() => go(item.href)}
            >
              {item.label}
            </PaletteItem>
          ))}
        </Command.Group>
        <Command.Group heading="Create" className={GROUP_LOOKS}>
          {ACTIONS.map(({ icon, label, words, href }) => (
            <PaletteItem
              key={label}
              icon={icon}
              value={`${label} ${words}`}
              onSelect={() => go(href)}
            >
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

/**
 * Says that nothing was found. `known` is true when records or jumps were found, which cmdk does
 * not count, because it counts only the entries that it filters.
 */
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
      <Command.Group
        key={kind}
        heading={KINDS[kind].heading}
        className={GROUP_LOOKS}
        forceMount
      >
        {members.map((record) => (
          <PaletteItem
            key={record.id}
            icon={KINDS[kind].icon}
            value={record.id}
            onSelect={() => go(record.href)}
            found
          >
            <span className="min-w-0 truncate">{record.name}</span>
            <span className="ml-auto max-w-1/2 truncate text-sm text-fg-3">
              {record.detail}
            </span>
          </PaletteItem>
        ))}
      </Command.Group>
    );
  });

interface PaletteItemProps {
  readonly icon: LucideIcon;
  readonly value: string;
  readonly onSelect: () => void;
  /** Whether another search found the item, so that cmdk must not filter it out. */
  readonly found?: boolean;
  readonly children: ReactNode;
}

const PaletteItem = ({
  icon: Icon,
  value,
  onSelect,
  found = false,
  children,
}: PaletteItemProps): ReactNode => (
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

interface Jump {
  readonly label: string;
  /** The page to go to; null when there is none. */
  readonly find: (api: ApiClient) => Promise<string | null>;
  readonly notFound: string;
}

/** The newest operation that matches the text. */
const findOperation = async (api: ApiClient, text: string): Promise<string | null> => {
  const { data } = await api.call(listOperations, { query: { q: text, limit: 1 } });
  return data[0] === undefined ? null : `/activity/${data[0].operationId}`;
};

/** The page of the private operation with this id, or of the operation with this transfer. */
const findTransfer = async (api: ApiClient, id: string): Promise<string | null> => {
  const isPrivate = await api.call(getPrivateTransfer, { params: { id } }).then(
    () => true,
    () => false,
  );
  return isPrivate ? `/private/${id}` : findOperation(api, id);
};

/** The page of a wallet of the project; for any other address, the list of movements to it. */
const findAddress = async (api: ApiClient, address: string): Promise<string> => {
  const { data } = await api.call(listWallets, { query: { address: address.toLowerCase() } });
  return data.length > 0 ? `/wallets?address=${address}` : `/activity?q=${address}`;
};

const findJump = (text: string): Jump | null => {
  if (isId("operation", text)) {
    const href = `/activity/${text}`;
    return { label: `Operation ${text}`, find: () => Promise.resolve(href), notFound: "" };
  }
  if (isId("globalAccount", text)) {
    return {
      label: `Global account ${text}`,
      find: () => Promise.resolve(`/accounts/${text}`),
      notFound: "",
    };
  }
  if (isId("payout", text)) {
    return {
      label: `Payout ${text}`,
      find: () => Promise.resolve(`/payouts/${text}`),
      notFound: "",
    };
  }
  if (isId("transfer", text)) {
    return {
      label: `The operation of ${text}`,
      find: (api) => findTransfer(api, text).catch(() => null),
      notFound: "This transfer was not executed.",
    };
  }
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) {
    return {
      label: "The operation with this transaction",
      find: (api) => findOperation(api, text).catch(() => null),
      notFound: "No operation has this transaction.",
    };
  }
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) {
    return {
      label: "The wallet with this address, or what was sent there",
      find: (api) => findAddress(api, text).catch(() => `/activity?q=${text}`),
      notFound: "",
    };
  }
  return null;
};

interface PaletteRecord {
  readonly kind: "account" | "contact" | "wallet" | "payout";
  readonly id: string;
  readonly name: string;
  /** Muted text after the name. */
  readonly detail: string;
  readonly href: string;
}

const SHOWN_OF_KIND = 5;
const PAYOUTS_READ = 100;
const STALE_MS = 30_000;
const SEARCH_MAX = 80;

const fits = (text: string, ...fields: readonly string[]): boolean =>
  fields.some((field) => field.toLowerCase().includes(text.toLowerCase()));

/** Records of the project that match a text by name, address or id; empty without a text. */
const usePaletteRecords = (text: string): readonly PaletteRecord[] => {
  const typed = text.trim();
  const enabled = typed !== "";
  const [settled] = useSettled(typed);
  const options = useTitleOptions();
  const wallets = useWallets().data?.data ?? [];
  const contacts = useContacts().data?.data ?? [];
  const accounts = useQuery({
    ...apiQuery(listGlobalAccounts, {
      query: { q: settled.slice(0, SEARCH_MAX), limit: SHOWN_OF_KIND },
    }),
    enabled: settled !== "",
    staleTime: STALE_MS,
  }).data;
  const payouts = useQuery({
    ...newestPayoutsQuery(PAYOUTS_READ),
    enabled,
    staleTime: STALE_MS,
  }).data;
  if (!enabled) return [];
  const found: PaletteRecord[][] = [
    (accounts?.data ?? []).map((account) => ({
      kind: "account",
      id: account.id,
      name: accountName(account),
      detail: account.currency,
      href: `/accounts/${account.id}`,
    })),
    contacts
      .filter(({ name, address }) => fits(typed, name, address))
      .map((contact) => ({
        kind: "contact",
        id: contact.id,
        name: listedName(contact),
        detail: contact.address,
        href: `/transfer?recipient=${contact.address}`,
      })),
    wallets
      .filter((wallet) => fits(typed, walletName(wallet), wallet.address, wallet.id))
      .map((wallet) => ({
        kind: "wallet",
        id: wallet.id,
        name: walletName(wallet),
        detail: wallet.address,
        href: `/wallets?address=${wallet.address}`,
      })),
    (payouts?.data ?? [])
      .filter((payout) => fits(typed, payout.payoutId, titleOf(payout, options)))
      .map((payout) => ({
        kind: "payout",
        id: payout.payoutId,
        name: titleOf(payout, options),
        detail: STATUS_VIEWS[payout.status].word,
        href: `/payouts/${payout.payoutId}`,
      })),
  ];
  return found.flatMap((records) => records.slice(0, SHOWN_OF_KIND));
};
