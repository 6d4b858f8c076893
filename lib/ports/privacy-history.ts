type Hex = `0x${string}`;

/** One log of a privacy pool, as the chain has it. */
export interface PoolLog {
  readonly pool: Hex;
  /** Which event it is. */
  readonly topic: Hex;
  readonly account: Hex;
  readonly data: Hex;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
}

/** Whose logs: the pools of one chain. Another set of pools, or another first block, is another source. */
export interface PoolLogSource {
  readonly chainId: number;
  readonly digest: string;
}

export interface BlockMark {
  readonly number: bigint;
  readonly hash: Hex;
}

/** All logs of a source in a range of blocks. */
export interface PoolLogSegment {
  readonly fromBlock: bigint;
  /** The last block of the range. */
  readonly to: BlockMark;
  readonly logs: readonly PoolLog[];
}

/**
 * Keeps logs of privacy pools that are public and final, so that a restart reads new blocks alone. Several instances share it; it may
 * lose everything at any time, and is filled again from the chain.
 */
export interface PoolLogStore {
  /** In the order of their blocks, without a gap from `startBlock` on. */
  load(source: PoolLogSource): Promise<readonly PoolLogSegment[]>;
  /** Where the kept logs end; null where there are none. */
  end(source: PoolLogSource): Promise<BlockMark | null>;
  /** @returns false, and nothing is kept, when the segment does not follow what is there */
  append(source: PoolLogSource, startBlock: bigint, segment: PoolLogSegment): Promise<boolean>;
  /** The chain was replaced or reorganised beyond its confirmations. */
  clear(source: PoolLogSource): Promise<void>;
}
