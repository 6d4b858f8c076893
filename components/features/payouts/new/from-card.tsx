"use client";

import type { ReactNode } from "react";
import { AccountPicker } from "@/components/features/global-accounts/account-picker";
import type { SwapSetup } from "@/components/features/swap/use-swap-setup";
import { walletName } from "@/components/features/wallets/wallet-name";
import { Address } from "@/components/ui/address";
import { ErrorState } from "@/components/ui/error-state";
import { Field } from "@/components/ui/field";
import { HeldAmount } from "@/components/ui/held-amount";
import { RadioCards } from "@/components/ui/radio-cards";
import { Select } from "@/components/ui/select";
import { Card } from "@/components/ui/card";
import { chainOption, tokenOption } from "@/components/ui/marked-options";
import type { Target } from "./use-target";

const KINDS = [
  { value: "wallets", label: "To wallets", description: "From the treasury to addresses on one chain" },
  { value: "global_accounts", label: "Between accounts", description: "At once and without network fees" },
] as const;

interface FromCardProps {
  readonly target: Target;
  readonly setup: SwapSetup;
}

/** Which kind of payout it is, and from where it is paid. */
export const FromCard = ({ target, setup }: FromCardProps): ReactNode => (
  <Card title="From">
    <div className="flex flex-col gap-4">
      <RadioCards
        label="Kind of payout"
        inRow
        value={target.kind}
        onValueChange={(value) => target.setKind(value === "wallets" ? "wallets" : "global_accounts")}
        options={KINDS}
      />
      {target.kind === "wallets" ? <FromTreasury target={target} setup={setup} /> : <FromAccount target={target} />}
    </div>
  </Card>
);

const FromTreasury = ({ target, setup }: FromCardProps): ReactNode => {
  const tokens = setup.tokens.filter((token) => String(token.chainId) === target.chainId);
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-3">
      <Field label="Chain">
        <Select value={target.chainId} onValueChange={target.setChainId} options={setup.chains.map(chainOption)} />
      </Field>
      <Field label="Token" hint="For rows without a token.">
        <Select
          value={target.token}
          onValueChange={target.setToken}
          options={tokens.map((token) => tokenOption(token.symbol, token.address))}
        />
      </Field>
      <div className="flex min-w-0 flex-col gap-1">
        <span className="text-sm font-medium text-fg-2">From wallet</span>
        {setup.treasury === undefined ? (
          <span className="text-fg-3">The project has no treasury.</span>
        ) : (
          <span className="flex h-9 items-center gap-2">
            <Address value={setup.treasury.address} name={walletName(setup.treasury)} />
          </span>
        )}
      </div>
    </div>
  );
};

const FromAccount = ({
  target: { source, sourceId, sourceError, setSourceId },
}: {
  readonly target: Target;
}): ReactNode => (
  <>
    <Field
      label="Source account"
      hint={
        source === undefined ? (
          "The account that pays; its currency is that of the payout."
        ) : (
          <>
            <HeldAmount value={source.balance.available} unit={source.currency} /> available
          </>
        )
      }
      error={
        source !== undefined && source.status !== "active" ? `This account is ${source.status}; it cannot pay.` : null
      }
    >
      <AccountPicker value={sourceId} onChange={setSourceId} />
    </Field>
    {sourceError === null || source !== undefined ? null : (
      <ErrorState compact error={sourceError} money="Nothing was paid." />
    )}
  </>
);
