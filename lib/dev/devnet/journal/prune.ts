import { z } from "zod";

/**
 * Number of blocks that a restarted chain keeps, with their transactions, receipts and logs. A
 * chain that makes one block per second takes more than an hour for this number, and no running
 * operation needs older blocks. Balances and contracts do not depend on old blocks.
 */
export const BLOCKS_KEPT = 5_000;

const number = z.union([z.number(), z.string()]).transform(Number);
const dump = z.looseObject({
  best_block_number: number,
  blocks: z.array(z.looseObject({ header: z.looseObject({ number: z.unknown() }) })),
  transactions: z.array(z.looseObject({ block_number: z.unknown(), info: z.looseObject({}) })),
});

/**
 * Removes the parts of an anvil dump that grow without limit: blocks below the last `blocksKept`
 * except the first, and the traces of all transactions, which are nine tenths of a dump.
 * @returns JSON for `--load-state`
 */
export const pruneState = (json: string, blocksKept = BLOCKS_KEPT): string => {
  const parsed: unknown = JSON.parse(json);
  const state = dump.parse(parsed);
  const lowest = state.best_block_number - blocksKept;
  const isKept = (block: unknown): boolean => number.parse(block) > lowest;
  const isFirst = (block: unknown): boolean => number.parse(block) === 0;
  return JSON.stringify({
    ...(parsed as object),
    blocks: state.blocks.filter(
      ({ header }) => isKept(header.number) || isFirst(header.number),
    ),
    transactions: state.transactions
      .filter(({ block_number: block }) => isKept(block))
      .map((transaction) => ({ ...transaction, info: { ...transaction.info, traces: [] } })),
  });
};
