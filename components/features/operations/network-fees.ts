import { sumByAsset, type AssetSum } from "./asset-sums";
import type { Operation } from "./types";

type Fee = Operation["fees"][number];
export type Payer = NonNullable<Fee["paidBy"]>;

export interface NetworkFee {
  readonly paidBy: Payer;
  readonly sums: readonly AssetSum[];
}

const PAYERS: readonly Payer[] = ["sponsor", "wallet"];

/** The network fees of all chains, added up by payer. Payers of nothing are left out. */
export const networkFeesOf = (fees: readonly Fee[]): NetworkFee[] =>
  PAYERS.map((paidBy) => ({
    paidBy,
    sums: sumByAsset(fees.filter((fee) => fee.kind === "network" && fee.paidBy === paidBy)),
  })).filter(({ sums }) => sums.length > 0);

/** Fees that are parts of the rate. */
export const quotedFeesOf = (fees: readonly Fee[]) =>
  fees.flatMap(({ kind, ...fee }) => (kind === "network" ? [] : [{ ...fee, kind }]));
