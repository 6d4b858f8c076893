/** Screening: whether an address is on a list of addresses that nobody may pay or take money from. */

type Address = `0x${string}`;

export interface ScreenedAddress {
  readonly address: Address;
  /** The chain on which money would move to or from it; null where none is touched. */
  readonly chainId: number | null;
}

/**
 * `clear`: the source covers the address and does not list it. `hit`: the source lists it. `not_covered`: the source says nothing about
 * it, which never means `clear`. `unavailable`: the source did not answer, answered something else, or its data is out of date.
 */
export type ScreeningState = "clear" | "hit" | "not_covered" | "unavailable";

/** The verdict of one source about one address. */
export interface ScreeningVerdict {
  readonly state: ScreeningState;
  /** Name of the source, and of the list where it has several: `list:ofac`, `oracle:31337`, `provider`. */
  readonly source: string;
  /** Version of the list that was read; null where the source has no versions. */
  readonly listVersion: string | null;
  /** When the source was asked. */
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
   * Whether asking this source could change anything now. False for a list that was never imported and for an oracle that no chain
   * has; `screen` then answers `not_covered`.
   */
  isActive(): Promise<boolean>;
  /**
   * One verdict for each address, in their order. Any failure of the source is a verdict `unavailable`; it rejects only when `signal`
   * aborts.
   */
  screen(addresses: readonly ScreenedAddress[], signal: AbortSignal): Promise<readonly ScreeningVerdict[]>;
}
