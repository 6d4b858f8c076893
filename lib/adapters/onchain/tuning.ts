/** Every bound and every trade-off of the provider, in one place. */
export interface Tuning {
  /** Deadline of one call to a chain, on top of the transport's own. */
  readonly callTimeoutMs: number;
  /** Times that a read is tried when a node answers with an error of its own. */
  readonly readAttemptsMax: number;
  /** How long the list of a chain's pools is cached. A new pool is found after this time at the latest. */
  readonly poolsTtlMs: number;
  /** How long cached prices and depths may rank paths. Quotes themselves always come from the chain. */
  readonly poolStatesTtlMs: number;
  /** How long a dollar price is cached. */
  readonly priceTtlMs: number;
  /** How long a gas price sets the fees of relayers. */
  readonly gasPriceTtlMs: number;
  /** How long a block number may serve as the lower end of a later search for logs. */
  readonly blockNumberTtlMs: number;
  readonly hopsMax: number;
  /** Of the pools between the same two tokens only the deepest are searched. */
  readonly poolsPerPairMax: number;
  /** Upper end of the enumeration of paths between two tokens. */
  readonly pathsMax: number;
  /** Paths that the quoter is asked about, after ranking by depth. */
  readonly pathsQuotedMax: number;
  /** Calls of the quoter in one `eth_call`; more go out in parallel. */
  readonly quotesPerCallMax: number;
  /** Above this price impact of a single path, splits are tried. */
  readonly splitAboveImpactBps: number;
  /** A split must improve the output by at least this much; otherwise the simpler route is used. */
  readonly splitGainMinBps: number;
  /** The grid of a split: 20 steps of 5 %. */
  readonly splitSteps: number;
  readonly splitPathsMax: number;
  /** How many grid points either side of the proposed share the quoter is asked about. */
  readonly splitNeighbours: number;
  /** A trade with more impact than this is refused as `insufficient_liquidity`. */
  readonly impactMaxBps: number;
  readonly bridgeAssetsMax: number;
  readonly alternativesMax: number;
  /** Alternatives that deliver less than this share of the best are not shown. */
  readonly alternativeFloorBps: number;
  /** Upper end of the part of the tolerance that the swap before a bridge may use. */
  readonly sourceToleranceMaxBps: number;
  /**
   * Seconds during which a swap on one chain is still accepted when it is mined late; its minimum output protects it as
   * well.
   */
  readonly swapDeadlineSeconds: number;
  /** Ranges of one search, of `logRangeBlocks` of the chain each. The next call continues after them. */
  readonly logRangesMax: number;
  /** Blocks before a deposit in which a refund's leaf id may name another deposit of the same depositor. */
  readonly siblingDepositBlocks: bigint;
  /** Ranges of a search that has to reach the end of its span in one go, such as that for all deposits of a bundle. */
  readonly wholeSearchRangesMax: number;
  /** How long before a deadline the bundle before the one that refunds may have been proposed, at most. */
  readonly bundleLookbackSeconds: number;
  /** Blocks that a reorganisation may remove; searches start that many blocks earlier. */
  readonly reorgBlocks: bigint;
  /** How far the clocks of two chains may differ. */
  readonly clockSkewSeconds: number;
  /** Deposits whose search position is remembered; forgetting one only costs reading again. */
  readonly searchesRememberedMax: number;
  /** Deposits of one depositor that are compared with a refund; with more of them a person has to look. */
  readonly siblingDepositsMax: number;
}

export const DEFAULT_TUNING: Tuning = {
  callTimeoutMs: 8_000,
  readAttemptsMax: 3,
  poolsTtlMs: 300_000,
  poolStatesTtlMs: 10_000,
  priceTtlMs: 15_000,
  gasPriceTtlMs: 5_000,
  blockNumberTtlMs: 30_000,
  hopsMax: 3,
  poolsPerPairMax: 3,
  pathsMax: 600,
  pathsQuotedMax: 4,
  quotesPerCallMax: 24,
  splitAboveImpactBps: 30,
  splitGainMinBps: 1,
  splitSteps: 20,
  splitPathsMax: 4,
  splitNeighbours: 2,
  impactMaxBps: 3_000,
  bridgeAssetsMax: 3,
  alternativesMax: 3,
  alternativeFloorBps: 9_500,
  sourceToleranceMaxBps: 10,
  swapDeadlineSeconds: 1_800,
  logRangesMax: 20,
  siblingDepositBlocks: 2_500n,
  wholeSearchRangesMax: 200,
  bundleLookbackSeconds: 86_400,
  reorgBlocks: 64n,
  clockSkewSeconds: 300,
  searchesRememberedMax: 1_000,
  siblingDepositsMax: 500,
};
