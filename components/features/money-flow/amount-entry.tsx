"use client";

import Link from "next/link";
import { useState, type ReactNode } from "react";
import { amountForUsd, compareAmounts, usdValue } from "@/components/features/swap/decimal";
import { Amount, Usd } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { useAmountsHidden } from "@/components/ui/hidden-amounts";
import { cn } from "@/components/ui/cn";
import { Field, Input } from "@/components/ui/field";
import { readAmount, typedAmount } from "@/lib/core/read-amount";
import { ReadAs } from "./field-checks";
import type { Spendable } from "./spendable";

interface EntryToken {
  readonly symbol: string;
  readonly decimals: number;
  readonly priceUsd: string | null;
}

interface AmountEntryProps {
  readonly label: ReactNode;
  /** Accessible name of the MAX button: `Source 2: use all`. */
  readonly maxLabel: string;
  /** The typed text, in units of the token. */
  readonly value: string;
  readonly onChange: (text: string) => void;
  /** Called with the complete amount of the MAX button, which can be validated at once. */
  readonly onChoose: (text: string) => void;
  readonly onBlur: () => void;
  readonly name: string;
  readonly inputRef: (element: HTMLInputElement | null) => void;
  readonly token: EntryToken | undefined;
  readonly spendable: Spendable;
  readonly error: string | undefined;
  readonly note?: ReactNode;
}

/**
 * A field for an amount in units of a token or in dollars, written in the person's locale. Below it
 * are the parsed amount, its worth, and the available amount.
 */
export const AmountEntry = (props: AmountEntryProps): ReactNode => {
  const { value, token, error } = props;
  // Null while the amount is typed in units of the token.
  const [dollars, setDollars] = useState<string | null>(null);
  const read = readAmount(value);
  const worth = read === null || token === undefined ? null : usdValue(read, token.priceUsd);
  const inUsd = dollars !== null && token?.priceUsd != null;
  const typeDollars = (text: string): void => {
    setDollars(text);
    const usd = readAmount(text);
    const amount =
      usd === null || token === undefined
        ? null
        : amountForUsd(usd, token.priceUsd, token.decimals);
    props.onChange(amount === null ? "" : typedAmount(amount));
  };
  const useMax = (amount: string): void => {
    setDollars(null);
    props.onChoose(typedAmount(amount));
  };
  const switchUnit =
    token?.priceUsd == null ? undefined : (
      <Button
        variant="link"
        size="sm"
        className="h-auto"
        aria-pressed={inUsd}
        onClick={() => setDollars(inUsd ? null : typedAmount(worth ?? ""))}
      >
        {inUsd ? `Type ${token.symbol}` : "Type US dollars"}
      </Button>
    );
  return (
    <Field
      label={props.label}
      error={error}
      aside={switchUnit}
      hint={<Hint {...props} read={read} worth={worth} inUsd={inUsd} onMax={useMax} />}
    >
      {inUsd ? (
        <Input
          numeric
          placeholder="$0.00"
          value={dollars}
          onChange={(event) => typeDollars(event.target.value)}
          onBlur={props.onBlur}
        />
      ) : (
        <Input
          numeric
          placeholder={typedAmount("0.0")}
          name={props.name}
          ref={props.inputRef}
          value={value}
          onChange={(event) => props.onChange(event.target.value)}
          onBlur={props.onBlur}
        />
      )}
    </Field>
  );
};

interface HintProps extends AmountEntryProps {
  readonly read: string | null;
  /** Worth of the amount in US dollars; null when unknown. */
  readonly worth: string | null;
  readonly inUsd: boolean;
  readonly onMax: (amount: string) => void;
}

const Hint = (props: HintProps): ReactNode => {
  const { value, token, read, inUsd, note } = props;
  if (token === undefined) return <ReadAs value={value} read={read} symbol="" />;
  return (
    <span className="flex flex-col gap-0.5">
      <span className="flex min-h-6 flex-wrap items-baseline justify-between gap-x-3">
        <Free {...props} symbol={token.symbol} />
        <OtherUnit {...props} symbol={token.symbol} />
      </span>
      {inUsd ? null : <ReadAs value={value} read={read} symbol={token.symbol} />}
      {note}
    </span>
  );
};

/** The typed amount in the other unit: dollars for units of the token, and the reverse. */
const OtherUnit = ({
  read,
  worth,
  inUsd,
  symbol,
}: Pick<HintProps, "read" | "worth" | "inUsd"> & { readonly symbol: string }): ReactNode => {
  if (!inUsd) return worth === null ? null : <Usd value={worth} />;
  return read === null ? null : <Amount value={read} unit={symbol} plain />;
};

interface FreeProps extends Pick<HintProps, "spendable" | "read" | "onMax" | "maxLabel"> {
  readonly symbol: string;
}

const Free = ({
  spendable: { amount, backing },
  read,
  symbol,
  onMax,
  maxLabel,
}: FreeProps): ReactNode => {
  const hidden = useAmountsHidden();
  if (amount === null) return <span>The available amount is not known</span>;
  const short = read !== null && compareAmounts(read, amount) === 1;
  return (
    <span className={cn(short && "text-warning")}>
      {short ? "More than is available: " : "Available "}
      <Amount value={amount} unit={symbol} plain />{" "}
      <button
        type="button"
        className="link min-h-6 px-1"
        disabled={compareAmounts(amount, "0") === 0}
        aria-label={hidden ? `${maxLabel} ${symbol}` : `${maxLabel} ${amount} ${symbol}`}
        onClick={() => onMax(amount)}
      >
        MAX
      </button>
      {backing === null ? null : (
        <span className="block">
          <Amount value={backing} unit={symbol} plain /> more back{" "}
          <Link href="/reserves" className="link">
            global accounts
          </Link>
        </span>
      )}
    </span>
  );
};

interface HeldAsideProps {
  readonly amount: string;
  readonly symbol: string;
}

export const HeldAside = ({ amount, symbol }: HeldAsideProps): ReactNode => (
  <Amount value={amount} symbol={symbol} plain className="text-sm text-fg-2" />
);
