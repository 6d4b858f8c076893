import { randomUUID } from "node:crypto";
import pg from "pg";
import { toHex } from "viem";
import type { ApiClient } from "../../lib/api-client/client";
import { getUnifiedBalances } from "../../lib/contracts/balances";
import { useFaucet } from "../../lib/contracts/dev";
import { listWallets } from "../../lib/contracts/wallets";

const WALLETS = 100;
/** Number of wallets that hold each token, so that the answer contains many balances. */
const FUNDED = 10;
const WARM = 5;
const ROUNDS = 40;
const CHAIN_IDS = [31337, 31338, 31339] as const;
const TOKENS = ["USDC", "USDT", "DAI"] as const;

let wallets = 0n;
const newAddress = (): `0x${string}` =>
  toHex(BigInt(Date.now()) * 0x1_0000_0000n + 0xba1a_0000_0000_0000n + (wallets += 1n), {
    size: 20,
  });

/**
 * Measures requests for the balances of 100 wallets with five tokens on three chains.
 * @returns milliseconds of each request
 */
export const benchBalances = async ({
  databaseUrl,
  client,
}: {
  readonly databaseUrl: string;
  readonly client: ApiClient;
}): Promise<number[]> => {
  const { data } = await client.call(listWallets, {});
  const [own] = data;
  if (own === undefined) throw new Error("There is no wallet.");
  const addresses = Array.from({ length: WALLETS - data.length }, newAddress);
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  try {
    // The benchmark only reads balances, so it needs rows of these wallets, but not their keys.
    await pool.query(
      `INSERT INTO wallet (id, project_id, kind, address, created_at)
       SELECT 'wal_' || new.id, w.project_id, 'linked', new.address, now()
       FROM unnest($1::text[], $2::text[]) AS new (id, address), wallet w WHERE w.id = $3`,
      [addresses.map(() => randomUUID()), addresses, own.id],
    );
  } finally {
    await pool.end();
  }
  for (const address of addresses.slice(0, FUNDED)) {
    await Promise.all(
      CHAIN_IDS.flatMap((chainId) =>
        TOKENS.map((token) =>
          client.call(useFaucet, { body: { address, chainId, token, amount: "10" } }),
        ),
      ),
    );
  }
  const times: number[] = [];
  for (let round = 0; round < WARM + ROUNDS; round++) {
    const started = performance.now();
    const { stale } = await client.call(getUnifiedBalances, {});
    if (stale.length > 0) throw new Error(stale[0]?.reason);
    if (round >= WARM) times.push(performance.now() - started);
  }
  return times;
};
