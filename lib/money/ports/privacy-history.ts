type Hex = `0x${string}`;

export interface PoolLog {
  readonly pool: Hex;
  /** The first topic of the log, which identifies the event. */
  readonly topic: Hex;
  readonly account: Hex;
  readonly data: Hex;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
}

/**
 * Identifies the pools of one chain whose logs are stored. `digest` changes when a pool or the
 * first block of a pool changes.
 */
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
  readonly to: BlockMark;
  readonly logs: readonly PoolLog[];
}

/**
 * Stores public logs of privacy pools from final blocks, so that after a restart only new blocks
 * are read. Several instances share the store. Losing its contents is harmless, because the logs
 * are read again from the chain.
 * @example
 * const end = await store.end(source);
 * const fromBlock = end === null ? startBlock : end.number + 1n;
 * await store.append(source, startBlock, { fromBlock, to, logs });
 */
export interface PoolLogStore {
  /** All stored segments in the order of their blocks, from the start block on and without gaps. */
  load(source: PoolLogSource): Promise<readonly PoolLogSegment[]>;
  /** The last block of the stored segments; null when nothing is stored. */
  end(source: PoolLogSource): Promise<BlockMark | null>;
  /**
   * Adds a segment.
   * @returns false, without storing it, when the segment does not begin right after the last stored
   * block
   */
  append(source: PoolLogSource, startBlock: bigint, segment: PoolLogSegment): Promise<boolean>;
  /**
   * Deletes all logs of the source, because the chain was replaced or reorganised beyond its number
   * of confirmations.
   */
  clear(source: PoolLogSource): Promise<void>;
}
