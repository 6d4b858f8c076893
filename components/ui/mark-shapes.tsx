import type { ReactNode } from "react";

/** How a token or chain is drawn in a field of 20 by 20. */
export interface MarkShape {
  readonly ground: string;
  readonly figure: ReactNode;
}

const INK = "#fff";
const line = { fill: "none", stroke: INK, strokeWidth: 1.7, strokeLinecap: "round", strokeLinejoin: "round" } as const;

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

/** Own drawings; none is fetched. Tokens that are not here have a disc with their letter. */
export const TOKEN_SHAPES: Readonly<Record<string, MarkShape>> = {
  USDC: {
    ground: "#2775ca",
    figure: (
      <>
        {DOLLAR}
        <path d="M7 3.9a6.6 6.6 0 0 0 0 12.2M13 3.9a6.6 6.6 0 0 1 0 12.2" {...line} strokeWidth={1.3} />
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
    figure: <path d="M13.4 6.6A4.2 4.2 0 0 0 7.2 10a4.2 4.2 0 0 0 6.2 3.4M5.4 9h5.4M5.4 11h5.4" {...line} />,
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
    figure: <path d="M10 4.2 15 7.1v5.8l-5 2.9-5-2.9V7.1zM10 4.2v5.8l5 2.9M10 10l-5 2.9" {...line} strokeWidth={1.3} />,
  },
};

/** The road of a causeway, above the number of the local chain. */
const ROAD = <path d="M4 4.2h12" {...line} strokeWidth={1.6} opacity={0.8} />;
const LOCAL_GROUNDS = ["#0b5c73", "#8a4b2d", "#3f6a3a", "#6b5a12", "#74314f"] as const;

/** The shape of a local chain: `Local 2` has the second colour. */
export const localShape = (number: number): MarkShape => ({
  ground: LOCAL_GROUNDS[(number - 1) % LOCAL_GROUNDS.length] ?? LOCAL_GROUNDS[0],
  figure: ROAD,
});

/** Well-known chains by the first word of their name. */
export const CHAIN_SHAPES: Readonly<Record<string, MarkShape>> = {
  ethereum: { ground: "#454a75", figure: DIAMOND },
  sepolia: { ground: "#5b6170", figure: DIAMOND },
  base: {
    ground: "#0a3fd6",
    figure: <path d="M10 4.4a5.6 5.6 0 1 1-5.5 6.6h7.6V9H4.5A5.6 5.6 0 0 1 10 4.4z" fill={INK} />,
  },
  arbitrum: { ground: "#1b4add", figure: <path d="M5 15 9.2 5h1.6L15 15M8.6 15 11 9" {...line} /> },
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
    figure: <path d="M10 4.2 15 7.1v5.8l-5 2.9-5-2.9V7.1zM10 4.2v5.8l5 2.9M10 10l-5 2.9" {...line} strokeWidth={1.3} />,
  },
};
