"use client";

import type { ReactNode } from "react";
import { useChain } from "@/components/providers/public-config";
import { cn } from "./cn";
import { hashOf } from "./address-figure";
import type { SelectOption } from "./select";

const HUES = 360;
const ROUND = 10;
const SQUARE = 4;

interface MarkProps {
  readonly className?: string;
}

interface DrawnProps extends MarkProps, MarkShape {
  readonly corner: number;
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

/** A coloured background with the first letter, for tokens and chains without a drawing. */
const letterShape = (text: string): MarkShape => ({
  ground: `hsl(${String(hashOf(text) % HUES)} 45% 36%)`,
  letter: text.slice(0, 1).toUpperCase(),
});

const shapeOf = (
  shapes: Readonly<Record<string, MarkShape>>,
  key: string,
): MarkShape | undefined => (Object.hasOwn(shapes, key) ? shapes[key] : undefined);

/**
 * The shape of a token. Bridged tokens such as `USDC.e` and `USDbC` have the shape of the original.
 */
const tokenShape = (symbol: string): MarkShape | undefined =>
  shapeOf(TOKEN_SHAPES, symbol) ??
  shapeOf(TOKEN_SHAPES, /^USDbC$|^USDC\./.test(symbol) ? "USDC" : symbol.toUpperCase());

export const TokenMark = ({
  symbol,
  className,
}: MarkProps & { readonly symbol: string }): ReactNode => {
  const shape = tokenShape(symbol) ?? letterShape(symbol);
  return <Drawn {...shape} corner={ROUND} className={className} />;
};

/** The mark of a chain. Local chains show their number. */
export const ChainMark = ({
  name,
  className,
}: MarkProps & { readonly name: string }): ReactNode => {
  const local = /^Local (\d+)$/.exec(name)?.[1];
  if (local !== undefined)
    return (
      <Drawn
        {...localShape(Number(local))}
        corner={SQUARE}
        letter={local}
        className={cn("pt-[3px]", className)}
      />
    );
  const shape =
    shapeOf(CHAIN_SHAPES, name.split(" ")[0]?.toLowerCase() ?? "") ?? letterShape(name);
  return <Drawn {...shape} corner={SQUARE} className={className} />;
};

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

export const TokenName = ({ symbol }: { readonly symbol: string }): ReactNode => (
  <span className="whitespace-nowrap">
    <TokenMark symbol={symbol} className="mr-1" />
    {symbol}
  </span>
);

/** The drawing of a token or chain on 20 by 20 units. */
interface MarkShape {
  readonly ground: string;
  readonly figure?: ReactNode;
  /** Drawn by the style sheet, so that it is not part of the page's text. */
  readonly letter?: string;
}

const INK = "#fff";
const line = {
  fill: "none",
  stroke: INK,
  strokeWidth: 1.7,
  strokeLinecap: "round",
  strokeLinejoin: "round",
} as const;

const DIAMOND = (
  <>
    <path d="M10 3.2 14.6 10.4 10 8.3z" fill={INK} opacity={0.75} />
    <path d="M10 3.2 5.4 10.4 10 8.3z" fill={INK} />
    <path d="M5.4 10.4 10 13 14.6 10.4 10 8.3z" fill={INK} opacity={0.6} />
    <path d="M5.6 11.8 10 16.8 14.4 11.8 10 14.4z" fill={INK} opacity={0.9} />
  </>
);

const DOLLAR = (
  <path
    d="M12.4 7.6C12 6.7 11.1 6.2 10 6.2c-1.4 0-2.4.7-2.4 1.8 0 2.7 4.9 1.2 4.9 4 0 1.1-1 1.9-2.5 1.9-1.2 0-2.2-.6-2.6-1.6M10 4.9v10.2"
    {...line}
  />
);

/**
 * The drawings of tokens, by symbol. They are part of the code, so that no image is fetched. Other
 * tokens get a disc with their first letter.
 */
const TOKEN_SHAPES: Readonly<Record<string, MarkShape>> = {
  USDC: {
    ground: "#2775ca",
    figure: (
      <>
        {DOLLAR}
        <path
          d="M7 3.9a6.6 6.6 0 0 0 0 12.2M13 3.9a6.6 6.6 0 0 1 0 12.2"
          {...line}
          strokeWidth={1.3}
        />
      </>
    ),
  },
  USDT: {
    ground: "#1f8f6c",
    figure: (
      <>
        <path d="M5.6 5.6h8.8M10 5.6v9.6" {...line} strokeWidth={2} />
        <ellipse cx={10} cy={9.4} rx={5.4} ry={1.5} {...line} strokeWidth={1.2} />
      </>
    ),
  },
  DAI: {
    ground: "#b8790f",
    figure: (
      <>
        <path d="M6.6 5.2h3.2a4.8 4.8 0 0 1 0 9.6H6.6z" {...line} />
        <path d="M4.4 8.8h11.2M4.4 11.2h11.2" {...line} strokeWidth={1.2} />
      </>
    ),
  },
  EURC: {
    ground: "#1f5fbf",
    figure: (
      <path
        d="M13.4 6.6A4.2 4.2 0 0 0 7.2 10a4.2 4.2 0 0 0 6.2 3.4M5.4 9h5.4M5.4 11h5.4"
        {...line}
      />
    ),
  },
  ETH: { ground: "#5a6482", figure: DIAMOND },
  WETH: { ground: "#8b4a77", figure: DIAMOND },
  WBTC: {
    ground: "#c46b12",
    figure: (
      <path
        d="M8 5.4v9.2M8 5.4h2.6a2.2 2.2 0 0 1 0 4.5H8M8 9.9h3.1a2.35 2.35 0 0 1 0 4.7H8M9.2 4v1.4M11 4v1.4M9.2 14.6V16M11 14.6V16"
        {...line}
        strokeWidth={1.4}
      />
    ),
  },
  POL: {
    ground: "#6c3bd1",
    figure: (
      <path
        d="M10 4.2 15 7.1v5.8l-5 2.9-5-2.9V7.1zM10 4.2v5.8l5 2.9M10 10l-5 2.9"
        {...line}
        strokeWidth={1.3}
      />
    ),
  },
};

const ROAD = <path d="M4 4.2h12" {...line} strokeWidth={1.6} opacity={0.8} />;
const LOCAL_GROUNDS = ["#0b5c73", "#8a4b2d", "#3f6a3a", "#6b5a12", "#74314f"] as const;

/** The shape of a local chain: `Local 2` has the second colour. */
const localShape = (number: number): MarkShape => ({
  ground: LOCAL_GROUNDS[(number - 1) % LOCAL_GROUNDS.length] ?? LOCAL_GROUNDS[0],
  figure: ROAD,
});

/** The drawings of well-known chains, by the first word of the chain's name in lower case. */
const CHAIN_SHAPES: Readonly<Record<string, MarkShape>> = {
  ethereum: { ground: "#454a75", figure: DIAMOND },
  sepolia: { ground: "#5b6170", figure: DIAMOND },
  base: {
    ground: "#0a3fd6",
    figure: (
      <path d="M10 4.4a5.6 5.6 0 1 1-5.5 6.6h7.6V9H4.5A5.6 5.6 0 0 1 10 4.4z" fill={INK} />
    ),
  },
  arbitrum: {
    ground: "#1b4add",
    figure: <path d="M5 15 9.2 5h1.6L15 15M8.6 15 11 9" {...line} />,
  },
  optimism: {
    ground: "#d01c2f",
    figure: (
      <>
        <ellipse cx={6.6} cy={10} rx={2.5} ry={3} {...line} />
        <path d="M11.6 13.2V7h2.1a1.9 1.9 0 0 1 0 3.9h-2.1" {...line} />
      </>
    ),
  },
  polygon: {
    ground: "#6c3bd1",
    figure: (
      <path
        d="M10 4.2 15 7.1v5.8l-5 2.9-5-2.9V7.1zM10 4.2v5.8l5 2.9M10 10l-5 2.9"
        {...line}
        strokeWidth={1.3}
      />
    ),
  },
};

interface ChainNameProps {
  readonly chainId: number;
  /**
   * Class of the name, for instance one that hides it when there is little room. The title always
   * has the name.
   */
  readonly nameClassName?: string;
  readonly className?: string;
}

/** The name of a chain with its mark; its id when it is no longer configured. */
export const ChainName = ({ chainId, nameClassName, className }: ChainNameProps): ReactNode => {
  const chain = useChain(chainId);
  const name = chain?.name ?? `Chain ${chainId}`;
  return (
    <span title={`${name}, chain id ${chainId}`} className={cn("whitespace-nowrap", className)}>
      <ChainMark name={name} className="mr-1" />
      <span className={nameClassName}>{name}</span>
    </span>
  );
};

type MarkedOption = SelectOption & { readonly mark: NonNullable<SelectOption["mark"]> };

export const chainOption = ({
  id,
  name,
}: {
  readonly id: number;
  readonly name: string;
}): MarkedOption => ({
  value: String(id),
  label: name,
  mark: <ChainMark name={name} />,
});

/**
 * A token as an option of a select.
 * @param value default: the symbol itself
 */
export const tokenOption = (symbol: string, value = symbol): MarkedOption => ({
  value,
  label: symbol,
  mark: <TokenMark symbol={symbol} />,
});
