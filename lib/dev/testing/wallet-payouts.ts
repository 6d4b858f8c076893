import {
  createPublicClient,
  erc20Abi,
  getAddress,
  http,
  keccak256,
  parseAbiItem,
  stringToHex,
  type Address,
  type PublicClient,
} from "viem";
import { expect } from "vitest";
import type { Services } from "@/lib/composition";
import { newId } from "@/lib/core/ids";
import type { Tx } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { paymentsDigest, walletsIntent } from "@/lib/money/payouts/intent";
import { totalsOf } from "@/lib/money/payouts/wallets/rows";
import { dayOf } from "@/lib/books/sponsorship/service";
import { toStored } from "@/lib/platform/db/codecs";
import { actorOf } from "./voters";

export interface SeededRow {
  readonly recipient: Address;
  readonly amountBase: bigint;
}

export interface SeededBatch {
  /** Symbol, or another name that `resolveToken` accepts. */
  readonly token: string;
  readonly rows: readonly SeededRow[];
}

interface Payer {
  readonly treasury: Address;
  readonly treasuryId: string;
}

/** The sponsor's reservation for each batch; more than any batch in the tests costs. */
const RESERVED_WEI = 10n ** 17n;

/** An address without a known key; equal names give equal addresses. */
export const nobody = (name: string): Address =>
  getAddress(`0x${keccak256(stringToHex(name)).slice(-40)}`);

/** Rows with distinct recipients and amounts. */
export const rowsOf = (name: string, count: number, firstBase = 1_000n): SeededRow[] =>
  Array.from({ length: count }, (_, index) => ({
    recipient: nobody(`${name} ${String(index)}`),
    amountBase: firstBase + BigInt(index),
  }));

const totalOf = ({ rows }: SeededBatch): bigint =>
  rows.reduce((sum, { amountBase }) => sum + amountBase, 0n);

/** A batch with its number. The token has the form in which the database stores it. */
type NumberedBatch = SeededBatch & { readonly number: number };

interface Seeding {
  readonly services: Services;
  readonly payer: Payer;
  readonly payoutId: string;
  readonly projectId: string;
  readonly chainId: number;
  readonly batches: readonly NumberedBatch[];
  readonly now: Date;
}

/** The total of each token, as the payout's page shows it. */
const storedTotals = ({ services: { registry }, chainId, batches }: Seeding) =>
  toStored(
    totalsOf(
      batches.flatMap(({ rows, token }) =>
        rows.map((row) => ({
          ...row,
          token: registry.resolveToken(chainId, token),
          reference: null,
          note: null,
        })),
      ),
    ),
  );

const insertPayout = async (tx: Tx, seeding: Seeding): Promise<void> => {
  const { services, payer, payoutId, projectId, chainId, batches, now } = seeding;
  await tx.payout.create({
    data: {
      ...{
        projectId,
        kind: "wallets",
        mode: "independent",
        status: "processing",
        subStatus: "queued",
      },
      id: payoutId,
      totalBase: 0,
      itemsTotal: batches.reduce((sum, { rows }) => sum + rows.length, 0),
      digest: new Uint8Array(32),
      createdBy: "test",
      createdAt: now,
      updatedAt: now,
    },
  });
  await tx.walletPayout.create({
    data: {
      projectId,
      payoutId,
      chainId,
      fromWalletId: payer.treasuryId,
      fromAddress: payer.treasury,
      totals: storedTotals(seeding),
      warnings: [],
      feeWei: 0,
      feePaidBy: services.sponsorship.pays(chainId) ? "sponsor" : "wallet",
      askedBy: "seed",
    },
  });
};

const insertBatches = async (
  tx: Tx,
  { services, payer, payoutId, projectId, chainId, batches, now }: Seeding,
): Promise<void> => {
  const rows = batches.flatMap(({ rows: own, token, number }) =>
    own.map((row) => ({ ...row, token, batch: number })),
  );
  await tx.walletPayoutItem.createMany({
    data: rows.map(({ recipient, amountBase, batch, token }, index) => ({
      ...{ projectId, payoutId, index, recipient, batch, token },
      amountBase: amountBase.toString(),
    })),
  });
  const sponsored = services.sponsorship.pays(chainId)
    ? { sponsorReservedWei: RESERVED_WEI.toString(), sponsorDay: dayOf(now) }
    : {};
  await tx.walletPayoutBatch.createMany({
    data: batches.map((batch) => ({
      ...{
        projectId,
        payoutId,
        number: batch.number,
        state: "queued",
        updatedAt: now,
        ...sponsored,
      },
      walletAddress: payer.treasury,
      chainId,
      token: batch.token,
      rows: batch.rows.length,
      amountBase: totalOf(batch).toString(),
    })),
  });
};

const insertHolds = async (
  tx: Tx,
  { payer, payoutId, projectId, chainId, batches, now }: Seeding,
): Promise<void> => {
  for (const batch of batches) {
    const key = { walletAddress: payer.treasury, chainId, token: batch.token };
    await tx.balanceGuard.upsert({
      where: { walletAddress_chainId_token: key },
      create: key,
      update: {},
    });
    await tx.balanceHold.create({
      data: {
        ...key,
        id: `${payoutId}/${String(batch.number)}`,
        operationId: payoutId,
        projectId,
        amountBase: totalOf(batch).toString(),
        createdAt: now,
      },
    });
  }
};

/** Stores the policy evaluation of the payout, because the service signs nothing without one. */
const insertEvaluation = async (
  tx: Tx,
  { services, payer, payoutId, projectId, chainId, batches }: Seeding,
): Promise<void> => {
  const rows = batches.flatMap(({ rows: own, token }) => own.map((row) => ({ ...row, token })));
  const fromWalletId = payer.treasuryId;
  const digest = paymentsDigest({ projectId, payoutId, chainId, fromWalletId }, rows);
  const actor = actorOf("usr_test", projectId, "owner");
  const recipients = rows.map(({ recipient }) => recipient);
  const intent = walletsIntent(actor, {
    chainId,
    fromWalletId,
    totals: [],
    recipients,
    createdBy: "test",
  });
  const evaluationId = await services.policyEngine.checking(intent, (check) =>
    check.enforce(sqlOf(tx), { type: "payout", id: payoutId, digest }, { hasCode: true }),
  );
  await tx.payout.update({ where: { id: payoutId }, data: { evaluationId } });
};

/**
 * Stores an approved payout that is `processing`, with its batches, holds and sponsor reservations,
 * without the API, so that tests can choose the batches. @returns the payout's id and project
 */
export const seedPayout = async (
  services: Services,
  payer: Payer,
  {
    chainId,
    batches,
    withJob = false,
  }: { chainId: number; batches: readonly SeededBatch[]; withJob?: boolean },
): Promise<{ id: string; projectId: string }> => {
  const { database, registry, sponsorship } = services;
  const payoutId = newId("payout");
  const now = services.clock.now();
  const { projectId } = await database.prisma.wallet.findUniqueOrThrow({
    where: { id: payer.treasuryId },
  });
  const numbered = batches.map((batch, number) => ({
    ...{ rows: batch.rows, number },
    token: registry.resolveToken(chainId, batch.token).address.toLowerCase(),
  }));
  const seeding: Seeding = {
    services,
    payer,
    payoutId,
    projectId,
    chainId,
    batches: numbered,
    now,
  };
  await database.transaction(async (tx) => {
    await insertPayout(tx, seeding);
    await insertBatches(tx, seeding);
    await insertEvaluation(tx, seeding);
    await insertHolds(tx, seeding);
    if (withJob) await tx.job.create({ data: { id: payoutId, queue: "payout", runAt: now } });
    const costs = numbered.map(({ number }) => ({
      legId: `${payoutId}/${String(number)}`,
      chainId,
      maxWei: RESERVED_WEI,
    }));
    if (sponsorship.pays(chainId))
      await sponsorship.reserve(sqlOf(tx), { projectId, kind: "payout", costs }, now);
  });
  return { id: payoutId, projectId };
};

const transferEvent = parseAbiItem(
  "event Transfer(address indexed from, address indexed to, uint256 value)",
);
const userOperationEvent = parseAbiItem(
  "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)",
);

/**
 * Number of blocks in one query for logs. Nodes and clients limit the size of answers, and the
 * logs of many payouts exceed the limit.
 */
const BLOCKS_PER_QUERY = 50n;
const ROWS_PER_PAGE = 5_000;

const inRanges = async <T>(
  head: bigint,
  read: (range: { fromBlock: bigint; toBlock: bigint }) => Promise<readonly T[]>,
): Promise<T[]> => {
  const found: T[] = [];
  for (let fromBlock = 0n; fromBlock <= head; fromBlock += BLOCKS_PER_QUERY)
    found.push(...(await read({ fromBlock, toBlock: fromBlock + BLOCKS_PER_QUERY - 1n })));
  return found;
};

const inOrder = (texts: readonly string[]): string[] => [...texts].sort();

/** All stored records about payouts of one treasury on one chain. */
const readBooks = async (
  { database: { prisma } }: Services,
  chainId: number,
  treasury: Address,
) => {
  const payouts = await prisma.walletPayout.findMany({
    where: { fromAddress: treasury, chainId },
  });
  const ids = payouts.map(({ payoutId }) => payoutId);
  const [items, batches, records] = await Promise.all([
    prisma.walletPayoutItem.findMany({ where: { payoutId: { in: ids } } }),
    prisma.walletPayoutBatch.findMany({ where: { payoutId: { in: ids } } }),
    prisma.payout.findMany({ where: { id: { in: ids } } }),
  ]);
  const stateOf = new Map(
    batches.map(({ payoutId, number, state }) => [`${payoutId}/${String(number)}`, state]),
  );
  const isPaid = ({ payoutId, batch, status }: (typeof items)[number]): boolean =>
    status === null && stateOf.get(`${payoutId}/${String(batch)}`) === "paid";
  return { ids, items, batches, records, isPaid };
};

type Books = Awaited<ReturnType<typeof readBooks>>;

/** The chain as any node shows it, up to the block `head`. */
interface ChainView {
  readonly client: PublicClient;
  readonly head: bigint;
  readonly treasury: Address;
}

/** Checks that the treasury's `Transfer` events of each token match its paid rows one to one. */
const expectTransfers = async (
  { client, head, treasury }: ChainView,
  { items, isPaid }: Books,
): Promise<void> => {
  const paid = items.filter(isPaid);
  for (const token of new Set(items.map((item) => item.token))) {
    if (token === "native") continue;
    const address = getAddress(token);
    const logs = await inRanges(head, (range) =>
      client.getLogs({
        address,
        event: transferEvent,
        args: { from: treasury },
        strict: true,
        ...range,
      }),
    );
    expect(inOrder(logs.map(({ args }) => `${args.to}:${String(args.value)}`))).toEqual(
      inOrder(
        paid
          .filter((item) => item.token === token)
          .map((item) => `${item.recipient}:${item.amountBase.toFixed(0)}`),
      ),
    );
  }
};

const balanceOf = (client: PublicClient, token: string, owner: Address): Promise<bigint> =>
  token === "native"
    ? client.getBalance({ address: owner })
    : client.readContract({
        address: getAddress(token),
        abi: erc20Abi,
        functionName: "balanceOf",
        args: [owner],
      });

/** Checks that each recipient has the amount of its row if it was paid, and otherwise nothing. */
const expectBalances = async (
  { client }: ChainView,
  { items, isPaid }: Books,
): Promise<void> => {
  for (let from = 0; from < items.length; from += ROWS_PER_PAGE)
    await Promise.all(
      items.slice(from, from + ROWS_PER_PAGE).map(async (item) => {
        const balance = await balanceOf(client, item.token, item.recipient as Address);
        expect([item.index, balance]).toEqual([
          item.index,
          isPaid(item) ? BigInt(item.amountBase.toFixed(0)) : 0n,
        ]);
      }),
    );
};

/**
 * Checks that the successful user operations are those of the paid batches, and that batches store
 * the cost of all operations.
 */
const expectUserOperations = async (
  { client, head, treasury }: ChainView,
  { batches }: Books,
  entryPoint: Address,
): Promise<void> => {
  const executed = await inRanges(head, (range) =>
    client.getLogs({
      address: entryPoint,
      event: userOperationEvent,
      args: { sender: treasury },
      strict: true,
      ...range,
    }),
  );
  const succeeded = executed
    .filter(({ args }) => args.success)
    .map(({ args }) => args.userOpHash);
  const ofPaid = batches.filter(({ state }) => state === "paid");
  expect(inOrder(succeeded)).toEqual(inOrder(ofPaid.map(({ userOpHash }) => userOpHash ?? "")));
  expect(batches.reduce((sum, { gasCostWei }) => sum + BigInt(gasCostWei.toFixed(0)), 0n)).toBe(
    executed.reduce((sum, { args }) => sum + args.actualGasCost, 0n),
  );
};

/**
 * Checks that every payout has ended and counts its paid rows, no batch is in doubt, no job
 * remains, and nothing is held.
 */
const expectAllEnded = async (
  { database: { prisma } }: Services,
  { ids, items, batches, records, isPaid }: Books,
): Promise<void> => {
  expect(batches.filter(({ inDoubt }) => inDoubt)).toEqual([]);
  for (const record of records) {
    const own = items.filter(({ payoutId }) => payoutId === record.id);
    expect(record.itemsCompleted).toBe(own.filter(isPaid).length);
    expect(["completed", "partially_completed", "failed", "cancelled"]).toContain(
      record.status,
    );
  }
  const [jobs, holds] = await Promise.all([
    prisma.job.count({ where: { id: { in: ids } } }),
    prisma.balanceHold.count({ where: { operationId: { in: ids }, releasedAt: null } }),
  ]);
  expect({ jobs, holds }).toEqual({ jobs: 0, holds: 0 });
};

/**
 * Compares all payments of a treasury with the chain itself, read without the service's code. Each
 * paid row has exactly one `Transfer` event (for coins: its recipient has the balance), no other
 * row has an event, and nothing is held, reserved or in doubt. Only for treasuries that made no
 * other payments than payouts, to recipients that received nothing else.
 */
export const expectRowsPaidOnce = async (
  services: Services,
  at: { chainId: number; rpcUrl: string },
  treasury: Address,
): Promise<void> => {
  const client = createPublicClient({
    transport: http(at.rpcUrl, { batch: { batchSize: 500 } }),
  });
  const chain: ChainView = { client, head: await client.getBlockNumber(), treasury };
  const books = await readBooks(services, at.chainId, treasury);
  await expectTransfers(chain, books);
  await expectBalances(chain, books);
  await expectUserOperations(
    chain,
    books,
    services.registry.get(at.chainId).contracts.entryPoint,
  );
  await expectAllEnded(services, books);
};
