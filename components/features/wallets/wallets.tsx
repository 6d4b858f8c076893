"use client";

import { Link2, Plus, Wallet } from "lucide-react";
import dynamic from "next/dynamic";
import {
  parseAsInteger,
  parseAsString,
  parseAsStringLiteral,
  useQueryState,
  useQueryStates,
} from "nuqs";
import { type ReactNode, useState } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { type Balances, useBalances } from "@/components/features/balances/use-balances";
import { useApiMutation, useCache } from "@/components/features/session/use-api";
import { usePublicConfig } from "@/components/providers/public-config";
import { Button } from "@/components/ui/button";
import { ActionDialog, Dialog } from "@/components/ui/dialog";
import { EmptyState, LoadingRows, QueryPanel } from "@/components/ui/states";
import { Field } from "@/components/ui/field";
import { chainOption, tokenOption } from "@/components/ui/marks";
import { PageHeader } from "@/components/ui/page-header";
import { FilterSelect } from "@/components/ui/select";
import { toast } from "@/components/ui/toast";
import { getUnifiedBalances, listWallets, unlinkWallet } from "@/lib/api-client/calls.gen";
import { SmartAccountDialog } from "./smart-account-dialog";
import { useWalletAt, useWallets, walletName, type WalletRecord } from "./use-wallets";
import { WalletCard } from "./wallet-card";

/** Filters of the page, stored in its address. */
const useFilters = () =>
  useQueryStates(
    { token: parseAsString, chain: parseAsInteger, address: parseAsString },
    { history: "replace" },
  );

export const Wallets = (): ReactNode => {
  const all = useWallets();
  const { data } = all;
  const balances = useBalances();
  const [filters, setFilters] = useFilters();
  const [dialog, setDialog] = useQueryState(
    "new",
    parseAsStringLiteral(["link", "smart-account"]),
  );
  const [owner, setOwner] = useState<string | undefined>();
  const [unlinking, setUnlinking] = useState<WalletRecord | null>(null);
  const openDialog = (next: "link" | "smart-account" | null, nextOwner?: string): void => {
    setOwner(nextOwner);
    void setDialog(next);
  };
  const wanted = filters.address;
  const found = useWalletAt(wanted);
  const shown = wanted === null ? all : found;
  return (
    <>
      <PageHeader
        title="Wallets"
        description="Every wallet of the project, each a source for swaps and transfers. Smart accounts have the same address on every chain, also where they are not deployed yet."
        actions={
          <>
            <Button onClick={() => openDialog("smart-account")}>
              <Plus aria-hidden /> New smart account
            </Button>
            <Button variant="primary" onClick={() => openDialog("link")}>
              <Link2 aria-hidden /> Link a wallet
            </Button>
          </>
        }
      />
      <div className="flex flex-col gap-4">
        <FilterBar
          filters={filters}
          balances={balances.data}
          setFilters={(next) => void setFilters(next)}
        />
        <QueryPanel
          query={shown}
          what="wallets"
          money="The money in the wallets is untouched."
          empty={
            <EmptyState
              icon={Wallet}
              title={
                wanted === null ? "No wallets" : "No wallet of the project has this address"
              }
            />
          }
        >
          {(listed) =>
            listed.data.map((wallet) => (
              <WalletCard
                key={wallet.id}
                wallet={wallet}
                balances={balances}
                token={filters.token}
                chainId={filters.chain}
                onUnlink={setUnlinking}
              />
            ))
          }
        </QueryPanel>
        {wanted === null ? <MoreWallets list={all} /> : null}
        <ApiSnippet call={listWallets} />
      </div>
      <Dialog
        open={dialog === "link" && data !== undefined}
        onClose={() => openDialog(null)}
        title="Link a wallet"
        size="lg"
      >
        <LinkSteps
          wallets={data?.data ?? []}
          onClose={() => openDialog(null)}
          onSmartAccount={(address) => openDialog("smart-account", address)}
        />
      </Dialog>
      <SmartAccountDialog
        key={owner ?? "any"}
        open={dialog === "smart-account" && data !== undefined}
        wallets={data?.data ?? []}
        owner={owner}
        onClose={() => openDialog(null)}
      />
      <UnlinkDialog wallet={unlinking} onClose={() => setUnlinking(null)} />
    </>
  );
};

const MoreWallets = ({ list }: { readonly list: ReturnType<typeof useWallets> }): ReactNode =>
  list.hasNextPage ? (
    <div className="flex justify-center">
      <Button loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        Load more
      </Button>
    </div>
  ) : null;

interface Filters {
  readonly token: string | null;
  readonly chain: number | null;
  readonly address: string | null;
}

interface FilterBarProps {
  readonly filters: Filters;
  readonly balances: Balances | undefined;
  readonly setFilters: (next: Partial<Filters>) => void;
}

const FilterBar = ({ filters, balances, setFilters }: FilterBarProps): ReactNode => {
  const { chains } = usePublicConfig();
  const tokens = [
    ...new Set([
      ...(balances?.totals.map((total) => total.token) ?? []),
      ...(filters.token === null ? [] : [filters.token]),
    ]),
  ];
  const filtered = filters.token !== null || filters.chain !== null || filters.address !== null;
  return (
    <div className="flex flex-wrap items-end gap-3">
      <Field label="Token" className="w-36">
        <FilterSelect
          value={filters.token}
          onValueChange={(token) => setFilters({ token })}
          all="All tokens"
          options={tokens.map((token) => tokenOption(token))}
        />
      </Field>
      <Field label="Chain" className="w-40">
        <FilterSelect
          value={filters.chain === null ? null : String(filters.chain)}
          onValueChange={(id) => setFilters({ chain: id === null ? null : Number(id) })}
          all="All chains"
          options={chains.map(chainOption)}
        />
      </Field>
      {filtered ? (
        <Button
          variant="ghost"
          onClick={() => setFilters({ token: null, chain: null, address: null })}
        >
          Show all
        </Button>
      ) : null}
    </div>
  );
};

const LinkSteps = dynamic(() => import("./link-steps").then((module) => module.LinkSteps), {
  ssr: false,
  loading: () => <LoadingRows rows={3} what="your wallets" />,
});

interface UnlinkDialogProps {
  readonly wallet: WalletRecord | null;
  readonly onClose: () => void;
}

const UnlinkDialog = ({ wallet, onClose }: UnlinkDialogProps): ReactNode => {
  const unlink = useApiMutation(unlinkWallet);
  const cache = useCache();
  if (wallet === null) return null;
  return (
    <ActionDialog
      onClose={onClose}
      title={`Unlink “${walletName(wallet)}”?`}
      description={
        <p>
          <code className="font-mono text-sm break-all text-fg">{wallet.address}</code> is no
          source any more. What it holds stays in it, under your own key, and what it did stays
          on record. You can link it again.
        </p>
      }
      action={unlink}
      money="The wallet is still linked."
      confirmLabel="Unlink wallet"
      onConfirm={async () => {
        await unlink.mutateAsync({ params: { address: wallet.address } });
        toast.success(`“${walletName(wallet)}” is unlinked.`);
        await cache.refresh(listWallets, getUnifiedBalances);
      }}
    />
  );
};
