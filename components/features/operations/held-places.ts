import { formatAmount } from "@/lib/core/money";
import type { Operation } from "./types";

type Holding = Operation["outcome"]["holds"][number];

/** The sum that is held at one place for one reason; several holds of one token there are added. */
export interface HeldPlace {
  readonly key: string;
  /** 0x address, or the name of a bridge and its deposit. */
  readonly wallet: string;
  readonly chainId: number;
  readonly symbol: string;
  readonly amount: string;
  readonly note: string;
  readonly hashes: readonly string[];
}

const keyOf = ({ wallet, chainId, token, note }: Holding): string =>
  [wallet, String(chainId), token.address, note].join(" ");

/** Adds up the parts of the money that are at the same place for the same reason, in the order in which they are given. */
export const heldPlaces = (holds: readonly Holding[]): HeldPlace[] =>
  [...new Set(holds.map(keyOf))].flatMap((key) => {
    const members = holds.filter((hold) => keyOf(hold) === key);
    const [first] = members;
    if (first === undefined) return [];
    const { wallet, chainId, token, note } = first;
    const base = members.reduce((sum, { amountBase }) => sum + BigInt(amountBase), 0n);
    const hashes = members.flatMap(({ txHash }) => (txHash === null ? [] : [txHash]));
    const amount = formatAmount(base, token.decimals);
    return [{ key, wallet, chainId, symbol: token.symbol, amount, note, hashes: [...new Set(hashes)] }];
  });
