import { parseDecimal, scaledTo } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import type { Operation } from "./operation";

type Holding = Operation["outcome"]["holds"][number];

/** The sum of all holdings of one token at one address, on one chain, with one note. */
export interface HeldPlace {
  readonly key: string;
  /** 0x address, or the name of a bridge with its deposit. */
  readonly wallet: string;
  readonly chainId: number;
  readonly symbol: string;
  readonly amount: string;
  readonly note: string;
  readonly hashes: readonly string[];
}

const keyOf = ({ wallet, chainId, token, note }: Holding): string =>
  [wallet, String(chainId), token.address, note].join(" ");

/**
 * Adds up the holdings that share address, chain, token and note, in the order of their first
 * holding.
 */
export const heldPlaces = (holds: readonly Holding[]): HeldPlace[] =>
  [...new Set(holds.map(keyOf))].flatMap((key) => {
    const members = holds.filter((hold) => keyOf(hold) === key);
    const [first] = members;
    if (first === undefined) return [];
    const { wallet, chainId, token, note } = first;
    const base = members.reduce((sum, { amountBase }) => sum + BigInt(amountBase), 0n);
    const hashes = members.flatMap(({ txHash }) => (txHash === null ? [] : [txHash]));
    const amount = formatAmount(base, token.decimals);
    return [
      {
        key,
        wallet,
        chainId,
        symbol: token.symbol,
        amount,
        note,
        hashes: [...new Set(hashes)],
      },
    ];
  });

interface Part {
  readonly amount: string;
  readonly token: {
    readonly symbol: string;
    readonly assetId: string;
    readonly decimals: number;
  };
}

export interface AssetSum {
  readonly assetId: string;
  readonly symbol: string;
  readonly amount: string;
}

/**
 * The amount as an integer with `digits` decimals. The result is exact if `digits` is at least the
 * decimals of the part's token.
 */
const baseOf = ({ amount }: Part, digits: number): bigint =>
  scaledTo(parseDecimal(amount), digits, "floor");

/**
 * One sum per asset, in the order of each asset's first part. An asset may have different decimals
 * on different chains.
 */
export const sumByAsset = (parts: readonly Part[]): AssetSum[] =>
  [...new Set(parts.map((part) => part.token.assetId))].map((assetId) => {
    const members = parts.filter((part) => part.token.assetId === assetId);
    const digits = Math.max(...members.map((part) => part.token.decimals));
    const sum = members.reduce((total, part) => total + baseOf(part, digits), 0n);
    return {
      assetId,
      symbol: members[0]?.token.symbol ?? "",
      amount: formatAmount(sum, digits),
    };
  });

type Fee = Operation["fees"][number];
export type Payer = NonNullable<Fee["paidBy"]>;

interface NetworkFee {
  readonly paidBy: Payer;
  readonly sums: readonly AssetSum[];
}

const PAYERS: readonly Payer[] = ["sponsor", "wallet"];

/** The network fees of all chains, summed by payer. Payers without fees are left out. */
export const networkFeesOf = (fees: readonly Fee[]): NetworkFee[] =>
  PAYERS.map((paidBy) => ({
    paidBy,
    sums: sumByAsset(fees.filter((fee) => fee.kind === "network" && fee.paidBy === paidBy)),
  })).filter(({ sums }) => sums.length > 0);

/** Fees that the quoted rate already includes; network fees are not among them. */
export const quotedFeesOf = (fees: readonly Fee[]) =>
  fees.flatMap(({ kind, ...fee }) => (kind === "network" ? [] : [{ ...fee, kind }]));
