"use client";

import { CircleCheck, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { Balances } from "@/components/features/overview/use-balances";
import { usePublicConfig } from "@/components/providers/public-config";
import { Alert } from "@/components/ui/alert";
import { Badge } from "@/components/ui/badge";
import { ChainName } from "@/components/ui/chain-name";
import { Card } from "@/components/ui/card";
import { Table, type Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";

type Stale = Balances["stale"][number];

/** Text about a chain that does not answer: whether the sums of the page include its last known balances. */
const MissingText = ({ chain }: { readonly chain: Stale }): ReactNode =>
  chain.lastSeenAt === null ? (
    "It has not answered yet, so its balances are missing from all sums."
  ) : (
    <>
      What lay there <Time value={chain.lastSeenAt} /> is counted; what came or went since is missing.
    </>
  );

export const StaleAlerts = ({ stale }: { readonly stale: readonly Stale[] }): ReactNode =>
  stale.map((chain) => (
    <Alert
      key={chain.chainId}
      tone="warning"
      title={
        <>
          <ChainName chainId={chain.chainId} /> is not up to date
        </>
      }
    >
      {chain.reason.replace(/[.!?]?$/, ".")} <MissingText chain={chain} /> The other chains are right.
    </Alert>
  ));

interface ChainState {
  readonly chainId: number;
  readonly blockNumber: string | null;
  readonly at: string | null;
  readonly stale: Stale | null;
}

const COLUMNS: readonly Column<ChainState>[] = [
  { id: "chain", header: "Chain", phone: "title", cell: (chain) => <ChainName chainId={chain.chainId} /> },
  {
    id: "state",
    header: "State",
    cell: ({ stale }) =>
      stale === null ? (
        <Badge tone="success" icon={CircleCheck}>
          Up to date
        </Badge>
      ) : (
        <Badge tone="warning" icon={TriangleAlert} title={stale.reason}>
          {stale.lastSeenAt === null ? "Missing" : "Last known"}
        </Badge>
      ),
  },
  {
    id: "block",
    header: "Block",
    align: "right",
    cell: ({ blockNumber }) =>
      blockNumber === null ? (
        <span className="text-fg-3">none</span>
      ) : (
        <span className="num font-mono text-sm">{blockNumber}</span>
      ),
  },
  {
    id: "at",
    header: "As of",
    align: "right",
    cell: ({ at }) => (at === null ? <span className="text-fg-3">not known</span> : <Time value={at} />),
  },
];

/** As of which block and when each chain was read. */
export const ChainStates = ({ balances }: { readonly balances: Balances }): ReactNode => {
  const { chains } = usePublicConfig();
  const rows = chains.map(({ id }): ChainState => {
    const point = balances.asOf.find((one) => one.chainId === id);
    const stale = balances.stale.find((one) => one.chainId === id) ?? null;
    return {
      chainId: id,
      blockNumber: point?.blockNumber ?? null,
      at: point?.at ?? stale?.lastSeenAt ?? null,
      stale,
    };
  });
  return (
    <Card title="Chains, as last read" flush>
      <Table
        caption="Block and time of each chain"
        columns={COLUMNS}
        rows={rows}
        rowKey={(chain) => String(chain.chainId)}
      />
    </Card>
  );
};
