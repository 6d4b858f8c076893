"use client";

import type { ReactNode } from "react";
import { Address, TxHash } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/chain-name";
import { Card } from "@/components/ui/card";
import { Table, type Column } from "@/components/ui/table";
import type { Operation } from "./types";

type Holding = Operation["outcome"]["holds"][number];

const COLUMNS: readonly Column<Holding>[] = [
  {
    id: "wallet",
    header: "Where",
    phone: "title",
    cell: (hold) => (hold.wallet.startsWith("0x") ? <Address value={hold.wallet} /> : hold.wallet),
  },
  { id: "chain", header: "Chain", cell: (hold) => <ChainName chainId={hold.chainId} /> },
  {
    id: "amount",
    header: "Amount",
    align: "right",
    cell: (hold) => <Amount value={hold.amount} unit={hold.token.symbol} />,
  },
  { id: "note", header: "State", cell: (hold) => <span className="text-fg-2">{hold.note}</span> },
  {
    id: "hash",
    header: "Transaction",
    align: "right",
    cell: (hold) =>
      hold.txHash === null ? <span className="text-fg-3">none yet</span> : <TxHash value={hold.txHash} />,
  },
];

const keyOf = (hold: Holding): string =>
  [hold.wallet, hold.chainId, hold.token.address, hold.amountBase, hold.txHash, hold.note].join("-");

/** Every part of the money, and where it is at this moment. */
export const HoldsCard = ({ operation }: { readonly operation: Operation }): ReactNode => (
  <Card title="Where the money is now" flush>
    <Table caption="Where the money is now" columns={COLUMNS} rows={operation.outcome.holds} rowKey={keyOf} />
  </Card>
);
