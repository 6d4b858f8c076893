"use client";

import { X } from "lucide-react";
import { type ReactNode, useId } from "react";
import { useController } from "react-hook-form";
import {
  AmountInput,
  AvailableAmount,
  OtherUnit,
  ReadAmount,
  UnitSwitch,
  useAmountEntry,
} from "@/components/features/money-flow/amount-entry";
import { AddressMark } from "@/components/ui/address";
import { IconButton } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { BareField, FieldError } from "@/components/ui/field";
import { isSameText } from "@/lib/core/same-text";
import { findToken, type SourceValues } from "./form-model";
import { MoneyRow } from "./money-row";
import { holdingsOf } from "./preselection";
import { chainNameOf, distinctWalletName, sourceChoices } from "./token-choices";
import { TokenChooser } from "./token-chooser";
import type { SwapForm } from "./use-swap-form";
import { placeKey, spendableAt, type SwapSetup } from "./use-swap-setup";

/** Error messages of the service, by the path of the field that each is about. */
export type ServerErrors = Readonly<Partial<Record<string, string>>>;

/** All messages as one text; undefined when there is none. */
const joined = (...messages: readonly (string | undefined)[]): string | undefined => {
  const texts = new Set(messages.filter((message) => message !== undefined));
  return texts.size === 0 ? undefined : [...texts].join(" ");
};

interface SourceRowProps {
  readonly index: number;
  readonly setup: SwapSetup;
  readonly swap: SwapForm;
  readonly serverErrors: ServerErrors;
}

export const SourceRow = (props: SourceRowProps): ReactNode => {
  const source = props.swap.values.sources[props.index];
  return source === undefined ? null : (
    <fieldset className="min-w-0">
      <legend className="sr-only">Source {props.index + 1}</legend>
      <Source {...props} source={source} />
    </fieldset>
  );
};

interface SourceProps extends SourceRowProps {
  readonly source: SourceValues;
}

/** The errors of the row: those of its token, chain and wallet, and those of its amount. */
const errorsOf = ({ index, swap, serverErrors }: SourceRowProps) => {
  const own = swap.form.formState.errors.sources?.[index];
  const at = `from.${String(index)}`;
  return {
    place:
      joined(own?.address?.message, own?.chainId?.message, own?.token?.message) ??
      joined(
        serverErrors[`${at}.address`],
        serverErrors[`${at}.chainId`],
        serverErrors[`${at}.token`],
        serverErrors[at],
      ),
    amount: own?.amount?.message ?? serverErrors[`${at}.amount`],
  };
};

const Source = (props: SourceProps): ReactNode => {
  const { index, setup, swap, source } = props;
  const [placeId, amountId] = [useId(), useId()];
  const { field } = useController({
    control: swap.form.control,
    name: `sources.${index}.amount`,
  });
  const token = findToken(setup.tokens, source.chainId, source.token);
  const name = `Source ${String(index + 1)}`;
  const entry = useAmountEntry({
    value: field.value,
    token,
    onChange: field.onChange,
    onChoose: (text) => swap.choose(`sources.${index}.amount`, text),
  });
  const errors = errorsOf(props);
  const chosen =
    token === undefined
      ? null
      : { symbol: token.symbol, chainName: chainNameOf(setup, source.chainId) };
  return (
    <MoneyRow
      mark={chosen}
      chooser={
        <BareField id={placeId} label={`${name} token`} error={errors.place}>
          <TokenChooser
            chosen={chosen}
            chosenKey={placeKey(source)}
            choicesOf={() => sourceChoices(setup)}
            onChoose={(key) => {
              const place = holdingsOf(setup).find((one) => placeKey(one) === key);
              if (place !== undefined) swap.choosePlace(index, place);
            }}
            searchPlaceholder="Token, chain, wallet or address"
          />
        </BareField>
      }
      amount={
        <BareField id={amountId} label={`${name} amount`} hinted error={errors.amount}>
          <AmountInput
            {...field}
            inputRef={field.ref}
            entry={entry}
            className={cn(AMOUNT_LOOKS, smallerFor(field.value))}
          />
        </BareField>
      }
      end={<RemoveButton index={index} swap={swap} />}
      below={
        <span
          id={`${amountId}-hint`}
          className="flex min-w-0 flex-wrap items-baseline gap-x-1.5"
        >
          <WalletOf setup={setup} address={source.address} />
          {token === undefined ? null : (
            <AvailableAmount
              inRow
              spendable={spendableAt(setup, source)}
              entry={entry}
              symbol={token.symbol}
              maxLabel={`${name}: use all`}
            />
          )}
        </span>
      }
      worth={
        <>
          <UnitSwitch inRow entry={entry} symbol={token?.symbol ?? ""} />
          <OtherUnit entry={entry} symbol={token?.symbol ?? ""} />
        </>
      }
    >
      <span className="text-right empty:hidden">
        <ReadAmount value={field.value} entry={entry} symbol={token?.symbol ?? ""} />
      </span>
      <FieldError id={placeId}>{errors.place}</FieldError>
      <FieldError id={amountId}>{errors.amount}</FieldError>
    </MoneyRow>
  );
};

const AMOUNT_LOOKS =
  "-mr-1.5 h-8 w-24 border-transparent px-1.5 text-xl font-medium hover:border-control sm:w-36 xl:w-48";

/** Long amounts are written smaller, so that all digits can be seen. */
const smallerFor = ({ length }: string): string => {
  if (length > 12) return "text-base";
  return length > 7 ? "max-sm:text-base" : "";
};

interface WalletOfProps {
  readonly setup: SwapSetup;
  readonly address: string;
}

const WalletOf = ({ setup, address }: WalletOfProps): ReactNode => {
  const wallet = setup.wallets.find((one) => isSameText(one.address, address));
  if (wallet === undefined) return null;
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5" title={address}>
      <AddressMark value={address} className="size-3.5" />
      <span className="truncate">{distinctWalletName(setup.wallets, wallet)}</span>
      {wallet.signer === "owner" ? <span className="text-fg-3">(you sign)</span> : null}
      <span aria-hidden>·</span>
    </span>
  );
};

const RemoveButton = ({ index, swap }: Pick<SourceRowProps, "index" | "swap">): ReactNode =>
  swap.rows.length === 1 ? null : (
    <IconButton
      label={`Remove source ${index + 1}`}
      className="-mr-2"
      onClick={() => swap.removeSource(index)}
    >
      <X aria-hidden />
    </IconButton>
  );
