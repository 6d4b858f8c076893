/**
 * `npm run bench many-balances [wallets]`: measures how long the unified balance of a project with
 * very many wallets takes, and prints JSON. Starts its own stack. A benchmark, not a test.
 */
import { randomUUID } from "node:crypto";
import pg from "pg";
import { createPublicClient, http, toHex } from "viem";
import { startStack, type Stack } from "../../e2e/support/stack";
import type { ApiClient } from "../../lib/api-client/client";
import { getUnifiedBalances } from "../../lib/contracts/balances";
import { useFaucet } from "../../lib/contracts/dev";
import { signInAnew } from "./harness";

const CHAIN_ID = 31337;
const WALLETS = 10_000;
/** Each wallet whose index is a multiple of this number holds money. */
const FUNDED_EVERY = 1000;
const ROUNDS = 20;

const addressOf = (index: number): `0x${string}` =>
  toHex(0xba1a_0000_0000_0000n + BigInt(index), { size: 20 });

const addWallets = async (
  { databaseUrl }: Stack,
  treasury: string,
  wallets: number,
): Promise<void> => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  const indexes = Array.from({ length: wallets - 1 }, (_, index) => index);
  await pool.query(
    `INSERT INTO wallet (id, project_id, kind, address, created_at)
     SELECT 'wal_' || new.id, w.project_id, 'linked', new.address, now()
     FROM unnest($1::text[], $2::text[]) AS new (id, address), wallet w WHERE w.address = $3`,
    [indexes.map(() => randomUUID()), indexes.map(addressOf), treasury],
  );
  await pool.end();
};

const timed = async (client: ApiClient): Promise<number> => {
  const started = performance.now();
  const { stale } = await client.call(getUnifiedBalances, {});
  if (stale.length > 0) throw new Error(stale[0]?.reason);
  return performance.now() - started;
};

const headOf = (stack: Stack): Promise<bigint> =>
  createPublicClient({ transport: http(stack.rpcUrls[String(CHAIN_ID)]) }).getBlockNumber({
    cacheTime: 0,
  });

const measure = async (stack: Stack, wallets: number): Promise<object> => {
  const { client, treasury } = await signInAnew(stack.url, CHAIN_ID);
  const give = (address: `0x${string}`) =>
    client.call(useFaucet, {
      body: { address, chainId: CHAIN_ID, token: "USDC", amount: "10" },
    });
  await addWallets(stack, treasury, wallets);
  for (let index = 0; index < wallets; index += FUNDED_EVERY) await give(addressOf(index));
  const first = await timed(client);
  const [changed, same]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    await give(addressOf(round));
    changed.push(await timed(client));
    const before = await headOf(stack);
    const again = await timed(client);
    if ((await headOf(stack)) === before) same.push(again);
  }
  const p50 = (times: readonly number[]): number | undefined =>
    [...times].sort((one, other) => one - other).map(Math.round)[Math.floor(times.length / 2)];
  return {
    wallets,
    firstMs: Math.round(first),
    newBlockP50Ms: p50(changed),
    mostlySameBlockP50Ms: p50(same),
    sameBlockSamples: same.length,
  };
};

export const run = async ([wallets = String(WALLETS)]: readonly string[]): Promise<void> => {
  const stack = await startStack();
  try {
    process.stdout.write(`${JSON.stringify(await measure(stack, Number(wallets)), null, 2)}\n`);
  } finally {
    await stack.stop();
  }
};
