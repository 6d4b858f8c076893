const BLOCK_INTERVAL_MS = 1_000;
const REST_INTERVAL_MS = 5_000;
const REST_AFTER_MS = 300_000;

export interface BlockRhythm {
  /** Milliseconds until the next block is due; 0 when it is due now. */
  dueIn(): number;
  /** Records that a due block was made. */
  made(): void;
  /** Records that a transaction was made. */
  used(): void;
}

/**
 * Plans a block each second, so that confirmations and deadlines advance without transactions.
 * After five minutes without a transaction it plans a block every five seconds, because each block
 * makes anvil's state larger.
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
      // Counted from the due time, so that one late block does not delay all later ones.
      const due = madeAt + BLOCK_INTERVAL_MS;
      madeAt = now() - due < BLOCK_INTERVAL_MS ? due : now();
    },
    used: () => {
      usedAt = now();
    },
  };
};
