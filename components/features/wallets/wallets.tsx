"use client";

import { Link2, Plus, Wallet } from "lucide-react";
import { parseAsInteger, parseAsString, parseAsStringLiteral, useQueryState, useQueryStates } from "nuqs";
import { useState, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { useBalances, type Balances } from "@/components/features/overview/use-balances";
import { usePublicConfig } from "@/components/providers/public-config";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { Field } from "@/components/ui/field";
import { PageHeader } from "@/components/ui/page-header";
import { Select } from "@/components/ui/select";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { chainOption, tokenOption } from "@/components/ui/marked-options";
import { LinkDialog } from "./link-dialog";
import { SmartAccountDialog } from "./smart-account-dialog";
import { UnlinkDialog } from "./unlink-dialog";
import { useWalletAt, useWallets, type WalletRecord } from "./use-wallets";
import { WalletCard } from "./wallet-card";

const ALL = "all";

/** Filters of the page; they live in the address of the page. */
const useFilters = () =>
  useQueryStates({ token: parseAsString, chain: parseAsInteger, address: parseAsString }, { history: "replace" });

export const Wallets = (): ReactNode => {
  const all = useWallets();
  const { data } = all;
  const balances = useBalances();
  const [filters, setFilters] = useFilters();
  const [dialog, setDialog] = useQueryState("new", parseAsStringLiteral(["link", "smart-account"]));
  const [owner, setOwner] = useState<string | undefined>();
  const [unlinking, setUnlinking] = useState<WalletRecord | null>(null);
  const openDialog = (next: "link" | "smart-account" | null, nextOwner?: string): void => {
    setOwner(nextOwner);
    void setDialog(next);
  };
  const wanted = filters.address;
  const found = useWalletAt(wanted);
  const shown = wanted === null ? all : found;
  const wallets = shown.data?.data ?? [];
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
        <FilterBar filters={filters} balances={balances.data} setFilters={(next) => void setFilters(next)} />
        {shown.isPending ? (
          <Card flush>
            <LoadingRows what="wallets" />
          </Card>
        ) : shown.data === undefined ? (
          <NotRead list={shown} />
        ) : wallets.length === 0 ? (
          <Card flush>
            <EmptyState
              icon={Wallet}
              title={wanted === null ? "No wallets" : "No wallet of the project has this address"}
            />
          </Card>
        ) : (
          wallets.map((wallet: WalletRecord) => (
            <WalletCard
              key={wallet.id}
              wallet={wallet}
              balances={balances}
              token={filters.token}
              chainId={filters.chain}
              onUnlink={setUnlinking}
            />
          ))
        )}
        {wanted === null ? <MoreWallets list={all} /> : null}
        <ApiSnippet method="GET" path="/wallets" />
      </div>
      <LinkDialog
        open={dialog === "link" && data !== undefined}
        wallets={data?.data ?? []}
        onClose={() => openDialog(null)}
        onSmartAccount={(address) => openDialog("smart-account", address)}
      />
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

const NotRead = ({ list }: { readonly list: { readonly error: unknown; refetch(): unknown } }): ReactNode => (
  <Card flush>
    <ErrorState
      error={list.error}
      money="The money in the wallets is untouched."
      onRetry={() => {
        list.refetch();
      }}
    />
  </Card>
);

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
        <Select
          value={filters.token ?? ALL}
          onValueChange={(value) => setFilters({ token: value === ALL ? null : value })}
          options={[{ value: ALL, label: "All tokens" }, ...tokens.map((token) => tokenOption(token))]}
        />
      </Field>
      <Field label="Chain" className="w-40">
        <Select
          value={filters.chain === null ? ALL : String(filters.chain)}
          onValueChange={(value) => setFilters({ chain: value === ALL ? null : Number(value) })}
          options={[{ value: ALL, label: "All chains" }, ...chains.map(chainOption)]}
        />
      </Field>
      {filtered ? (
        <Button variant="ghost" onClick={() => setFilters({ token: null, chain: null, address: null })}>
          Show all
        </Button>
      ) : null}
    </div>
  );
};
