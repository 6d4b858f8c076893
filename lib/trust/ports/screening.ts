/**
 * Screening: whether an address is on a list of addresses that nobody may pay or accept money from.
 */

type Address = `0x${string}`;

export interface ScreenedAddress {
  readonly address: Address;
  /** The chain on which money would move to or from the address; null when no chain is used. */
  readonly chainId: number | null;
}

/**
 * `clear`: the source covers the address and does not list it. `hit`: the source lists it.
 * `not_covered`: the source does not know the address, which never means `clear`. `unavailable`:
 * the source did not answer, answered in an unknown form, or has outdated data.
 */
export type ScreeningState = "clear" | "hit" | "not_covered" | "unavailable";

export interface ScreeningVerdict {
  readonly state: ScreeningState;
  /**
   * Name of the source, and of the list when the source has several: `list:ofac`, `oracle:31337`,
   * `provider`.
   */
  readonly source: string;
  /** Version of the list that was read; null when the source has no versions. */
  readonly listVersion: string | null;
  readonly at: Date;
}

/**
 * A source of verdicts.
 * @example
 * const [verdict] = await source.screen([{ address: "0x00…01", chainId: 1 }], AbortSignal.timeout(5_000));
 * // { state: "hit", source: "list:ofac", listVersion: "12", at: … }
 */
export interface ScreeningSource {
  /** For logs and metrics. */
  readonly name: string;
  /**
   * Whether this source could change a decision now. False for a list that was never imported and
   * for an oracle that no chain has; `screen` then returns `not_covered`.
   */
  isActive(): Promise<boolean>;
  /**
   * One verdict for each address, in order. Any failure of the source is a verdict `unavailable`;
   * the promise rejects only when `signal` aborts.
   */
  screen(
    addresses: readonly ScreenedAddress[],
    signal: AbortSignal,
  ): Promise<readonly ScreeningVerdict[]>;
}
