"use client";

import { KeyRound, Plus, VenetianMask } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import dynamic from "next/dynamic";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { useReopen } from "@/components/features/approvals/kept-approval";
import { useSentOnce, useCache } from "@/components/features/session/use-api";
import { isZero, sumAmounts, usdValue } from "@/components/features/swap/decimal";
import { tokensQuery } from "@/components/features/swap/tokens";
import { Desk } from "@/components/layout/desk";
import { Alert } from "@/components/ui/alert";
import { HeldWorth, HideAmountsButton } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card, Fact, Facts } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { PageHeader } from "@/components/ui/page-header";
import { Select } from "@/components/ui/select";
import { EmptyState, joinQueries, LoadingRows, QueryPanel } from "@/components/ui/states";
import { TextDialog } from "@/components/ui/text-dialog";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import {
  createPrivacyWallet,
  getPrivateBalances,
  listPrivacyWallets,
} from "@/lib/api-client/calls.gen";
import { isSameText } from "@/lib/core/same-text";
import { HistoryCard } from "./history-card";
import {
  hasMoney,
  Honesty,
  type PoolBalance,
  type PrivacyWallet,
  type PrivateBalances,
} from "./parts";
import { ExitsCard, PoolsTable } from "./pools";
import { type ChosenWallet, useChosenWallet } from "./use-chosen-wallet";
import { usePrivacyWallets, usePrivateBalances } from "./use-private";

const ExportDialog = dynamic(
  () => import("./export-dialog").then((module) => module.ExportDialog),
  { ssr: false },
);

/** Height of a loaded wallet card, so that the layout does not shift when it loads. */
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

export const PrivatePage = (): ReactNode => {
  const wallets = usePrivacyWallets();
  const balances = usePrivateBalances();
  const allWallets = wallets.data?.data ?? [];
  const chosen = useChosenWallet({ wallets, balances });
  const wallet = allWallets.find(({ id }) => id === chosen.walletId);
  const isKnown = chosen.isKnown && !balances.isPending;
  return (
    <>
      <PageHeader
        title="Private"
        description="Money in privacy pools. Deposits and withdrawals are public; who owns the money inside is hidden."
        actions={
          <>
            <WalletSwitcher wallets={allWallets} chosen={chosen} />
            <ShieldLink walletId={chosen.walletId} />
          </>
        }
      />
      <div className="flex flex-col gap-4">
        <QueryPanel
          query={{ ...joinQueries([balances], balances.data), isPending: !isKnown }}
          what="private balances"
          loading={<LoadingWallet />}
          money={MONEY}
        >
          {(data) => (
            <Loaded
              balances={data}
              wallet={wallet}
              walletId={chosen.walletId}
              stale={balances.isError}
            />
          )}
        </QueryPanel>
        <HistoryCard />
        <ApiSnippet
          call={getPrivateBalances}
          query={chosen.walletId === "" ? {} : { privacyWalletId: chosen.walletId }}
        />
      </div>
    </>
  );
};

const LoadingWallet = (): ReactNode => (
  <Desk
    fields={
      <Card flush title="Balances">
        <LoadingRows what="private balances" rows={4} />
      </Card>
    }
    receipt={
      <Card flush title="Private wallet" className={cn("overflow-hidden", WALLET_HEIGHT)}>
        <LoadingRows what="the private wallet" rows={10} />
      </Card>
    }
  />
);

interface LoadedProps {
  readonly balances: PrivateBalances;
  readonly wallet: PrivacyWallet | undefined;
  readonly walletId: string;
  readonly stale: boolean;
}

const Loaded = ({ balances, wallet, walletId, stale }: LoadedProps): ReactNode => {
  const pools = balances.data.filter(
    ({ privacyWalletId }) => privacyWalletId === walletId || walletId === "",
  );
  const unapproved = pools.some(
    (pool) => !isZero(pool.pendingApproval) || !isZero(pool.declined),
  );
  return (
    <>
      {stale ? (
        <Alert tone="warning" title="The balances could not be refreshed">
          You see the last known ones. The page tries again automatically. {MONEY}
        </Alert>
      ) : null}
      <Desk
        fields={
          <>
            <Card flush title="Balances" actions={<HideAmountsButton size="sm" />}>
              <Pools pools={pools} walletId={walletId} />
            </Card>
            <ExitsCard walletId={walletId} present={unapproved} />
          </>
        }
        receipt={<WalletCard pools={pools} balances={balances} wallet={wallet} />}
      />
    </>
  );
};

interface PoolsProps {
  readonly pools: readonly PoolBalance[];
  readonly walletId: string;
}

const Pools = ({ pools, walletId }: PoolsProps): ReactNode => {
  if (pools.length === 0)
    return (
      <EmptyState icon={VenetianMask} title="No chain has a privacy pool">
        Add `privacyPools` to a chain in the configuration.
      </EmptyState>
    );
  if (pools.some(hasMoney)) return <PoolsTable pools={pools} />;
  return (
    <EmptyState
      icon={VenetianMask}
      title="Nothing is private yet"
      action={<ShieldLink walletId={walletId} />}
    >
      Shield money from the treasury into a pool, and later payments no longer show which
      deposit paid them.
    </EmptyState>
  );
};

interface WalletCardProps {
  readonly pools: readonly PoolBalance[];
  readonly balances: PrivateBalances;
  readonly wallet: PrivacyWallet | undefined;
}

const WalletCard = ({ pools, balances, wallet }: WalletCardProps): ReactNode => {
  const tokens = useQuery(tokensQuery).data?.data ?? [];
  const [exporting, setExporting] = useState(false);
  useReopen(`private.export ${wallet?.id ?? ""}`, () => setExporting(true));
  const total = (amountOf: (pool: PoolBalance) => string): string | null => {
    const parts = pools
      .filter((pool) => !isZero(amountOf(pool)))
      .map((pool) => {
        const token = tokens.find(
          (each) =>
            each.chainId === pool.chainId && isSameText(each.address, pool.token.address),
        );
        return usdValue(amountOf(pool), token?.priceUsd ?? null);
      });
    return parts.includes(null) ? null : sumAmounts(parts.filter((part) => part !== null));
  };
  return (
    <Card
      title={wallet?.name ?? "Private wallet"}
      actions={
        wallet === undefined ? null : (
          <Button size="sm" onClick={() => setExporting(true)}>
            <KeyRound aria-hidden /> Export mnemonic
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-3">
        {wallet?.exportedAt == null ? null : (
          <Alert tone="warning" title="Exported">
            Its mnemonic was shown <Time value={wallet.exportedAt} />. Whoever saw it can move
            what this wallet gets, so use another one for new money.
          </Alert>
        )}
        <div>
          <p className="text-sm text-fg-2">Spendable now</p>
          <p className="text-3xl font-semibold text-private">
            <HeldWorth value={total(({ spendable }) => spendable)} />
          </p>
        </div>
        <Facts>
          <Fact label="Pending approval">
            <HeldWorth value={total(({ pendingApproval }) => pendingApproval)} />
          </Fact>
          <Fact label="Proof in progress">
            <HeldWorth value={total(({ inProof }) => inProof)} />
          </Fact>
        </Facts>
        <Honesty engine={balances.engine} staysPublic={balances.staysPublic} />
      </div>
      {wallet === undefined || !exporting ? null : (
        <ExportDialog wallet={wallet} onClose={() => setExporting(false)} />
      )}
    </Card>
  );
};

interface WalletSwitcherProps {
  readonly wallets: readonly PrivacyWallet[];
  readonly chosen: ChosenWallet;
}

const WalletSwitcher = ({ wallets, chosen }: WalletSwitcherProps): ReactNode => {
  const [creating, setCreating] = useState(false);
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-2">
      {wallets.length === 0 ? null : (
        <Select
          label="Private wallet"
          className="w-44"
          value={chosen.walletId}
          onValueChange={chosen.choose}
          options={wallets.map(({ id, name, exportedAt }) => ({
            value: id,
            label: exportedAt === null ? name : `${name} (exported)`,
          }))}
        />
      )}
      <Button onClick={() => setCreating(true)}>
        <Plus aria-hidden /> New wallet
      </Button>
      {creating ? (
        <NewWalletDialog onClose={() => setCreating(false)} onCreated={chosen.choose} />
      ) : null}
    </div>
  );
};

const NAME_MAX = 60;

interface NewWalletDialogProps {
  readonly onClose: () => void;
  readonly onCreated: (privacyWalletId: string) => void;
}

const NewWalletDialog = ({ onClose, onCreated }: NewWalletDialogProps): ReactNode => {
  const cache = useCache();
  const { mutation, send } = useSentOnce(createPrivacyWallet);
  const create = async (name: string): Promise<void> => {
    const wallet = await send({ body: { name } }).catch(() => null);
    if (wallet === null) return;
    await cache.refresh(listPrivacyWallets);
    void cache.refresh(getPrivateBalances);
    toast.success(`${wallet.name} was created.`);
    onClose();
    onCreated(wallet.id);
  };
  return (
    <TextDialog
      onClose={onClose}
      size="sm"
      title="New private wallet"
      description="Its mnemonic is made and kept by the service, encrypted. You can export it."
      field="name"
      label="Name"
      hint="What it is for, such as Payroll. Your team sees it; the chain does not."
      lengthMax={NAME_MAX}
      emptyProblem="Enter a name."
      act="Create wallet"
      money="No wallet was created."
      action={mutation}
      onText={create}
    />
  );
};
