"use client";

import { Eye, EyeOff } from "lucide-react";
import type { ClipboardEvent, ComponentProps, ReactNode } from "react";
import { amountText, type AmountText, currencyText, isStable } from "@/lib/core/amount-text";
import { convertUsd } from "@/lib/core/currencies";
import { Button } from "./button";
import { cn } from "./cn";
import { useAmountsHidden, useHiddenAmounts } from "./hidden-amounts";
import { TokenMark } from "./marks";
import { useReporting } from "./reporting";
import { dateText } from "./time";
import { Tooltip } from "./tooltip";
import { useLocale } from "./use-locale";

/**
 * The widest text behind the decimal point of a column, such as `.0666302 WETH`. Each amount of
 * the column reserves the width of this text, so that decimal points are aligned and units stay
 * right behind their numbers. A number instead of a text reserves the width of that many digits.
 */
export type ColumnTail = string | 2 | 6;

interface ColumnAmount {
  readonly value: string;
  readonly symbol: string;
}

/**
 * The tail of a column.
 * @param units whether the column shows the symbols behind the numbers
 */
export const columnTail = (
  amounts: readonly ColumnAmount[],
  { units = true }: { readonly units?: boolean } = {},
): string => {
  // All amounts of a stablecoin have the same number of digits, so one of its amounts is enough.
  const distinct = new Map(
    amounts.map((amount) => [
      isStable(amount.symbol) ? amount.symbol : `${amount.symbol} ${amount.value}`,
      amount,
    ]),
  );
  const tails = [...distinct.values()].map(({ value, symbol }) => {
    const { text } = amountText(value, { symbol, padded: true, locale: "en" });
    const point = text.lastIndexOf(".");
    const fraction = point < 0 ? "" : text.slice(point);
    return units ? `${fraction} ${symbol}` : fraction;
  });
  return tails.reduce((widest, tail) => (tail.length > widest.length ? tail : widest), "");
};

const tailText = (tail: ColumnTail): string =>
  typeof tail === "string" ? tail : `.${"0".repeat(tail)}`;

interface AmountProps {
  /** Decimal string in units of the token, as the API gives it. */
  readonly value: string;
  /** Symbol of the token; shown after the number with its mark. */
  readonly unit?: string;
  /** Symbol that decides the number of digits when no unit is shown. */
  readonly symbol?: string;
  /** Shows every digit, for reviews and receipts. */
  readonly exact?: boolean;
  /** For a column of several tokens: aligns the decimal points; see `columnTail`. */
  readonly column?: ColumnTail;
  /** Shows `+` before gains, for changes of balances. */
  readonly signed?: boolean;
  /**
   * Renders no focusable element, which links, buttons and options cannot contain. The title has
   * all digits.
   */
  readonly plain?: boolean;
  readonly className?: string;
}

/**
 * An amount with 2 digits after the point for stablecoins, otherwise with 6 significant digits.
 * Hover and focus show all digits, and copying copies them.
 */
export const Amount = ({
  value,
  unit,
  symbol = unit,
  exact = false,
  column,
  signed = false,
  plain = false,
  className,
}: AmountProps): ReactNode => {
  const hidden = useAmountsHidden();
  const locale = useLocale();
  if (hidden) return <Hidden unit={unit} className={className} />;
  const text = amountText(value, {
    symbol,
    exact,
    signed,
    padded: column !== undefined,
    locale,
  });
  return (
    <Shown
      text={text}
      value={value}
      plain={plain}
      className={className}
      after={unit === undefined ? "" : ` ${unit}`}
    >
      {column === undefined ? (
        <>
          {text.text}
          <Unit unit={unit} />
        </>
      ) : (
        <Aligned text={text.text} locale={locale} tail={tailText(column)} unit={unit} />
      )}
    </Shown>
  );
};

interface UsdProps {
  /** Decimal string; null when no price is known. */
  readonly value: string | null;
  readonly plain?: boolean;
  readonly className?: string;
}

/**
 * US dollars with cents. Hover and focus show all digits, and copying copies them. Shows a dash
 * when no price is known.
 */
export const Usd = ({ value, plain = false, className }: UsdProps): ReactNode => {
  const hidden = useAmountsHidden();
  const locale = useLocale();
  if (value === null) return <Unknown reason="No price is known" className={className} />;
  if (hidden) return <Hidden className={className} />;
  const text = currencyText(value, { locale });
  return (
    <Shown text={text} value={value} plain={plain} className={className} after=" USD">
      {text.text}
    </Shown>
  );
};

/**
 * The worth of something in the project's reporting currency, with two digits after the point. The
 * title has all digits, the rate and the time of the rate. Shows US dollars while no rate is
 * known.
 */
export const Worth = ({ value, plain = false, className }: UsdProps): ReactNode => {
  const { currency, rate } = useReporting();
  const hidden = useAmountsHidden();
  const locale = useLocale();
  const isConverted = rate !== null && value !== null && !hidden;
  if (!isConverted) return <Usd value={value} plain={plain} className={className} />;
  const converted = convertUsd(value, rate.usd);
  const text = currencyText(converted, { locale, currency });
  return (
    <Shown
      // `rounded` adds a title, which has the rate and must always be shown.
      text={{ ...text, rounded: true }}
      value={converted}
      plain={plain}
      className={className}
      after={` ${currency}, at ${rate.usd} USD of ${dateText(new Date(rate.at), "dateTime")}`}
    >
      {text.text}
    </Shown>
  );
};

interface UnknownProps {
  readonly reason: string;
  readonly className?: string | undefined;
}

/** Shown in place of an unknown number, which must not look like zero. */
export const Unknown = ({ reason, className }: UnknownProps): ReactNode => (
  <span className={cn("text-fg-3", className)} title={reason}>
    <span aria-hidden>–</span>
    <span className="sr-only">{reason}</span>
  </span>
);

/**
 * Replaces an amount. All amounts get the same dots, so that the width does not reveal their size.
 */
const Hidden = ({
  unit,
  className,
}: {
  readonly unit?: string | undefined;
  readonly className?: string | undefined;
}): ReactNode => (
  <span className={cn("num", className)} title="Amounts are hidden">
    <span aria-hidden>••••••</span>
    <span className="sr-only">hidden</span>
    <Unit unit={unit} />
  </span>
);

/** In tables the unit is right behind its number, without a mark between them. */
const Unit = ({ unit }: { readonly unit: string | undefined }): ReactNode =>
  unit === undefined ? null : (
    <span className="font-normal text-fg-3">
      {" "}
      <TokenMark symbol={unit} className="mr-1 size-[1em] in-table:hidden" />
      {unit}
    </span>
  );

interface AlignedProps {
  readonly text: string;
  readonly locale: string;
  readonly tail: string;
  readonly unit: string | undefined;
}

const Aligned = ({ text, locale, tail, unit }: AlignedProps): ReactNode => {
  const point =
    new Intl.NumberFormat(locale).formatToParts(1.5).find(({ type }) => type === "decimal")
      ?.value ?? ".";
  const found = text.lastIndexOf(point);
  const at = found < 0 ? text.length : found;
  return (
    <span className="column-amount" data-widest={text.slice(0, at) + tail}>
      <span>
        {text}
        <Unit unit={unit} />
      </span>
    </span>
  );
};

interface ShownProps {
  readonly text: AmountText;
  /** The amount as the API gave it, with all digits. */
  readonly value: string;
  /** The unit after the number in the title. */
  readonly after: string;
  readonly plain: boolean;
  readonly className?: string | undefined;
  readonly children: ReactNode;
}

/** Copies every digit, unless the selection also contains other text. */
const copyWhole = (event: ClipboardEvent<HTMLElement>, value: string): void => {
  const selection = window.getSelection();
  const within = selection !== null && event.currentTarget.contains(selection.anchorNode);
  const inside = within && event.currentTarget.contains(selection.focusNode);
  if (selection !== null && !selection.isCollapsed && !inside) return;
  event.clipboardData.setData("text/plain", value);
  event.preventDefault();
};

const Shown = ({ text, value, after, plain, className, children }: ShownProps): ReactNode => {
  const looks = cn("num", className);
  if (!text.rounded) return <span className={looks}>{children}</span>;
  if (plain) {
    return (
      <span className={looks} title={text.full + after}>
        {children}
      </span>
    );
  }
  return (
    <Tooltip content={text.full + after}>
      <span
        className={cn("relative z-1 cursor-help rounded-tag", looks)}
        tabIndex={0}
        onCopy={(event) => copyWhole(event, value)}
      >
        {children}
      </span>
    </Tooltip>
  );
};

/**
 * A balance. It stays hidden in reviews too, which show only the amounts that are about to move.
 */
export const HeldAmount = (props: ComponentProps<typeof Amount>): ReactNode => {
  const [hidden] = useHiddenAmounts();
  return hidden ? <Hidden unit={props.unit} /> : <Amount {...props} />;
};

/** The worth of a balance; hidden like `HeldAmount`. */
export const HeldWorth = (props: ComponentProps<typeof Worth>): ReactNode => {
  const [hidden] = useHiddenAmounts();
  return hidden ? <Hidden /> : <Worth {...props} />;
};

export const HideAmountsButton = ({
  size = "md",
}: {
  readonly size?: "sm" | "md";
}): ReactNode => {
  const [hidden, setHidden] = useHiddenAmounts();
  const Icon = hidden ? EyeOff : Eye;
  return (
    <Button size={size} onClick={() => setHidden(!hidden)}>
      <Icon aria-hidden /> {hidden ? "Show amounts" : "Hide amounts"}
    </Button>
  );
};
