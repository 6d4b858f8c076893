import { z } from "zod";
import type { Database } from "@/lib/db/client";
import type { BlockMark, PoolLogSegment, PoolLogStore } from "@/lib/ports/privacy-history";
import { storedHex } from "@/lib/ports/routing-json";

/** A column of JSON: logs in the order of the chain, the fields of each in this order. */
const storedLogs = z.array(z.tuple([storedHex, storedHex, storedHex, storedHex, storedHex, z.string()]));

const toStoredLogs = ({ logs }: PoolLogSegment): z.output<typeof storedLogs> =>
  logs.map(({ pool, topic, account, data, txHash, blockNumber }) => [
    ...([pool, topic, account, data, txHash] as const),
    blockNumber.toString(),
  ]);

const fromStoredLogs = (json: unknown): PoolLogSegment["logs"] =>
  storedLogs.parse(json).map(([pool, topic, account, data, txHash, block]) => ({
    ...{ pool, topic, account, data, txHash },
    blockNumber: BigInt(block),
  }));

const markOf = (row: { toBlock: bigint; toHash: string }): BlockMark => ({
  number: row.toBlock,
  hash: storedHex.parse(row.toHash),
});

/** Final logs of privacy pools in the database. They are public, and belong to no project. */
export const createPoolLogRepository = ({ prisma }: Pick<Database, "prisma">): PoolLogStore => ({
  load: async ({ chainId, digest }) => {
    const rows = await prisma.privacyPoolSegment.findMany({
      where: { chainId, digest },
      orderBy: { fromBlock: "asc" },
    });
    return rows.map((row) => ({ fromBlock: row.fromBlock, to: markOf(row), logs: fromStoredLogs(row.logs) }));
  },
  end: async ({ chainId, digest }) => {
    const row = await prisma.privacyPoolSegment.findFirst({
      where: { chainId, digest },
      orderBy: { fromBlock: "desc" },
      select: { toBlock: true, toHash: true },
    });
    return row === null ? null : markOf(row);
  },
  append: async ({ chainId, digest }, startBlock, segment) => {
    const { fromBlock, to } = segment;
    const logs = JSON.stringify(toStoredLogs(segment));
    // Two instances may append at once: the key lets one of them do it.
    const added = await prisma.$executeRaw`
      INSERT INTO privacy_pool_segment (chain_id, digest, from_block, to_block, to_hash, logs)
      SELECT ${chainId}::int, ${digest}::text, ${fromBlock}::bigint, ${to.number}::bigint, ${to.hash}::text, ${logs}::jsonb
      WHERE ${fromBlock}::bigint = (
        SELECT COALESCE(max(to_block) + 1, ${startBlock}::bigint) FROM privacy_pool_segment WHERE chain_id = ${chainId} AND digest = ${digest})
      ON CONFLICT (chain_id, digest, from_block) DO NOTHING`;
    return added === 1;
  },
  clear: async ({ chainId, digest }) => {
    await prisma.privacyPoolSegment.deleteMany({ where: { chainId, digest } });
  },
});
