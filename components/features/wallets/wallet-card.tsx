"use client";

import type { UseQueryResult } from "@tanstack/react-query";
import { Download, Unlink } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { AvailableAmount } from "@/components/features/balances/available-amount";
import { FundMenu } from "@/components/features/faucet/fund-menu";
import { isEmpty } from "@/components/features/overview/sums";
import type { Balances } from "@/components/features/overview/use-balances";
import { usePublicConfig } from "@/components/providers/public-config";
import { Address } from "@/components/ui/address";
import { Usd } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { ChainName } from "@/components/ui/chain-name";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { Fact, Facts, Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { Table, type Column } from "@/components/ui/table";
import { DeploymentBadges } from "./deployment-badge";
import type { WalletRecord } from "./use-wallets";
import { WalletLabel } from "./wallet-label";
import { KIND_WORDS, walletName } from "./wallet-name";

interface WalletCardProps {
  readonly wallet: WalletRecord;
  readonly balances: UseQueryResult<Balances>;
  readonly token: string | null;
  readonly chainId: number | null;
  readonly onUnlink: (wallet: WalletRecord) => void;
}

export const WalletCard = ({ wallet, balances, token, chainId, onUnlink }: WalletCardProps): ReactNode => {
  const { devnet } = usePublicConfig();
  const name = walletName(wallet);
  return (
    <Card
      title={
        <span className="flex flex-wrap items-center gap-2">
          <span className="break-words">{name}</span>
          {name === KIND_WORDS[wallet.kind] ? null : <Badge>{KIND_WORDS[wallet.kind]}</Badge>}
        </span>
      }
      actions={
        <>
          {devnet ? <FundMenu address={wallet.address} name={name} /> : null}
          {wallet.kind === "linked" ? null : (
            <Link
              href={`/receive?wallet=${wallet.id}`}
              aria-label={`Receive into ${name}`}
              className={buttonLooks({ size: "sm", variant: "ghost" })}
            >
              <Download aria-hidden /> Receive
            </Link>
          )}
          {wallet.kind === "linked" ? (
            <Button size="sm" variant="ghost" aria-label={`Unlink ${name}`} onClick={() => onUnlink(wallet)}>
              <Unlink aria-hidden /> Unlink
            </Button>
          ) : null}
        </>
      }
      flush
    >
      <div className="grid grid-cols-1 xl:grid-cols-2">
        <WalletFacts wallet={wallet} />
        <div className="border-t xl:border-t-0 xl:border-l">
          <WalletBalances walletId={wallet.id} balances={balances} token={token} chainId={chainId} />
        </div>
      </div>
    </Card>
  );
};

const Signer = ({ wallet }: { readonly wallet: WalletRecord }): ReactNode => {
  if (wallet.signer === "service") return "The service, after your one-time code";
  return wallet.ownerAddress === undefined || wallet.ownerAddress === wallet.address ? (
    "You, with this wallet"
  ) : (
    <span className="inline-flex flex-wrap items-center justify-end gap-x-2">
      You, with its owner <Address value={wallet.ownerAddress} />
    </span>
  );
};

const WalletFacts = ({ wallet }: { readonly wallet: WalletRecord }): ReactNode => (
  <Facts className="px-4">
    <Fact label="Name">
      <WalletLabel wallet={wallet} />
    </Fact>
    <Fact label="Address">
      <Address value={wallet.address} full />
    </Fact>
    <Fact label="Signs">
      <Signer wallet={wallet} />
    </Fact>
    {wallet.signer === "owner" || wallet.ownerAddress === undefined ? null : (
      <Fact label="Owner">
        <Address value={wallet.ownerAddress} />
      </Fact>
    )}
    <Fact label="Chains">
      <WalletChains wallet={wallet} />
    </Fact>
  </Facts>
);

/** An account is there on every chain; a contract has to be deployed on each. */
const WalletChains = ({ wallet }: Pick<WalletCardProps, "wallet">): ReactNode =>
  wallet.kind === "linked" ? (
    <span className="flex flex-wrap justify-end gap-x-3">
      {wallet.chains.map((chain) => (
        <ChainName key={chain.chainId} chainId={chain.chainId} />
      ))}
    </span>
  ) : (
    <DeploymentBadges chains={wallet.chains} />
  );

type Part = Balances["totals"][number]["breakdown"][number];

const COLUMNS: readonly Column<Part>[] = [
  { id: "token", header: "Token", phone: "title", cell: (part) => part.token.symbol },
  { id: "chain", header: "Chain", bare: true, cell: (part) => <ChainName chainId={part.chainId} /> },
  {
    id: "amount",
    header: "Available",
    align: "right",
    phone: "aside",
    cell: (part) => <AvailableAmount amounts={part} unit={part.token.symbol} />,
  },
  { id: "usd", header: "US dollars", align: "right", bare: true, cell: (part) => <Usd value={part.usd} /> },
];

interface WalletBalancesProps extends Omit<WalletCardProps, "wallet" | "onUnlink"> {
  readonly walletId: string;
}

const WalletBalances = ({ walletId, balances, token, chainId }: WalletBalancesProps): ReactNode => {
  const { data, error, isPending, refetch } = balances;
  if (isPending) return <LoadingRows what="balances" rows={3} />;
  if (data === undefined)
    return <ErrorState error={error} money="The money in the wallet is untouched." onRetry={() => void refetch()} />;
  const parts = data.totals
    .filter((total) => token === null || total.token === token)
    .flatMap((total) => total.breakdown)
    .filter((part) => part.walletId === walletId && !isEmpty(part) && (chainId === null || part.chainId === chainId));
  const silent = data.stale.filter((chain) => chainId === null || chain.chainId === chainId);
  if (parts.length === 0 && silent.length > 0) {
    return (
      <EmptyState title="Not known now">
        {silent.map((chain, index) => (
          <span key={chain.chainId}>
            {index === 0 ? "" : ", "}
            <ChainName chainId={chain.chainId} />
          </span>
        ))}{" "}
        {silent.length === 1 ? "does" : "do"} not answer. The money in the wallet is untouched.
      </EmptyState>
    );
  }
  if (parts.length === 0 && data.nextCursor !== null)
    return (
      <EmptyState title="Not listed here">
        More wallets hold something than are listed. GET /balances/unified lists them all, by cursor.
      </EmptyState>
    );
  if (parts.length === 0)
    return <EmptyState title={token === null && chainId === null ? "Holds nothing yet" : "Nothing fits the filter"} />;
  return (
    <Table
      caption="Balances of the wallet"
      columns={COLUMNS}
      rows={parts}
      rowKey={(part) => `${part.token.assetId}-${String(part.chainId)}-${part.token.address}`}
    />
  );
};
