"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import type { UseQueryResult } from "@tanstack/react-query";
import { Download, Pencil, Unlink } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useState } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { AvailableAmount } from "@/components/features/balances/balance-parts";
import type { Balances } from "@/components/features/balances/use-balances";
import { FundMenu } from "@/components/features/faucet/fund-menu";
import { isEmpty } from "@/components/features/overview/worth";
import { useApiMutation, useCache } from "@/components/features/session/use-api";
import { usePublicConfig } from "@/components/providers/public-config";
import { Address } from "@/components/ui/address";
import { columnTail, type ColumnTail, Worth } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Button, IconButton } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card, Fact, Facts } from "@/components/ui/card";
import { ChainName, TokenName } from "@/components/ui/marks";
import { EmptyState, QueryContent } from "@/components/ui/states";
import { Form, FormError, TextField } from "@/components/ui/form";
import { type Column, Table } from "@/components/ui/table";
import { labelWallet, listWallets } from "@/lib/api-client/calls.gen";
import { DeploymentBadges } from "./smart-account-dialog";
import { KIND_WORDS, walletName, type WalletRecord } from "./use-wallets";

interface WalletCardProps {
  readonly wallet: WalletRecord;
  readonly balances: UseQueryResult<Balances>;
  readonly token: string | null;
  readonly chainId: number | null;
  readonly onUnlink: (wallet: WalletRecord) => void;
}

export const WalletCard = ({
  wallet,
  balances,
  token,
  chainId,
  onUnlink,
}: WalletCardProps): ReactNode => {
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
            <Button
              size="sm"
              variant="ghost"
              aria-label={`Unlink ${name}`}
              onClick={() => onUnlink(wallet)}
            >
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
          <WalletBalances
            walletId={wallet.id}
            balances={balances}
            token={token}
            chainId={chainId}
          />
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

/**
 * Shows the chains on which the wallet can be used. A linked account exists on every chain; a smart
 * account must be deployed on each chain.
 */
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

const columnsOf = (tail: ColumnTail): readonly Column<Part>[] => [
  {
    id: "token",
    header: "Token",
    phone: "title",
    cell: (part) => <TokenName symbol={part.token.symbol} />,
  },
  {
    id: "chain",
    header: "Chain",
    bare: true,
    cell: (part) => <ChainName chainId={part.chainId} />,
  },
  {
    id: "amount",
    header: "Available",
    align: "right",
    phone: "aside",
    cell: (part) => <AvailableAmount amounts={part} unit={part.token.symbol} column={tail} />,
  },
  {
    id: "usd",
    header: "Value",
    align: "right",
    bare: true,
    cell: (part) => <Worth value={part.usd} />,
  },
];

interface WalletBalancesProps extends Omit<WalletCardProps, "wallet" | "onUnlink"> {
  readonly walletId: string;
}

const WalletBalances = (props: WalletBalancesProps): ReactNode => (
  <QueryContent
    query={props.balances}
    what="balances"
    rows={3}
    money="The money in the wallet is untouched."
  >
    {(data) => <KnownBalances {...props} data={data} />}
  </QueryContent>
);

const KnownBalances = ({
  walletId,
  data,
  token,
  chainId,
}: WalletBalancesProps & { readonly data: Balances }): ReactNode => {
  const parts = data.totals
    .filter((total) => token === null || total.token === token)
    .flatMap((total) => total.breakdown)
    .filter(
      (part) =>
        part.walletId === walletId &&
        !isEmpty(part) &&
        (chainId === null || part.chainId === chainId),
    );
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
        More wallets hold something than are listed. GET /balances/unified lists them all, by
        cursor.
      </EmptyState>
    );
  if (parts.length === 0)
    return (
      <EmptyState
        title={
          token === null && chainId === null ? "Holds nothing yet" : "Nothing fits the filter"
        }
      />
    );
  return (
    <Table
      caption="Balances of the wallet"
      columns={columnsOf(
        columnTail(parts.map(({ available, token }) => ({ value: available, ...token }))),
      )}
      rows={parts}
      rowKey={(part) => `${part.token.assetId}-${String(part.chainId)}-${part.token.address}`}
    />
  );
};

const LABEL_MAX = 80;

/** An empty name removes the name. */
const labelForm = z.object({ label: z.string().trim().max(LABEL_MAX) });

export const WalletLabel = ({ wallet }: { readonly wallet: WalletRecord }): ReactNode => {
  const [editing, setEditing] = useState(false);
  if (editing) return <LabelForm wallet={wallet} onClose={() => setEditing(false)} />;
  return (
    <span className="inline-flex items-center gap-1">
      {wallet.label ?? <span className="text-fg-3">none</span>}
      <IconButton
        label={`Name ${wallet.label ?? KIND_WORDS[wallet.kind].toLowerCase()}`}
        onClick={() => setEditing(true)}
      >
        <Pencil aria-hidden />
      </IconButton>
    </span>
  );
};

interface LabelFormProps {
  readonly wallet: WalletRecord;
  readonly onClose: () => void;
}

/** The form for a wallet's name: Enter saves, Escape cancels, an empty name removes it. */
export const LabelForm = ({ wallet, onClose }: LabelFormProps): ReactNode => {
  const form = useForm({
    resolver: zodResolver(labelForm),
    defaultValues: { label: wallet.label ?? "" },
  });
  const save = useApiMutation(labelWallet);
  const cache = useCache();
  const submit = async ({ label }: z.infer<typeof labelForm>): Promise<void> => {
    const body = { label: label === "" ? null : label };
    await save.mutateAsync({ params: { id: wallet.id }, body });
    await cache.refresh(listWallets);
    onClose();
  };
  return (
    <Form
      form={form}
      error={save.error}
      onSubmit={submit}
      className="flex flex-wrap items-start justify-end gap-2"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      <TextField
        control={form.control}
        name="label"
        label="Name of the wallet"
        labelHidden
        className="w-56"
        input={{ maxLength: LABEL_MAX, autoFocus: true, placeholder: "For instance: Savings" }}
      />
      <Button type="submit" loading={save.isPending}>
        Save
      </Button>
      <Button variant="ghost" onClick={onClose}>
        Cancel
      </Button>
      <FormError money="The name is as it was." />
    </Form>
  );
};
