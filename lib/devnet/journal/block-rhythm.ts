const BLOCK_INTERVAL_MS = 1_000;
const REST_INTERVAL_MS = 5_000;
const REST_AFTER_MS = 300_000;

export interface BlockRhythm {
  /** Milliseconds until a block is due; 0: now. */
  dueIn(): number;
  /** A block was made because it was due. */
  made(): void;
  /** A transaction came. */
  used(): void;
}

/**
 * A block each second, so that confirmations count up and deadlines pass without transactions. After five minutes without any,
 * one each five seconds until the next transaction: each block makes anvil a little larger.
 */
export const createBlockRhythm = (now = () => performance.now()): BlockRhythm => {
  let madeAt = -Infinity;
  let usedAt = now();
  return {
    dueIn: () => {
      const interval = now() - usedAt > REST_AFTER_MS ? REST_INTERVAL_MS : BLOCK_INTERVAL_MS;
      return Math.max(0, madeAt + interval - now());
    },
    made: () => {
      // From when it was due, so that a block that came late does not move all later ones.
      const due = madeAt + BLOCK_INTERVAL_MS;
      madeAt = now() - due < BLOCK_INTERVAL_MS ? due : now();
    },
    used: () => {
      usedAt = now();
    },
  };
};
