"use client";

import { ChevronRight } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useCallback, useMemo, useState } from "react";
import { isZero } from "@/components/features/swap/decimal";
import {
  useWallets,
  walletName,
  type WalletRecord,
} from "@/components/features/wallets/use-wallets";
import { Address } from "@/components/ui/address";
import { columnTail, type ColumnTail, HeldWorth, Unknown } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { Kbd } from "@/components/ui/kbd";
import { ChainName, TokenName } from "@/components/ui/marks";
import { useListKeys } from "@/components/ui/table";
import { useLocale } from "@/components/ui/use-locale";
import { countText, shareText } from "@/lib/core/amount-text";
import { AvailableAmount, BalanceActions } from "./balance-parts";
import { type BalanceNode, balanceTree, openableIds, visibleNodes } from "./balance-tree";
import type { Balances } from "./use-balances";

/** The maximum number of wallets in the table, which shows the API's first page. */
const WALLETS_LISTED = 1000;

const useOpenLines = (nodes: readonly BalanceNode[]) => {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const set = useCallback((id: string, to: "open" | "closed" | "other"): void => {
    setOpen((before) => {
      const next = new Set(before);
      if (to === "open" || (to === "other" && !before.has(id))) next.add(id);
      else next.delete(id);
      return next;
    });
  }, []);
  const all = openableIds(nodes);
  const allOpen = all.every((id) => open.has(id));
  return { open, set, allOpen, toggleAll: () => setOpen(allOpen ? new Set() : new Set(all)) };
};

export const BalancesTable = ({ balances }: { readonly balances: Balances }): ReactNode => {
  const nodes = balanceTree(balances);
  const { open, set, allOpen, toggleAll } = useOpenLines(nodes);
  const wallets = useWallets().data?.data ?? [];
  const lines = visibleNodes(nodes, open);
  const ids = lines.map((node) => node.id).join(" ");
  const keys = useMemo(() => ids.split(" "), [ids]);
  const onOpen = useCallback((id: string) => set(id, "other"), [set]);
  const active = useListKeys({ keys, onOpen });
  const tail = columnTail(
    lines.map(({ amounts, token }) => ({ value: amounts.available, symbol: token })),
  );
  return (
    <Card
      title="By token, chain and wallet"
      description={
        <span className="max-md:hidden">
          <Kbd>j</Kbd> <Kbd>k</Kbd> move, <Kbd>Enter</Kbd> opens and closes.
        </span>
      }
      flush
      actions={
        <Button size="sm" variant="ghost" onClick={toggleAll}>
          {allOpen ? "Close all" : "Open all"}
        </Button>
      }
    >
      <div className="@container">
        <table
          role="table"
          aria-label="Balances by token, chain and wallet"
          className="w-full @max-[44rem]:block"
        >
          <thead role="rowgroup" className="@max-[44rem]:sr-only">
            <tr role="row" className="border-b text-sm text-fg-3">
              <Head>Token</Head>
              <Head right>Available</Head>
              <Head right>Value</Head>
              <Head right>Share</Head>
              <Head right>
                <span className="sr-only">Actions</span>
              </Head>
            </tr>
          </thead>
          <tbody role="rowgroup" className="divide-y @max-[44rem]:block">
            {lines.map((node) => (
              <Line
                key={node.id}
                node={node}
                open={open.has(node.id)}
                active={active === node.id}
                wallet={wallets.find((one) => one.id === node.wallet?.id)}
                set={set}
                tail={tail}
              />
            ))}
          </tbody>
        </table>
      </div>
      {balances.nextCursor === null ? null : (
        <p className="border-t px-4 py-2 text-sm text-fg-2">
          The sums are those of all wallets. Of the wallets themselves the first{" "}
          {countText(WALLETS_LISTED)} that hold something are listed; the API lists the others
          by cursor.
        </p>
      )}
    </Card>
  );
};

const Head = ({
  children,
  right = false,
}: {
  readonly children: ReactNode;
  readonly right?: boolean;
}): ReactNode => (
  <th
    role="columnheader"
    scope="col"
    className={cn(
      "h-8 px-2 font-medium first:pl-4 last:pr-4",
      right ? "text-right" : "text-left",
    )}
  >
    {children}
  </th>
);

interface LineProps {
  readonly node: BalanceNode;
  readonly open: boolean;
  readonly active: boolean;
  readonly wallet: WalletRecord | undefined;
  readonly set: (id: string, to: "open" | "closed" | "other") => void;
  readonly tail: ColumnTail;
}

/** Left padding of a line by its level. It places the icon of the first level below the header. */
const INDENT = { 1: "pl-3", 2: "pl-9", 3: "pl-18 @max-[44rem]:pl-14" } as const;
const CELL =
  "h-9 px-2 last:pr-4 text-right whitespace-nowrap @max-[44rem]:h-auto @max-[44rem]:p-0!";

const Line = ({ node, open, active, wallet, set, tail }: LineProps): ReactNode => (
  <tr
    role="row"
    data-active={active || undefined}
    className={cn(
      "data-active:bg-accent-tint @max-[44rem]:grid @max-[44rem]:grid-cols-[minmax(0,1fr)_auto] @max-[44rem]:items-center @max-[44rem]:gap-x-4 @max-[44rem]:py-2 @max-[44rem]:pr-4",
      node.level > 1 && "bg-sunken",
    )}
  >
    <th
      role="rowheader"
      scope="row"
      className={cn(
        "h-9 w-full max-w-0 min-w-36 text-left @max-[44rem]:row-span-2 @max-[44rem]:h-auto @max-[44rem]:w-auto @max-[44rem]:max-w-none @max-[44rem]:min-w-0",
        INDENT[node.level],
        node.level === 1 ? "font-medium" : "text-sm font-normal",
      )}
    >
      {node.wallet === null ? (
        <Toggle node={node} open={open} set={set} />
      ) : (
        <Address
          value={node.wallet.address}
          name={wallet === undefined ? "Wallet" : walletName(wallet)}
        />
      )}
    </th>
    <td role="cell" className={CELL}>
      <AvailableAmount amounts={node.amounts} unit={node.token} column={tail} />
    </td>
    <td role="cell" className={cn(CELL, "@max-[44rem]:text-fg-2")}>
      <HeldWorth value={node.usd} />
    </td>
    <td role="cell" className={cn(CELL, "@max-[44rem]:col-start-2")}>
      <ShareBar tenths={node.shareTenths} isSomething={!isZero(node.amounts.amount)} />
    </td>
    <td role="cell" className={cn(CELL, "@max-[44rem]:hidden")}>
      <BalanceActions
        token={node.token}
        chainId={node.chainId ?? undefined}
        walletId={node.wallet?.id}
      />
    </td>
  </tr>
);

const Toggle = ({ node, open, set }: Pick<LineProps, "node" | "open" | "set">): ReactNode => {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowRight") set(node.id, "open");
    if (event.key === "ArrowLeft") set(node.id, "closed");
  };
  return (
    <button
      type="button"
      aria-expanded={open}
      onClick={() => set(node.id, "other")}
      onKeyDown={onKeyDown}
      className="flex h-8 items-center gap-1 rounded-control px-1 hover:bg-sunken touch-target"
    >
      <ChevronRight
        className={cn(
          "size-4 shrink-0 text-fg-3 transition-transform duration-150",
          open && "rotate-90",
        )}
        aria-hidden
      />
      {node.chainId === null ? (
        <TokenName symbol={node.token} />
      ) : (
        <ChainName chainId={node.chainId} />
      )}
      <span className="sr-only">
        {node.chainId === null ? ", chains" : `, wallets with ${node.token}`}
      </span>
    </button>
  );
};

const TENTHS_PER_PERCENT = 10;

interface ShareBarProps {
  /** In tenths of a per cent; null when no price is known. */
  readonly tenths: number | null;
  /** Whether the balance is above zero. A share that rounds to zero is then not shown as zero. */
  readonly isSomething: boolean;
}

const ShareBar = ({ tenths, isSomething }: ShareBarProps): ReactNode => {
  const locale = useLocale();
  if (tenths === null) return <Unknown reason="No price is known" />;
  return (
    <span className="flex items-center justify-end gap-2">
      <svg
        viewBox="0 0 100 6"
        preserveAspectRatio="none"
        className="h-1.5 w-20 @max-[52rem]:w-10 @max-[44rem]:w-12"
        aria-hidden
      >
        <rect width={100} height={6} className="fill-border" />
        <rect
          width={Math.max(1, tenths / TENTHS_PER_PERCENT)}
          height={6}
          className="fill-accent"
        />
      </svg>
      <span className="num w-14 text-right text-sm text-fg-2">
        {shareText(tenths, isSomething, locale)}
      </span>
    </span>
  );
};
