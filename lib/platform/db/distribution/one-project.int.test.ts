import { expect, test, vi } from "vitest";
import { listActivity } from "@/lib/contracts/activity";
import { listAuditLog } from "@/lib/contracts/audit";
import {
  createGlobalAccount,
  fundGlobalAccount,
  getGlobalAccount,
  listEntries,
} from "@/lib/contracts/global-accounts";
import { getOperation, listOperations } from "@/lib/contracts/operations";
import {
  createAccountsPayout,
  getPayout,
  listPayoutItems,
  listPayouts,
} from "@/lib/contracts/payouts";
import { executeSwap } from "@/lib/contracts/swap";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { isFinal } from "@/lib/core/status";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, prepareQuote, waitUntilFinal } from "@/lib/dev/testing/journey";
import { recordStatements } from "@/lib/dev/testing/recorded-statements";
import { idOf, pay, read, row, someone } from "@/lib/dev/testing/payout-requests";
import { scansOf } from "@/lib/dev/testing/plans";
import { DISTRIBUTED_TABLES } from "./distribute";

const [ONE, TWO] = [31337, 31338];
const WAIT = { timeout: 30_000, interval: 200 };

/** Statements over all projects, each with the reason why it does not name a project. */
const OVER_ALL_PROJECTS: readonly (readonly [string, RegExp])[] = [
  [
    "a worker reads the operation or payout of a job, whose id is all that a job has",
    /WHERE o\.id = ANY\(\$1::text\[\]\) ORDER BY o\.id/,
  ],
  [
    "a worker reads the payout of a job",
    /FROM "public"\."payout" WHERE \(?"public"\."payout"\."id" = \$1/,
  ],
  ["a worker expires what was not approved in time", /"?expires_at"? <= \$/],
  [
    "streams of events, one statement for all of an instance",
    /unnest\(\$1::text\[\], \$2::int\[\]\) AS w \(id, after_seq\)/,
  ],
  ["metrics", /FROM operation WHERE id = ANY\(\$1::text\[\]\)/],
  [
    "the claim of an account's deployment names a leg of any project",
    /FROM operation_leg WHERE id = \$1 AND state IN/,
  ],
  [
    "the sums of a wallet's spendings, which other projects may share",
    /h\.wallet_address = \$1/,
  ],
  [
    "deposits: blocks are compared for the wallets of all projects",
    /(?:asked|moved|open_batch|arrived|places)\b.*\boperation_leg\b/,
  ],
];

const HOT = new RegExp(
  `\\b(?:FROM|JOIN|UPDATE|INTO|USING)\\s+(?:"public"\\.)?"?(?:${DISTRIBUTED_TABLES.join("|")})"?(?![\\w"])`,
  "i",
);
const NAMES_PROJECT = /\bproject_id"?\b/;
/** The project must be a condition, not only a value that is read or written. */
const BY_PROJECT = /\bproject_id"? = \$/;

const api = await testApi({ worker: true });
const statements = recordStatements();

test("statements on hot tables name the project, from signing in to swaps, transfers and payouts", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await Promise.all([
    fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "300" }),
    fund(client, customer.treasury, { chainId: TWO, token: "USDC", amount: "20" }),
  ]);
  const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "1000" });

  const from = [{ address: customer.treasury, chainId: TWO, token: "USDC", amount: "20" }];
  const body = { from, toChainId: ONE, toToken: "WETH", toAddress: testAccount().address };
  const { quoteId } = await prepareQuote(api, customer, body);
  const swap = await client.call(executeSwap, { body: { quoteId } });
  const transfer = await key.client.call(swapAndTransfer, {
    body: {
      ...{
        fromWalletId: customer.treasuryId,
        fromChainId: ONE,
        toChainId: ONE,
        fromToken: "USDC",
        toToken: "USDC",
      },
      ...{ amount: "1", recipient: testAccount().address },
    },
  });
  for (const { operationId } of [swap, transfer]) await waitUntilFinal(client, operationId);
  await client.call(getOperation, { params: { id: swap.operationId } });
  await client.call(listOperations);

  const open = () => client.call(createGlobalAccount, { body: { currency: "USDC" } });
  const [source, recipient] = [await open(), await open()];
  await vi.waitFor(
    () =>
      client.call(fundGlobalAccount, {
        params: { id: source.id },
        body: { amount: "50", currency: "USDC" },
      }),
    WAIT,
  );
  const { payoutId } = await key.client.call(createAccountsPayout, {
    body: {
      sourceAccountId: source.id,
      mode: "independent",
      transfers: [{ recipientAccountId: recipient.id, amount: "2", currency: "USDC" }],
    },
  });
  await vi.waitFor(async () => {
    expect(
      isFinal((await client.call(getPayout, { params: { id: payoutId ?? "" } })).status),
    ).toBe(true);
  }, WAIT);
  await client.call(listPayouts);
  await client.call(listPayoutItems, { params: { id: payoutId ?? "" } });
  await client.call(getGlobalAccount, { params: { id: source.id } });
  const withdrawal = idOf(
    await pay(key.client, [row(someone(), "3")], { sourceAccountId: source.id }),
  );
  await vi.waitFor(
    async () => expect(isFinal((await read(client, withdrawal)).status)).toBe(true),
    WAIT,
  );
  await client.call(listEntries, { params: { id: source.id } });
  await client.call(listActivity);
  await client.call(listAuditLog);

  const texts = [...statements.keys()].filter((text) => HOT.test(text));
  expect(texts.length).toBeGreaterThan(30);
  const nameless = texts.filter((text) => !NAMES_PROJECT.test(text));
  expect(
    nameless.filter((text) => !OVER_ALL_PROJECTS.some(([, pattern]) => pattern.test(text))),
  ).toEqual([]);
}, 180_000);

test("statements on hot tables that name the project find their rows in an index", async () => {
  const texts = [...statements.keys()].filter(
    (text) => HOT.test(text) && BY_PROJECT.test(text),
  );
  expect(await scansOf(api.services.config.databaseUrl, texts, DISTRIBUTED_TABLES)).toEqual([]);
}, 180_000);
