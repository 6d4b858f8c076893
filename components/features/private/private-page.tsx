"use client";

import { KeyRound, VenetianMask } from "lucide-react";
import Link from "next/link";
import { useState, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { useReopen } from "@/components/features/approvals/use-reopen";
import { sumAmounts, usdValue } from "@/components/features/swap/decimal";
import { useApiQuery } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { cn } from "@/components/ui/cn";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { HeldUsd, HideAmountsButton } from "@/components/ui/held-amount";
import { PageHeader } from "@/components/ui/page-header";
import { Fact, Facts, Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { getPrivateBalances, listTokens } from "@/lib/api-client/calls.gen";
import { hasMoney, isZero } from "./amounts";
import { ExitsCard } from "./exits-card";
import { ExportDialog } from "./export-dialog";
import { HistoryCard } from "./history-card";
import { Honesty } from "./honesty";
import { PoolsTable } from "./pools-table";
import type { PoolBalance, PrivacyWallet, PrivateBalances } from "./types";
import { useChosenWallet } from "./use-chosen-wallet";
import { usePrivacyWallets, usePrivateBalances } from "./use-private";
import { WalletSwitcher } from "./wallet-switcher";

const TOKENS_STALE_MS = 30_000;
const COLUMNS = "grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,7fr)_minmax(0,5fr)]";
/** The height of a wallet's card, so that nothing below moves when it comes. */
const WALLET_HEIGHT = "lg:h-98.5";
const MONEY = "Your notes are on the chain and follow from the mnemonic.";

const ShieldLink = ({ walletId }: { readonly walletId: string }): ReactNode => (
  <Link
    href={walletId === "" ? "/private/shield" : `/private/shield?wallet=${walletId}`}
    className={buttonLooks({ variant: "primary" })}
  >
    <VenetianMask aria-hidden /> Shield
  </Link>
);

/** Balances in privacy pools, the facts that stay public, and the history that no other page shows. */
export const PrivatePage = (): ReactNode => {
  const wallets = usePrivacyWallets();
  const balances = usePrivateBalances();
  const known = wallets.data?.data ?? [];
  const chosen = useChosenWallet({ wallets, balances });
  const wallet = known.find(({ privacyWalletId }) => privacyWalletId === chosen.walletId);
  return (
    <>
      <PageHeader
        title="Private"
        description="Money in privacy pools. Deposits and withdrawals are public; who owns the money inside is hidden."
        actions={
          <>
            <WalletSwitcher wallets={known} chosen={chosen} />
            <ShieldLink walletId={chosen.walletId} />
          </>
        }
      />
      <div className="flex flex-col gap-4">
        {balances.data !== undefined && chosen.isKnown ? (
          <Loaded balances={balances.data} wallet={wallet} walletId={chosen.walletId} stale={balances.isError} />
        ) : balances.isPending || !chosen.isKnown ? (
          <div className={COLUMNS}>
            <Card flush title="Balances">
              <LoadingRows what="private balances" rows={4} />
            </Card>
            <Card flush title="Private wallet" className={cn("overflow-hidden", WALLET_HEIGHT)}>
              <LoadingRows what="the private wallet" rows={10} />
            </Card>
          </div>
        ) : (
          <Card flush title="Balances">
            <ErrorState error={balances.error} money={MONEY} onRetry={() => void balances.refetch()} />
          </Card>
        )}
        <HistoryCard />
        <ApiSnippet
          method={getPrivateBalances.method}
          path={`${getPrivateBalances.path}${chosen.walletId === "" ? "" : `?privacyWalletId=${chosen.walletId}`}`}
        />
      </div>
    </>
  );
};

interface LoadedProps {
  readonly balances: PrivateBalances;
  readonly wallet: PrivacyWallet | undefined;
  readonly walletId: string;
  readonly stale: boolean;
}

const Loaded = ({ balances, wallet, walletId, stale }: LoadedProps): ReactNode => {
  const pools = balances.data.filter(({ privacyWalletId }) => privacyWalletId === walletId || walletId === "");
  const unapproved = pools.some((pool) => !isZero(pool.pendingApproval) || !isZero(pool.declined));
  return (
    <>
      {stale ? (
        <Alert tone="warning" title="The balances could not be refreshed">
          You see the last known ones. The page tries again automatically. {MONEY}
        </Alert>
      ) : null}
      <div className={COLUMNS}>
        <div className="flex min-w-0 flex-col gap-4">
          <Card flush title="Balances" actions={<HideAmountsButton size="sm" />}>
            {pools.length === 0 ? (
              <EmptyState icon={VenetianMask} title="No chain has a privacy pool">
                Add `privacyPools` to a chain in the configuration.
              </EmptyState>
            ) : !pools.some(hasMoney) ? (
              <EmptyState
                icon={VenetianMask}
                title="Nothing is private yet"
                action={<ShieldLink walletId={walletId} />}
              >
                Shield money from the treasury into a pool, and later payments no longer show which deposit paid them.
              </EmptyState>
            ) : (
              <PoolsTable pools={pools} />
            )}
          </Card>
          <ExitsCard walletId={walletId} present={unapproved} />
        </div>
        <WalletCard pools={pools} balances={balances} wallet={wallet} />
      </div>
    </>
  );
};

interface WalletCardProps {
  readonly pools: readonly PoolBalance[];
  readonly balances: PrivateBalances;
  readonly wallet: PrivacyWallet | undefined;
}

/** A private wallet: the spendable sum, the sums that cannot be spent yet, and the facts that stay public. */
const WalletCard = ({ pools, balances, wallet }: WalletCardProps): ReactNode => {
  const tokens = useApiQuery(listTokens, {}, { staleTimeMs: TOKENS_STALE_MS }).data?.data ?? [];
  const [exporting, setExporting] = useState(false);
  useReopen(`private.export ${wallet?.privacyWalletId ?? ""}`, () => setExporting(true));
  const total = (amountOf: (pool: PoolBalance) => string): string | null => {
    const parts = pools
      .filter((pool) => !isZero(amountOf(pool)))
      .map((pool) => {
        const token = tokens.find(
          (each) => each.chainId === pool.chainId && each.address.toLowerCase() === pool.token.address.toLowerCase(),
        );
        return usdValue(amountOf(pool), token?.priceUsd ?? null);
      });
    return parts.includes(null) ? null : sumAmounts(parts.filter((part) => part !== null));
  };
  return (
    <Card
      title={wallet?.name ?? "Private wallet"}
      className="lg:sticky lg:top-16"
      actions={
        wallet === undefined ? null : (
          <Button size="sm" onClick={() => setExporting(true)}>
            <KeyRound aria-hidden /> Export mnemonic
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-3">
        <div>
          <p className="text-sm text-fg-2">Spendable now</p>
          <p className="text-3xl font-semibold text-private">
            <HeldUsd value={total(({ spendable }) => spendable)} />
          </p>
        </div>
        <Facts>
          <Fact label="Pending approval">
            <HeldUsd value={total(({ pendingApproval }) => pendingApproval)} />
          </Fact>
          <Fact label="Proof in progress">
            <HeldUsd value={total(({ inProof }) => inProof)} />
          </Fact>
        </Facts>
        <Honesty engine={balances.engine} staysPublic={balances.staysPublic} />
      </div>
      {wallet === undefined ? null : <ExportDialog wallet={wallet} open={exporting} onOpenChange={setExporting} />}
    </Card>
  );
};
