"use client";

import { Plus, TriangleAlert, X } from "lucide-react";
import type { ReactNode } from "react";
import { useController } from "react-hook-form";
import { AmountEntry, HeldAside } from "@/components/features/money-flow/amount-entry";
import { type Recipient, RecipientField } from "@/components/features/transfer/recipient-field";
import { walletOption } from "@/components/features/wallets/use-wallets";
import { shorten } from "@/components/ui/address";
import { Usd } from "@/components/ui/amount";
import { Button, IconButton } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Combobox, type ComboboxOption } from "@/components/ui/combobox";
import { Field, Input } from "@/components/ui/field";
import { chainOption, tokenOption } from "@/components/ui/marks";
import { Select } from "@/components/ui/select";
import { SOURCES_MAX } from "@/lib/contracts/swap";
import { readAmount } from "@/lib/core/read-amount";
import { percentText, sumAmounts, usdValue } from "./decimal";
import { slippageBps } from "@/components/features/money-flow/slippage";
import { findToken, SLIPPAGE_WARNING_BPS, type SourceValues } from "./form-model";
import type { TokenInfo } from "./tokens";
import type { SwapForm } from "./use-swap-form";
import { balanceOf, spendableAt, type SwapSetup } from "./use-swap-setup";

type ServerErrors = Readonly<Partial<Record<string, string>>>;

interface SourcesCardProps {
  readonly setup: SwapSetup;
  readonly swap: SwapForm;
  readonly serverErrors: ServerErrors;
}

/** The value of all sources in US dollars; null when a price is missing. */
const totalUsd = ({ tokens }: SwapSetup, { values }: SwapForm): string | null => {
  const worths = values.sources.map((source) =>
    usdValue(
      readAmount(source.amount) ?? "",
      findToken(tokens, source.chainId, source.token)?.priceUsd ?? null,
    ),
  );
  return worths.includes(null) ? null : sumAmounts(worths.filter((worth) => worth !== null));
};

export const SourcesCard = ({ setup, swap, serverErrors }: SourcesCardProps): ReactNode => {
  const total = totalUsd(setup, swap);
  return (
    <Card
      title="You send"
      flush
      actions={
        total === null ? null : (
          <span className="text-fg-2">
            Together <Usd value={total} />
          </span>
        )
      }
    >
      <div className="divide-y">
        {swap.rows.map((row, index) => (
          <SourceRow
            key={row.id}
            index={index}
            setup={setup}
            swap={swap}
            serverErrors={serverErrors}
          />
        ))}
      </div>
      <div className="flex flex-wrap items-center gap-3 border-t px-4 py-2">
        <Button size="sm" disabled={!swap.mayAdd} onClick={swap.addSource}>
          <Plus aria-hidden /> Add source
        </Button>
        <span className="text-sm text-fg-3">
          {swap.rows.length} of {SOURCES_MAX}
        </span>
      </div>
    </Card>
  );
};

interface SourceRowProps extends SourcesCardProps {
  readonly index: number;
}

/** `Source 1 amount` for screen readers, `Amount` on the screen. */
const Label = ({ of, what }: { readonly of: string; readonly what: string }): ReactNode => (
  <>
    <span className="sr-only">{of} </span>
    <span className="inline-block first-letter:uppercase">{what}</span>
  </>
);

const SourceRow = ({ index, setup, swap, serverErrors }: SourceRowProps): ReactNode => {
  const source = swap.values.sources[index];
  const problems = swap.form.formState.errors.sources?.[index];
  if (source === undefined) return null;
  const name = `Source ${String(index + 1)}`;
  const at = `from.${String(index)}`;
  return (
    <fieldset className="grid grid-cols-2 gap-3 p-4 sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)_minmax(0,1fr)]">
      <legend className="sr-only">{name}</legend>
      <Field
        className="max-sm:col-span-2"
        label={<Label of={name} what="wallet" />}
        error={problems?.address?.message ?? serverErrors[`${at}.address`]}
      >
        <Select
          value={source.address}
          onValueChange={(value) => swap.choose(`sources.${index}.address`, value)}
          options={setup.wallets.map(walletOption)}
          placeholder="Choose …"
        />
      </Field>
      <Field
        label={<Label of={name} what="chain" />}
        error={problems?.chainId?.message ?? serverErrors[`${at}.chainId`]}
      >
        <Select
          value={source.chainId}
          onValueChange={(value) => swap.chooseChain(index, value)}
          options={setup.chains.map(chainOption)}
          placeholder="Choose …"
        />
      </Field>
      <TokenField
        label={<Label of={name} what="token" />}
        setup={setup}
        chainId={source.chainId}
        value={source.token}
        wallet={source.address}
        onValueChange={(value) => swap.choose(`sources.${index}.token`, value)}
        error={problems?.token?.message ?? serverErrors[`${at}.token`] ?? serverErrors[at]}
      />
      <div className="col-span-full flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <AmountField
            index={index}
            setup={setup}
            swap={swap}
            source={source}
            error={problems?.amount?.message ?? serverErrors[`${at}.amount`]}
          />
        </div>
        <RemoveButton index={index} swap={swap} />
      </div>
    </fieldset>
  );
};

const RemoveButton = ({ index, swap }: Pick<SourceRowProps, "index" | "swap">): ReactNode =>
  swap.rows.length === 1 ? null : (
    <span className="pt-[22px]">
      <IconButton
        label={`Remove source ${index + 1}`}
        size="md"
        onClick={() => swap.removeSource(index)}
      >
        <X aria-hidden />
      </IconButton>
    </span>
  );

interface AmountFieldProps extends Pick<SourceRowProps, "index" | "setup" | "swap"> {
  readonly source: SourceValues;
  readonly error: string | undefined;
}

const AmountField = ({ index, setup, swap, source, error }: AmountFieldProps): ReactNode => {
  const { field } = useController({
    control: swap.form.control,
    name: `sources.${index}.amount`,
  });
  const token = findToken(setup.tokens, source.chainId, source.token);
  return (
    <AmountEntry
      label={<Label of={`Source ${String(index + 1)}`} what="amount" />}
      maxLabel={`Source ${String(index + 1)}: use all`}
      value={field.value}
      onChange={field.onChange}
      onChoose={(text) => swap.choose(`sources.${index}.amount`, text)}
      onBlur={field.onBlur}
      name={field.name}
      inputRef={field.ref}
      token={token}
      spendable={spendableAt(setup, source)}
      error={error}
    />
  );
};

interface DestinationCardProps extends SourcesCardProps {
  readonly recipient: Recipient;
}

export const DestinationCard = ({
  setup,
  swap,
  recipient,
  serverErrors,
}: DestinationCardProps): ReactNode => {
  const { values } = swap;
  const { errors } = swap.form.formState;
  return (
    <Card title={recipient.view.as === "own" ? "You receive" : "They receive"}>
      <div className="grid grid-cols-2 gap-3">
        <Field
          label={<Label of="Destination" what="chain" />}
          error={errors.toChainId?.message ?? serverErrors.toChainId}
        >
          <Select
            value={values.toChainId}
            onValueChange={(value) => swap.chooseChain("destination", value)}
            options={setup.chains.map(chainOption)}
            placeholder="Choose …"
          />
        </Field>
        <TokenField
          label={<Label of="Destination" what="token" />}
          setup={setup}
          chainId={values.toChainId}
          value={values.toToken}
          onValueChange={(value) => swap.choose("toToken", value)}
          error={errors.toToken?.message ?? serverErrors.toToken}
        />
        <div className="col-span-2">
          <RecipientField
            recipient={recipient}
            error={errors.toAddress?.message ?? serverErrors.toAddress}
            input={swap.form.register("toAddress")}
            onChoose={(address) => swap.choose("toAddress", address)}
            ownIsUsual
          />
        </div>
      </div>
      <SlippageField swap={swap} error={errors.slippage?.message ?? serverErrors.slippageBps} />
    </Card>
  );
};

const PRESETS = ["0.1", "0.5", "1"];

interface SlippageFieldProps {
  readonly swap: SwapForm;
  readonly error: string | undefined;
}

/** The accepted loss against the quote in per cent; enforced on chain. */
const SlippageField = ({ swap, error }: SlippageFieldProps): ReactNode => {
  const bps = slippageBps(swap.values.slippage);
  const high = bps !== null && bps > SLIPPAGE_WARNING_BPS;
  return (
    <Field
      label="Slippage (%)"
      className="pt-3"
      error={error}
      hint={
        high && error === undefined ? (
          <span className="flex items-start gap-1 text-warning">
            <TriangleAlert className="mt-0.5 size-3.5 shrink-0" aria-hidden />
            High: you accept up to {percentText(bps)} less than quoted.
          </span>
        ) : undefined
      }
    >
      <div className="flex flex-wrap items-center gap-1">
        <Input numeric className="w-24" {...swap.form.register("slippage")} />
        {PRESETS.map((preset) => (
          <Button
            key={preset}
            size="sm"
            variant={swap.values.slippage.trim() === preset ? "secondary" : "ghost"}
            aria-label={`Slippage ${preset} %`}
            aria-pressed={swap.values.slippage.trim() === preset}
            onClick={() => swap.choose("slippage", preset)}
          >
            {preset} %
          </Button>
        ))}
      </div>
    </Field>
  );
};

interface TokenFieldProps {
  readonly label: ReactNode;
  readonly setup: SwapSetup;
  readonly chainId: string;
  readonly value: string;
  readonly onValueChange: (token: string) => void;
  /** Address of the wallet whose balance of each token is shown. */
  readonly wallet?: string;
  readonly error: string | undefined;
}

const optionOf = (token: TokenInfo, balance: string | null): ComboboxOption => ({
  ...tokenOption(token.symbol, token.address),
  description:
    token.address === "native"
      ? `${token.name}, native`
      : `${token.name}, ${shorten(token.address)}`,
  keywords: [token.symbol, token.name],
  aside: balance === null ? undefined : <HeldAside amount={balance} symbol={token.symbol} />,
});

interface Held {
  readonly token: TokenInfo;
  readonly balance: string | null;
}

/**
 * Only used for sorting, so floats are precise enough. Tokens without a price come after those with
 * one.
 */
const worth = ({ token, balance }: Held): number => {
  if (balance === null) return 0;
  return Number(usdValue(balance, token.priceUsd) ?? Number(balance) / Number.MAX_SAFE_INTEGER);
};

/** Highest value first. Tokens of equal value keep the order of the configuration. */
const byWorth = (one: Held, other: Held): number => worth(other) - worth(one);

const TokenField = (props: TokenFieldProps): ReactNode => {
  const { setup, chainId, wallet } = props;
  const options = setup.tokens
    .filter((token) => String(token.chainId) === chainId)
    .map((token) => ({
      token,
      balance:
        wallet === undefined
          ? null
          : balanceOf(setup.balances, { address: wallet, chainId, token: token.address }),
    }))
    .sort(byWorth)
    .map(({ token, balance }) => optionOf(token, balance));
  return (
    <Field label={props.label} error={props.error}>
      <Combobox
        options={options}
        value={props.value}
        onValueChange={props.onValueChange}
        placeholder="Choose a token"
        searchPlaceholder="Symbol, name or address"
        emptyText="No such token on this chain."
        disabled={chainId === ""}
      />
    </Field>
  );
};
