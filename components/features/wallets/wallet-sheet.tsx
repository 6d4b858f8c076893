"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { CircleCheck, CircleDashed, CircleHelp } from "lucide-react";
import type { ReactNode } from "react";
import { isZero } from "@/components/features/overview/sums";
import type { Balances } from "@/components/features/overview/use-balances";
import { Address } from "@/components/ui/address";
import { Amount, Usd } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { ChainName } from "@/components/ui/chain-name";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { Fact, Facts, Sheet } from "@/components/ui/sheet";
import { LoadingRows } from "@/components/ui/skeleton";
import { Table, type Column } from "@/components/ui/table";
import type { WalletRecord } from "./use-wallets";

const KIND_WORDS = {
  treasury: "Treasury",
  smart_account: "Smart account",
  linked: "Linked wallet",
} as const satisfies Record<WalletRecord["kind"], string>;

interface WalletSheetProps {
  readonly wallet: WalletRecord;
  readonly balances: UseQueryResult<Balances>;
  readonly token: string | null;
  readonly chainId: number | null;
}

export const WalletSheet = ({ wallet, balances, token, chainId }: WalletSheetProps): ReactNode => (
  <Sheet
    title={wallet.label ?? KIND_WORDS[wallet.kind]}
    actions={wallet.label === undefined ? undefined : <Badge>{KIND_WORDS[wallet.kind]}</Badge>}
    flush
  >
    <Facts className="px-4">
      <Fact label="Address">
        <Address value={wallet.address} full />
      </Fact>
      {wallet.ownerAddress === undefined ? null : (
        <Fact label="Owner">
          <Address value={wallet.ownerAddress} />
        </Fact>
      )}
      <Fact label="Chains">
        <span className="flex flex-wrap justify-end gap-2">
          {wallet.chains.map((chain) => (
            <Deployment key={chain.chainId} {...chain} />
          ))}
        </span>
      </Fact>
    </Facts>
    <div className="border-t">
      <WalletBalances walletId={wallet.id} balances={balances} token={token} chainId={chainId} />
    </div>
  </Sheet>
);

const Deployment = ({ chainId, deployed }: WalletRecord["chains"][number]): ReactNode => {
  const view =
    deployed === null
      ? { icon: CircleHelp, tone: "warning" as const, word: "no answer" }
      : deployed
        ? { icon: CircleCheck, tone: "success" as const, word: "deployed" }
        : { icon: CircleDashed, tone: "neutral" as const, word: "deployed with its first operation" };
  return (
    <Badge icon={view.icon} tone={view.tone}>
      <ChainName chainId={chainId} />: {view.word}
    </Badge>
  );
};

type Part = Balances["totals"][number]["breakdown"][number];

const COLUMNS: readonly Column<Part>[] = [
  { id: "token", header: "Token", phone: "title", cell: (part) => part.token.symbol },
  { id: "chain", header: "Chain", cell: (part) => <ChainName chainId={part.chainId} /> },
  {
    id: "amount",
    header: "Amount",
    align: "right",
    cell: (part) => <Amount value={part.amount} unit={part.token.symbol} />,
  },
  { id: "usd", header: "US dollars", align: "right", cell: (part) => <Usd value={part.usd} /> },
];

interface WalletBalancesProps extends Omit<WalletSheetProps, "wallet"> {
  readonly walletId: string;
}

const WalletBalances = ({ walletId, balances, token, chainId }: WalletBalancesProps): ReactNode => {
  const { data, error, isPending, refetch } = balances;
  if (isPending) return <LoadingRows what="balances" rows={3} />;
  if (data === undefined)
    return <ErrorState error={error} money="What the wallet holds is untouched." onRetry={() => void refetch()} />;
  const parts = data.totals
    .filter((total) => token === null || total.token === token)
    .flatMap((total) => total.breakdown)
    .filter(
      (part) => part.walletId === walletId && !isZero(part.amount) && (chainId === null || part.chainId === chainId),
    );
  if (parts.length === 0)
    return <EmptyState title={token === null && chainId === null ? "Empty" : "Nothing fits the filter"} />;
  return (
    <Table
      caption="Balances of the wallet"
      columns={COLUMNS}
      rows={parts}
      rowKey={(part) => `${part.token.assetId}-${String(part.chainId)}-${part.token.address}`}
    />
  );
};
