/** Every bound and every trade-off of the provider, in one place. */
export interface Tuning {
  /** Deadline of one call to a chain, on top of the transport's own. */
  readonly callTimeoutMs: number;
  /** Times that a read is tried when a node answers with an error of its own. */
  readonly readAttemptsMax: number;
  /** How long the list of pools of a chain is believed. New pools appear after it. */
  readonly poolsTtlMs: number;
  /** How long prices and depths may serve to rank paths. Quotes themselves are always asked of the chain. */
  readonly poolStatesTtlMs: number;
  /** How long a dollar price is believed. */
  readonly priceTtlMs: number;
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
  /** Above this loss a single path is no longer taken as it is: splits are tried. */
  readonly splitAboveImpactBps: number;
  /** A split has to bring at least this much more, or the simpler route is taken. */
  readonly splitGainMinBps: number;
  /** The grid of a split: 20 steps of 5 %. */
  readonly splitSteps: number;
  readonly splitPathsMax: number;
  /** How many grid points either side of the proposed share the quoter is asked about. */
  readonly splitNeighbours: number;
  /** A trade that loses more than this has no liquidity to speak of and is refused. */
  readonly impactMaxBps: number;
  readonly bridgeAssetsMax: number;
  readonly alternativesMax: number;
  /** Alternatives that deliver less than this share of the best are not shown. */
  readonly alternativeFloorBps: number;
  /** Upper end of the part of the tolerance that the swap before a bridge may use. */
  readonly sourceToleranceMaxBps: number;
  /** Seconds that a mined-late swap on one chain is still accepted; its minimum protects it anyway. */
  readonly swapDeadlineSeconds: number;
  /** Blocks of one `eth_getLogs`. */
  readonly logRangeBlocks: bigint;
  /** Ranges of one search. A fill lies within them; a search for a refund goes on from there at the next call. */
  readonly logRangesMax: number;
  /** Blocks that a reorganisation may take back; searches reach so much further down. */
  readonly reorgBlocks: bigint;
  /** How far the clocks of two chains may differ. */
  readonly clockSkewSeconds: number;
  /** Deposits whose search position is remembered; forgetting one only costs reading again. */
  readonly searchesRememberedMax: number;
  /** Deposits that one refund may add up; more are not tried. */
  readonly aggregatedDepositsMax: number;
}

export const DEFAULT_TUNING: Tuning = {
  callTimeoutMs: 8_000,
  readAttemptsMax: 3,
  poolsTtlMs: 300_000,
  poolStatesTtlMs: 10_000,
  priceTtlMs: 15_000,
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
  logRangeBlocks: 5_000n,
  logRangesMax: 20,
  reorgBlocks: 64n,
  clockSkewSeconds: 300,
  searchesRememberedMax: 1_000,
  aggregatedDepositsMax: 12,
};
