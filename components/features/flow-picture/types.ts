/** How a part of the money is drawn. */
export type FlowLook = "planned" | "moving" | "late" | "done" | "failed" | "returning" | "returned";

export interface FlowHop {
  readonly kind: "swap" | "bridge";
  readonly venue: string;
}

export interface FlowTransaction {
  readonly label: string;
  readonly hash: string;
}

/** One part of the money on its way. */
export interface FlowLeg {
  readonly id: string;
  readonly from: { readonly name: string; readonly address: string; readonly chainName: string };
  readonly amount: string;
  readonly symbol: string;
  /** In one unit over all legs; it decides how thick the band is. */
  readonly worth: number;
  readonly hops: readonly FlowHop[];
  readonly look: FlowLook;
  /** The share of the way that is done, 0…1. */
  readonly fill: number;
  /** The share of the way back that is done, 0…1. */
  readonly back: number;
  /** Where the money is: on the way, on the way back, or at one of its ends (null). */
  readonly coin: "way" | "back" | null;
  /** The state in words, without a full stop. */
  readonly sentence: string;
  readonly transactions: readonly FlowTransaction[];
  /** RFC 3339, of the newest step. */
  readonly at: string | null;
}

export interface FlowModel {
  readonly legs: readonly FlowLeg[];
  readonly to: {
    readonly name: string;
    readonly address: string;
    readonly chainName: string;
    readonly symbol: string;
    readonly amount: string;
    /** `so far` behind an amount that is not complete. */
    readonly suffix: string | null;
    /** The least that must arrive; null once everything did. */
    readonly minimum: string | null;
  };
  /** Cost of the move in a few words; null where it is not known. */
  readonly fee: string | null;
}
