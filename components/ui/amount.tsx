"use client";

import { useState, type ReactNode } from "react";
import { cn } from "./cn";
import { shortenAmount } from "./shorten-amount";

const FRACTION_SHOWN = 6;
const USD_FRACTION = 2;

interface AmountProps {
  /** Decimal string in units of the token, as the API gives it. */
  readonly value: string;
  /** Symbol of the token; muted. */
  readonly unit?: string;
  /** Fraction digits shown at first (default 6); a click shows all. */
  readonly fractionMax?: number;
  /** Shows `+` before gains, for changes of balances. */
  readonly signed?: boolean;
  /** Never a button: for amounts inside links. The title has all digits. */
  readonly plain?: boolean;
  readonly className?: string;
}

/** Tabular; digits that are cut are announced by `…`, and a click shows the amount whole. */
export const Amount = ({
  value,
  unit,
  fractionMax = FRACTION_SHOWN,
  signed = false,
  plain = false,
  className,
}: AmountProps): ReactNode => {
  const [whole, setWhole] = useState(false);
  const { text, cut } = shortenAmount(value, whole ? Number.MAX_SAFE_INTEGER : fractionMax);
  const plus = signed && !value.startsWith("-") && /[1-9]/.test(value) ? "+" : "";
  const tail = cut ? "…" : "";
  const suffix = unit === undefined ? null : <span className="ml-1 text-fg-3">{unit}</span>;
  const full = `${plus}${value}${unit === undefined ? "" : ` ${unit}`}`;
  if (plain || (!cut && !whole)) {
    return (
      <span className={cn("num", className)} title={full}>
        {plus + text + tail}
        {suffix}
      </span>
    );
  }
  return (
    <button
      type="button"
      className={cn("num relative z-1 text-right", whole && "whitespace-normal break-all", className)}
      title={full}
      aria-expanded={whole}
      aria-label={`${full}, ${whole ? "shorten" : "show all digits"}`}
      onClick={() => setWhole((before) => !before)}
    >
      {plus + text + tail}
      {suffix}
    </button>
  );
};

interface UsdProps {
  /** Decimal string; null where no price is known. */
  readonly value: string | null;
  readonly className?: string;
}

/** US dollars with cents; digits after them are cut, and the title has them all. */
export const Usd = ({ value, className }: UsdProps): ReactNode => {
  if (value === null) {
    return (
      <span className={cn("text-fg-3", className)} title="No price is known for this token.">
        no price
      </span>
    );
  }
  const { text } = shortenAmount(value, USD_FRACTION);
  const [whole = "0", cents = ""] = text.split(".");
  return (
    <span className={cn("num", className)} title={`${value} US dollars`}>
      {`$${whole}.${cents.padEnd(USD_FRACTION, "0")}`}
    </span>
  );
};
