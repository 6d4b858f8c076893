"use client";

import { ArrowUpDown } from "lucide-react";
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
  /** Accessible name of the MAX button: `Source 2: use all`. */
  readonly maxLabel: string;
  /** The typed text, in units of the token. */
  readonly value: string;
  readonly onChange: (text: string) => void;
  /**
   * Called with the amount of the MAX button. It is complete, so the field can be validated at
   * once.
   */
  readonly onChoose: (text: string) => void;
  readonly onBlur: () => void;
  readonly name: string;
  readonly inputRef: (element: HTMLInputElement | null) => void;
  readonly token: EntryToken | undefined;
  readonly spendable: Spendable;
  readonly error: string | undefined;
  readonly note?: ReactNode;
}

export interface AmountEntryState {
  /** The typed amount as a decimal string; null when the text is no amount. */
  readonly read: string | null;
  /** Worth of the amount in US dollars; null when unknown. */
  readonly worth: string | null;
  /** The typed dollars; null while the amount is typed in units of the token. */
  readonly dollars: string | null;
  readonly typeDollars: (text: string) => void;
  /** Switches between dollars and units; undefined when the token has no price. */
  readonly switchUnit: (() => void) | undefined;
  readonly useMax: (amount: string) => void;
}

type EntryOptions = Pick<AmountEntryProps, "value" | "token" | "onChange" | "onChoose">;

/** The state of an entry that takes units of a token or dollars. */
export const useAmountEntry = ({
  value,
  token,
  onChange,
  onChoose,
}: EntryOptions): AmountEntryState => {
  const [dollars, setDollars] = useState<string | null>(null);
  const read = readAmount(value);
  const worth = read === null || token === undefined ? null : usdValue(read, token.priceUsd);
  const isPriced = token?.priceUsd != null;
  const shownDollars = isPriced ? dollars : null;
  const switchUnit = (): void => {
    const isInUnits = shownDollars === null;
    setDollars(isInUnits ? typedAmount(worth ?? "") : null);
  };
  return {
    read,
    worth,
    dollars: shownDollars,
    typeDollars: (text) => {
      setDollars(text);
      const usd = readAmount(text);
      const amount =
        usd === null || token === undefined
          ? null
          : amountForUsd(usd, token.priceUsd, token.decimals);
      onChange(amount === null ? "" : typedAmount(amount));
    },
    switchUnit: isPriced ? switchUnit : undefined,
    useMax: (amount) => {
      setDollars(null);
      onChoose(typedAmount(amount));
    },
  };
};

/**
 * A field for an amount in units of a token or in dollars, written in the person's locale. Below it
 * are the parsed amount, its worth, and the available amount.
 */
export const AmountEntry = (props: AmountEntryProps): ReactNode => {
  const entry = useAmountEntry(props);
  return (
    <Field
      label={props.label}
      error={props.error}
      aside={<UnitSwitch entry={entry} symbol={props.token?.symbol ?? ""} />}
      hint={<Hint {...props} entry={entry} />}
    >
      <AmountInput {...props} entry={entry} />
    </Field>
  );
};

interface AmountInputProps extends Pick<
  AmountEntryProps,
  "value" | "onChange" | "onBlur" | "name" | "inputRef"
> {
  readonly entry: AmountEntryState;
  readonly className?: string;
}

export const AmountInput = ({
  entry,
  className,
  value,
  onBlur,
  ...props
}: AmountInputProps): ReactNode =>
  entry.dollars === null ? (
    <Input
      numeric
      placeholder={typedAmount("0.0")}
      name={props.name}
      ref={props.inputRef}
      value={value}
      onChange={(event) => props.onChange(event.target.value)}
      onBlur={onBlur}
      className={className}
    />
  ) : (
    <Input
      numeric
      placeholder="$0.00"
      value={entry.dollars}
      onChange={(event) => entry.typeDollars(event.target.value)}
      onBlur={onBlur}
      className={className}
    />
  );

interface UnitSwitchProps {
  readonly entry: AmountEntryState;
  readonly symbol: string;
}

interface UnitButtonProps extends UnitSwitchProps {
  /** Shows an icon instead of the words in a narrow window. */
  readonly inRow?: boolean;
}

/** Changes the unit of the entry. Renders nothing when the token has no price. */
export const UnitSwitch = ({ entry, symbol, inRow = false }: UnitButtonProps): ReactNode => {
  if (entry.switchUnit === undefined) return null;
  const words = entry.dollars === null ? "Enter in USD" : `Enter in ${symbol}`;
  return (
    <Button
      variant="link"
      size="sm"
      className="h-auto min-h-6 min-w-6"
      aria-pressed={entry.dollars !== null}
      title={inRow ? words : undefined}
      onClick={entry.switchUnit}
    >
      <span className={cn(inRow && "max-sm:sr-only")}>{words}</span>
      {inRow ? <ArrowUpDown className="sm:hidden" aria-hidden /> : null}
    </Button>
  );
};

interface HintProps extends AmountEntryProps {
  readonly entry: AmountEntryState;
}

const Hint = (props: HintProps): ReactNode => {
  const { value, token, entry, note } = props;
  if (token === undefined) return <ReadAs value={value} read={entry.read} symbol="" />;
  return (
    <span className="flex flex-col gap-0.5">
      <span className="flex min-h-6 flex-wrap items-baseline justify-between gap-x-3">
        <AvailableAmount {...props} symbol={token.symbol} />
        <OtherUnit entry={entry} symbol={token.symbol} />
      </span>
      <ReadAmount value={value} entry={entry} symbol={token.symbol} />
      {note}
    </span>
  );
};

interface ReadAmountProps extends UnitSwitchProps {
  readonly value: string;
}

/** Shows how the typed amount was read, when its format differs from the API's format. */
export const ReadAmount = ({ value, entry, symbol }: ReadAmountProps): ReactNode =>
  entry.dollars === null ? <ReadAs value={value} read={entry.read} symbol={symbol} /> : null;

/** The typed amount in the other unit: dollars for units of the token, and the reverse. */
export const OtherUnit = ({ entry, symbol }: UnitSwitchProps): ReactNode => {
  if (entry.dollars === null) return entry.worth === null ? null : <Usd value={entry.worth} />;
  return entry.read === null ? null : <Amount value={entry.read} unit={symbol} plain />;
};

interface AvailableAmountProps extends Pick<AmountEntryProps, "spendable" | "maxLabel"> {
  readonly entry: AmountEntryState;
  readonly symbol: string;
  /** Leaves out the unit, which the row shows already. */
  readonly inRow?: boolean;
}

/** The available amount with the button that takes all of it. */
export const AvailableAmount = (props: AvailableAmountProps): ReactNode => {
  const { spendable, entry, symbol, maxLabel, inRow = false } = props;
  const { amount, backing } = spendable;
  const hidden = useAmountsHidden();
  if (amount === null) return <span>The available amount is not known</span>;
  const short = entry.read !== null && compareAmounts(entry.read, amount) === 1;
  const shown = inRow ? { symbol } : { unit: symbol };
  return (
    <span className={cn(short && "text-warning")}>
      {short ? "More than is available: " : null}
      {short || inRow ? null : "Available "}
      <Amount value={amount} {...shown} plain />
      {!short && inRow ? " available" : null}{" "}
      <button
        type="button"
        className="link min-h-6 px-1"
        disabled={compareAmounts(amount, "0") === 0}
        aria-label={hidden ? `${maxLabel} ${symbol}` : `${maxLabel} ${amount} ${symbol}`}
        onClick={() => entry.useMax(amount)}
      >
        Max
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
