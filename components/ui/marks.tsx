import type { ReactNode } from "react";
import { cn } from "./cn";
import { hashOf } from "./hash-of";
import { CHAIN_SHAPES, localShape, TOKEN_SHAPES, type MarkShape } from "./mark-shapes";

const HUES = 360;
const ROUND = 10;
const SQUARE = 4;

interface MarkProps {
  readonly className?: string;
}

interface DrawnProps extends MarkProps {
  readonly ground: string;
  readonly corner: number;
  readonly figure?: ReactNode;
  /** Drawn by the style sheet, so that it is no part of the page's text. */
  readonly letter?: string;
}

const Drawn = ({ ground, corner, figure, letter, className }: DrawnProps): ReactNode => (
  <span
    aria-hidden
    data-letter={letter}
    className={cn(
      "relative -top-px inline-flex size-4 shrink-0 items-center justify-center align-middle",
      letter !== undefined && "mark-letter",
      className,
    )}
  >
    <svg viewBox="0 0 20 20" className="absolute inset-0 size-full">
      <rect width={20} height={20} rx={corner} fill={ground} />
      {figure}
    </svg>
  </span>
);

const letterGround = (text: string): string => `hsl(${String(hashOf(text) % HUES)} 45% 36%)`;

const shapeOf = (shapes: Readonly<Record<string, MarkShape>>, key: string): MarkShape | undefined =>
  Object.hasOwn(shapes, key) ? shapes[key] : undefined;

/** Bridged forms have the mark of what they stand for: `USDC.e`, `USDbC`. */
const tokenShape = (symbol: string): MarkShape | undefined =>
  shapeOf(TOKEN_SHAPES, symbol) ??
  shapeOf(TOKEN_SHAPES, /^USDbC$|^USDC\./.test(symbol) ? "USDC" : symbol.toUpperCase());

/** Of a token, beside its symbol. */
export const TokenMark = ({ symbol, className }: MarkProps & { readonly symbol: string }): ReactNode => {
  const shape = tokenShape(symbol);
  const more = className === undefined ? {} : { className };
  return shape === undefined ? (
    <Drawn ground={letterGround(symbol)} corner={ROUND} letter={symbol.slice(0, 1).toUpperCase()} {...more} />
  ) : (
    <Drawn ground={shape.ground} corner={ROUND} figure={shape.figure} {...more} />
  );
};

/** Of a chain, beside its name. Local chains show their number. */
export const ChainMark = ({ name, className }: MarkProps & { readonly name: string }): ReactNode => {
  const more = className === undefined ? {} : { className };
  const local = /^Local (\d+)$/.exec(name)?.[1];
  if (local !== undefined)
    return (
      <Drawn {...localShape(Number(local))} corner={SQUARE} letter={local} className={cn("pt-[3px]", className)} />
    );
  const shape = shapeOf(CHAIN_SHAPES, name.split(" ")[0]?.toLowerCase() ?? "");
  return shape === undefined ? (
    <Drawn ground={letterGround(name)} corner={SQUARE} letter={name.slice(0, 1).toUpperCase()} {...more} />
  ) : (
    <Drawn ground={shape.ground} corner={SQUARE} figure={shape.figure} {...more} />
  );
};

/** A token with the chain that it is on at its corner. */
export const TokenOnChainMark = ({
  symbol,
  chainName,
  className,
}: MarkProps & { readonly symbol: string; readonly chainName: string }): ReactNode => (
  <span aria-hidden className={cn("relative inline-block size-6 shrink-0", className)}>
    <TokenMark symbol={symbol} className="absolute! top-0 left-0 size-[85%]" />
    <ChainMark
      name={chainName}
      className="absolute! top-auto right-0 bottom-0 size-[50%] rounded-tag ring-2 ring-surface"
    />
  </span>
);

interface NamedProps {
  readonly symbol: string;
  readonly className?: string;
}

/** A symbol with its mark before it. */
export const TokenName = ({ symbol, className }: NamedProps): ReactNode => (
  <span className={cn("whitespace-nowrap", className)}>
    <TokenMark symbol={symbol} className="mr-1" />
    {symbol}
  </span>
);
