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
import { ReadAs } from "./read-as";
import type { Spendable } from "./spendable";

interface EntryToken {
  readonly symbol: string;
  readonly decimals: number;
  readonly priceUsd: string | null;
}

interface AmountEntryProps {
  readonly label: ReactNode;
  /** Of the button that takes all: `Source 2: use all`. */
  readonly maxLabel: string;
  /** As typed, in units of the token. */
  readonly value: string;
  /** While a person types. */
  readonly onChange: (text: string) => void;
  /** The whole amount is chosen at once, so it can be checked at once. */
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
 * An amount of a token, typed in its units or in dollars as the person's locale writes them. Below stand the amount as it was
 * read, its worth, and the amount that may be moved.
 */
export const AmountEntry = (props: AmountEntryProps): ReactNode => {
  const { value, token, error } = props;
  // Null: typed in units of the token.
  const [dollars, setDollars] = useState<string | null>(null);
  const read = readAmount(value);
  const inUsd = dollars !== null && token?.priceUsd != null;
  const typeDollars = (text: string): void => {
    setDollars(text);
    const usd = readAmount(text);
    const amount = usd === null || token === undefined ? null : amountForUsd(usd, token.priceUsd, token.decimals);
    props.onChange(amount === null ? "" : typedAmount(amount));
  };
  const useMax = (amount: string): void => {
    setDollars(null);
    props.onChoose(typedAmount(amount));
  };
  return (
    <Field
      label={props.label}
      error={error}
      aside={
        token?.priceUsd == null ? undefined : (
          <Button
            variant="link"
            size="sm"
            className="h-auto"
            aria-pressed={inUsd}
            onClick={() =>
              setDollars(inUsd ? null : typedAmount((read === null ? null : usdValue(read, token.priceUsd)) ?? ""))
            }
          >
            {inUsd ? `Type ${token.symbol}` : "Type US dollars"}
          </Button>
        )
      }
      hint={<Hint {...props} read={read} inUsd={inUsd} onMax={useMax} />}
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
  readonly inUsd: boolean;
  readonly onMax: (amount: string) => void;
}

const Hint = ({ value, token, spendable, read, inUsd, onMax, maxLabel, note }: HintProps): ReactNode => {
  if (token === undefined) return <ReadAs value={value} read={read} symbol="" />;
  const usd = read === null ? null : usdValue(read, token.priceUsd);
  return (
    <span className="flex flex-col gap-0.5">
      <span className="flex min-h-6 flex-wrap items-baseline justify-between gap-x-3">
        <Free spendable={spendable} asked={read} symbol={token.symbol} onMax={onMax} maxLabel={maxLabel} />
        {inUsd ? (
          read === null ? null : (
            <Amount value={read} unit={token.symbol} plain />
          )
        ) : usd === null ? null : (
          <Usd value={usd} />
        )}
      </span>
      {inUsd ? null : <ReadAs value={value} read={read} symbol={token.symbol} />}
      {note}
    </span>
  );
};

interface FreeProps {
  readonly spendable: Spendable;
  readonly asked: string | null;
  readonly symbol: string;
  readonly onMax: (amount: string) => void;
  readonly maxLabel: string;
}

const Free = ({ spendable: { amount, backing }, asked, symbol, onMax, maxLabel }: FreeProps): ReactNode => {
  const hidden = useAmountsHidden();
  if (amount === null) return <span>The available amount is not known</span>;
  const short = asked !== null && compareAmounts(asked, amount) === 1;
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
