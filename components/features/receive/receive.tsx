"use client";

import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { FundMenu } from "@/components/features/faucet/fund-menu";
import { QrCode } from "@/components/features/factors/qr-code";
import { ReadAs } from "@/components/features/money-flow/read-as";
import { walletName, walletOption } from "@/components/features/wallets/wallet-name";
import { usePublicConfig } from "@/components/providers/public-config";
import { AddressGroups } from "@/components/ui/address-groups";
import { Alert } from "@/components/ui/alert";
import { Card } from "@/components/ui/card";
import { CopyButton } from "@/components/ui/copy-button";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { AddressMark } from "@/components/ui/address-mark";
import { chainOption, tokenOption } from "@/components/ui/marked-options";
import { PageHeader } from "@/components/ui/page-header";
import { Select } from "@/components/ui/select";
import { LoadingRows } from "@/components/ui/skeleton";
import { listOperations } from "@/lib/api-client/calls.gen";
import { readAmount } from "@/lib/core/read-amount";
import { useReceive, type ReceiveChoice, type TokenInfo, type WalletRecord } from "./use-receive";
import { WaitingCard } from "./waiting-card";

/** Address of a wallet, and its deposits as they come. */
export const Receive = (): ReactNode => {
  const choice = useReceive();
  const { wallet, chainId, token, amount, wallets } = choice;
  const chainName = choice.chains.find(({ id }) => id === chainId)?.name ?? `Chain ${String(chainId)}`;
  return (
    <>
      <PageHeader
        title="Receive"
        description="Send to this address from outside. The deposit appears here by itself."
      />
      {wallets.isPending ? (
        <Card flush>
          <LoadingRows what="wallets" />
        </Card>
      ) : wallet === undefined || token === undefined ? (
        <Card flush>
          <ErrorState
            error={wallets.error ?? choice.tokens.error}
            money="Nothing was sent."
            onRetry={() => {
              void wallets.refetch();
              void choice.tokens.refetch();
            }}
          />
        </Card>
      ) : (
        <div className="flex flex-col gap-4">
          <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-12 lg:grid-rows-[auto_1fr]">
            <Choices choice={choice} wallet={wallet} token={token} />
            <AddressCard wallet={wallet} token={token} chainName={chainName} />
            <WaitingCard
              key={`${wallet.id} ${String(chainId)}`}
              walletId={wallet.id}
              chainId={chainId}
              token={token}
              expected={amount.trim()}
            />
          </div>
          <ApiSnippet method={listOperations.method} path="/operations?kind=deposit" />
        </div>
      )}
    </>
  );
};

interface ChoicesProps {
  readonly choice: ReceiveChoice;
  readonly wallet: WalletRecord;
  readonly token: TokenInfo;
}

const Choices = ({ choice, wallet, token }: ChoicesProps): ReactNode => {
  const { own, chains, chainId, here, amount, setChoice } = choice;
  return (
    <Card title="Expected deposit" className="lg:col-span-7">
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <Field label="Wallet">
          <Select
            value={wallet.id}
            onValueChange={(id) => void setChoice({ wallet: id })}
            options={own.map((each) => ({ ...walletOption(each), value: each.id }))}
          />
        </Field>
        <Field label="Chain">
          <Select
            value={String(chainId)}
            onValueChange={(id) => void setChoice({ chain: Number(id) })}
            options={chains.map(chainOption)}
          />
        </Field>
        <Field label="Token">
          <Select
            value={token.symbol}
            onValueChange={(symbol) => void setChoice({ token: symbol })}
            options={here.map(({ symbol }) => tokenOption(symbol))}
          />
        </Field>
        <Field
          label="Expected amount"
          hint={
            <>
              Optional. It is compared with what arrives.{" "}
              <ReadAs value={amount} read={readAmount(amount)} symbol={token.symbol} />
            </>
          }
        >
          <Input
            numeric
            value={amount}
            placeholder="100.00"
            onChange={({ target }) => void setChoice({ amount: target.value === "" ? null : target.value })}
          />
        </Field>
      </div>
    </Card>
  );
};

interface AddressCardProps {
  readonly wallet: WalletRecord;
  readonly token: TokenInfo;
  readonly chainName: string;
}

const AddressCard = ({ wallet, token, chainName }: AddressCardProps): ReactNode => {
  const { devnet } = usePublicConfig();
  const name = walletName(wallet);
  return (
    <Card
      title={
        <span className="flex items-center gap-2">
          <AddressMark value={wallet.address} /> {name}
        </span>
      }
      actions={devnet ? <FundMenu address={wallet.address} name={name} /> : undefined}
      className="lg:col-span-5 lg:row-span-2"
    >
      <div className="flex flex-col items-center gap-3">
        <QrCode text={wallet.address} label={`QR code of the address of ${name}`} />
        <p className="flex items-center gap-1">
          <AddressGroups value={wallet.address} />
          <CopyButton value={wallet.address} label="Copy address" />
        </p>
        <Alert className="w-full">
          Send {token.symbol} on {chainName}. The address is the same on every chain of the project.
        </Alert>
      </div>
    </Card>
  );
};
