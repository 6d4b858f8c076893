import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { PrivateKeyAccount } from "viem/accounts";
import { createApiClient, type ApiClient } from "../../lib/api-client/client";
import { useFaucet } from "../../lib/contracts/dev";
import { createGlobalAccount, fundGlobalAccount } from "../../lib/contracts/global-accounts";
import { PAYOUT_ROWS_MAX } from "@/lib/core/payout-facts";
import { createAccountsPayout, getPayout } from "../../lib/contracts/payouts";
import { listWallets } from "../../lib/contracts/wallets";
import { isFinal } from "../../lib/core/status";
import { approvedKey } from "../../lib/dev/testing/approve";

const ROWS = 1000;
const ROUNDS = 30;
/**
 * Number of rounds before the first measurement. After these rounds the server has only started.
 */
const STARTED_AFTER = 5;
/**
 * Number of rounds before the second measurement. After these rounds the server has also compiled
 * its frequent code.
 */
const WARM_AFTER = 150;
/** Number of payouts with as many rows as a payout may have. */
const LARGEST_ROUNDS = 5;
const POLL_MS = 10;
const TIMEOUT_MS = 60_000;
const OPENED_AT_ONCE = 50;
const FUNDED = "1000000";

/** The baseline: a table with one row per payment, to measure a bare insert into PostgreSQL. */
const PEER_TABLE = `CREATE TABLE bench_payout_item (payout_id text, index int, recipient_account_id text NOT NULL,
  amount_base numeric(78,0) NOT NULL CHECK (amount_base > 0), reference text, PRIMARY KEY (payout_id, index))`;
const PEER_INSERT = `INSERT INTO bench_payout_item (payout_id, index, recipient_account_id, amount_base, reference)
  SELECT $1, item.index - 1, item.recipient, item.amount, item.reference
  FROM unnest($2::text[], $3::numeric[], $4::text[]) WITH ORDINALITY AS item (recipient, amount, reference, index)`;

export interface PayoutTimes {
  /** Milliseconds from the request to its answer, for consecutive payouts. */
  readonly acceptMs: readonly number[];
  /** Milliseconds from the request until every row is paid. */
  readonly paidMs: readonly number[];
  readonly bareInsertMs: readonly number[];
}

interface PaidTimes {
  readonly acceptMs: number;
  readonly paidMs: number;
}

/** Times of a server after its first payouts (`started`) and after many (`warm`). */
export interface PayoutFigures {
  readonly started: PayoutTimes;
  readonly warm: PayoutTimes;
  /** Times of payouts with as many rows as a payout may have. */
  readonly largest: Omit<PayoutTimes, "bareInsertMs">;
}

export interface PayoutBench {
  /** Connection of the role that owns the tables. The benchmark creates a table as its baseline. */
  readonly databaseOwnerUrl: string;
  readonly client: ApiClient;
  /** The wallet account of the person to whom the client belongs. */
  readonly account: PrivateKeyAccount;
  readonly apiUrl: string;
  readonly chainId: number;
}

/** Creates an API key that needs no code, an account with money, and one recipient per row. */
const prepare = async ({ account, client, apiUrl, chainId }: PayoutBench) => {
  const { data } = await client.call(listWallets, {});
  const treasury = data.find(({ kind }) => kind === "treasury");
  if (treasury === undefined) throw new Error("There is no treasury.");
  await client.call(useFaucet, {
    body: { address: treasury.address, chainId, token: "USDC", amount: FUNDED },
  });
  const { secret } = await approvedKey(account, client, {
    name: "payouts",
    otp: "exempt",
    dailyCapUsd: FUNDED,
  });
  const key = createApiClient({ baseUrl: apiUrl, headers: () => ({ "x-api-key": secret }) });
  const open = async (): Promise<string> => {
    const { id } = await client.call(createGlobalAccount, { body: { currency: "USDC" } });
    return id;
  };
  const source = await open();
  const body = { currency: "USDC", amount: String(ROWS * 100) };
  // Reserves count money only at final blocks, so funding may fail at first.
  const started = performance.now();
  const fund = async (): Promise<void> => {
    try {
      await client.call(fundGlobalAccount, { params: { id: source }, body });
    } catch (error) {
      if (performance.now() - started > TIMEOUT_MS) throw error;
      await pause(POLL_MS);
      await fund();
    }
  };
  await fund();
  const recipients: string[] = [];
  while (recipients.length < ROWS)
    recipients.push(...(await Promise.all(Array.from({ length: OPENED_AT_ONCE }, open))));
  return { key, secret, source, recipients };
};

type PostPayout = (body: object) => Promise<string>;

/** A client with little overhead: one keep-alive connection and minimal requests. */
const poster = (apiUrl: string, secret: string): PostPayout => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const url = new URL(`${apiUrl}${createAccountsPayout.path}`);
  return (body) =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(JSON.stringify(body));
      const headers = {
        "content-type": "application/json",
        "content-length": bytes.length,
        "x-api-key": secret,
        "idempotency-key": randomUUID(),
      };
      const sent = request(url, { method: "POST", agent, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => (text += part));
        response.once("end", () => {
          const answer = JSON.parse(text) as { payoutId?: string | null };
          if (
            response.statusCode === createAccountsPayout.status &&
            typeof answer.payoutId === "string"
          )
            resolve(answer.payoutId);
          else reject(new Error(`A payout was not accepted: ${text}`));
        });
      });
      sent.once("error", reject);
      sent.end(bytes);
    });
};

/**
 * Compares a payout of 1,000 rows over HTTP with a bare insert of the same rows; the two alternate.
 */
export const benchPayouts = async (bench: PayoutBench): Promise<PayoutFigures> => {
  const { key, secret, source, recipients } = await prepare(bench);
  const post = poster(bench.apiUrl, secret);
  // Each round has another month in its reference, because equal rows would be refused as
  // duplicates.
  const rowsOf = (month: string, count = ROWS) =>
    Array.from({ length: count }, (_, index) => ({
      recipientAccountId: recipients[index % recipients.length],
      amount: "0.01",
      currency: "USDC",
      reference: `Salary ${String(index)}, month ${month}`,
    }));
  const payOnce = async (transfers: object[]): Promise<PaidTimes> => {
    const started = performance.now();
    const payoutId = await post({ sourceAccountId: source, transfers });
    const acceptMs = performance.now() - started;
    for (;;) {
      const { status } = await key.call(getPayout, { params: { id: payoutId } });
      if (isFinal(status) && status !== "completed")
        throw new Error(`A payout ended ${status}.`);
      if (status === "completed") return { acceptMs, paidMs: performance.now() - started };
      if (performance.now() - started > TIMEOUT_MS)
        throw new Error("A payout was not paid in time.");
      await pause(POLL_MS);
    }
  };
  const rows = rowsOf("0");
  const columns = [
    rows.map(({ recipientAccountId }) => recipientAccountId),
    rows.map(() => "10000000000000000"),
    rows.map(({ reference }) => reference),
  ];
  const rounds: (PaidTimes & { readonly bareInsertMs: number })[] = [];
  const pool = new pg.Pool({ connectionString: bench.databaseOwnerUrl, max: 1 });
  try {
    await pool.query(PEER_TABLE);
    for (let round = 0; round < WARM_AFTER + ROUNDS; round++) {
      const insertStarted = performance.now();
      await pool.query({
        name: "insert",
        text: PEER_INSERT,
        values: [`po_${randomUUID()}`, ...columns],
      });
      const bareInsertMs = performance.now() - insertStarted;

      rounds.push({ bareInsertMs, ...(await payOnce(rowsOf(String(round)))) });
    }
    const largest: PaidTimes[] = [];
    for (let round = 0; round < LARGEST_ROUNDS; round++)
      largest.push(await payOnce(rowsOf(`${String(round)} of all`, PAYOUT_ROWS_MAX)));
    const timesAfter = (count: number): PayoutTimes => {
      const measured = rounds.slice(count, count + ROUNDS);
      return {
        acceptMs: measured.map(({ acceptMs }) => acceptMs),
        paidMs: measured.map(({ paidMs }) => paidMs),
        bareInsertMs: measured.map(({ bareInsertMs }) => bareInsertMs),
      };
    };
    return {
      started: timesAfter(STARTED_AFTER),
      warm: timesAfter(WARM_AFTER),
      largest: {
        acceptMs: largest.map(({ acceptMs }) => acceptMs),
        paidMs: largest.map(({ paidMs }) => paidMs),
      },
    };
  } finally {
    await pool.query("DROP TABLE IF EXISTS bench_payout_item");
    await pool.end();
  }
};
