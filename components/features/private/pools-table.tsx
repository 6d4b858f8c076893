"use client";

import { ArrowLeftRight, Landmark, Send } from "lucide-react";
import Link from "next/link";
import { useState, type ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { buttonLooks } from "@/components/ui/button-looks";
import { Table, type Column } from "@/components/ui/table";
import { countText } from "@/lib/core/amount-text";
import { hasMoney, Held, isZero, PoolName } from "./amounts";
import { setText } from "./observer/scenes";
import { poolKey, type PoolBalance } from "./types";

/** Links to the actions with wallet and pool chosen. */
const Actions = ({ pool }: { readonly pool: PoolBalance }): ReactNode => {
  const query = `?wallet=${pool.privacyWalletId}&pool=${encodeURIComponent(poolKey(pool))}`;
  const looks = cn(buttonLooks({ variant: "ghost", size: "sm" }), "aspect-square px-0");
  const name = pool.token.symbol;
  if (isZero(pool.spendable))
    return (
      <Link href={`/private/shield${query}`} className={buttonLooks({ variant: "ghost", size: "sm" })}>
        Shield <span className="sr-only">{name}</span>
      </Link>
    );
  return (
    <span className="inline-flex gap-0.5">
      <Link href={`/private/transfer${query}`} className={looks} aria-label={`Transfer ${name}`} title="Transfer">
        <Send aria-hidden />
      </Link>
      {pool.canProcess ? (
        <Link href={`/private/swap${query}`} className={looks} aria-label={`Swap ${name}`} title="Swap">
          <ArrowLeftRight aria-hidden />
        </Link>
      ) : null}
      <Link href={`/private/unshield${query}`} className={looks} aria-label={`Unshield ${name}`} title="Unshield">
        <Landmark aria-hidden />
      </Link>
    </span>
  );
};

const COLUMNS: readonly Column<PoolBalance>[] = [
  { id: "pool", header: "Pool", phone: "title", cell: (pool) => <PoolName {...pool} /> },
  {
    id: "spendable",
    header: "Spendable",
    align: "right",
    cell: ({ spendable, token }) => <Held amount={spendable} symbol={token.symbol} strong />,
  },
  {
    id: "waits",
    header: "Pending, in proof",
    align: "right",
    cell: (pool) => <Waiting pool={pool} />,
  },
  {
    id: "set",
    header: "Set",
    align: "right",
    phone: "hidden",
    cell: ({ anonymitySet }) => (
      <span className="num text-fg-2" title={`A withdrawal hides among ${setText(anonymitySet)}`}>
        {countText(anonymitySet)}
        <span className="sr-only"> deposits</span>
      </span>
    ),
  },
  {
    id: "actions",
    header: <span className="sr-only">Actions</span>,
    align: "right",
    cell: (pool) => <Actions pool={pool} />,
  },
];

/** The parts of a balance that cannot be spent now, each with its reason. */
const Waiting = ({ pool }: { readonly pool: PoolBalance }): ReactNode => {
  const { symbol } = pool.token;
  const parts = [
    { word: "pending approval", amount: pool.pendingApproval, looks: "text-fg-2" },
    { word: "in proof", amount: pool.inProof, looks: "text-private" },
    { word: "declined", amount: pool.declined, looks: "text-danger" },
  ].filter(({ amount }) => !isZero(amount));
  if (parts.length === 0) return <span className="text-fg-3">–</span>;
  return (
    <span className="inline-flex flex-col items-end text-sm">
      {parts.map(({ word, amount, looks }) => (
        <span key={word} className={looks}>
          <Held amount={amount} symbol={symbol} /> {word}
        </span>
      ))}
    </span>
  );
};

/** Pools of one private wallet that have money; the empty ones on demand. */
export const PoolsTable = ({ pools }: { readonly pools: readonly PoolBalance[] }): ReactNode => {
  const [showsEmpty, setShowsEmpty] = useState(false);
  const full = pools.filter(hasMoney);
  const empty = pools.filter((pool) => !hasMoney(pool));
  return (
    <>
      <Table
        caption="Private balances"
        columns={COLUMNS}
        rows={showsEmpty ? [...full, ...empty] : full}
        rowKey={poolKey}
      />
      {empty.length === 0 ? null : (
        <div className="border-t px-2 py-1">
          <Button variant="ghost" size="sm" aria-expanded={showsEmpty} onClick={() => setShowsEmpty(!showsEmpty)}>
            {showsEmpty ? "Hide" : "Show"} {empty.length} empty pool{empty.length === 1 ? "" : "s"}
          </Button>
        </div>
      )}
    </>
  );
};
