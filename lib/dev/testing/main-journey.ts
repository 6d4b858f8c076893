/**
 * The main journeys through the API: a swap over two chains, a transfer, payouts to wallets and to
 * accounts, a withdrawal, and their webhooks.
 */
import { parseUnits, type Address } from "viem";
import { expect, vi } from "vitest";
import type { ApiClient } from "@/lib/api-client/client";
import {
  createGlobalAccount,
  fundGlobalAccount,
  getGlobalAccount,
} from "@/lib/contracts/global-accounts";
import { createAccountsPayout, getPayout, listPayouts } from "@/lib/contracts/payouts";
import { executeSwap } from "@/lib/contracts/swap";
import { createWebhookEndpoint } from "@/lib/contracts/webhook-endpoints";
import { verifyLedger } from "@/lib/books/ledger/verify";
import type { TestApi } from "./api";
import { testAccount } from "./factories";
import { balanceOnChain, prepareQuote, prepareTransfer, waitUntilFinal } from "./journey";
import { idOf, newPayer, pay, row } from "./payout-requests";
import { verifyWebhook, type WebhookReceiver } from "./webhook-receiver";

const [ONE, TWO] = [31337, 31338];
const USDC_DECIMALS = 6;
const WAIT = { timeout: 60_000, interval: 100 };
/** The amounts of the movements, in USDC. */
const AMOUNT = {
  treasury: "100",
  swap: "20",
  transfer: "10",
  account: "5",
  betweenAccounts: "2",
  withdrawal: "1",
};
const ROWS = 5;
/** Expected balances in USDC after each movement was made exactly once. */
const LEFT = { treasury: "64", payer: "2", payee: "2" };

export interface AcceptedJourney {
  /** Ids of the operations and payouts that end on a chain. */
  readonly onChain: readonly string[];
  /** A client with the same person's session for another process of the API. */
  clientAt(api: TestApi): ApiClient;
  /**
   * Waits until everything has ended, and compares the chains, the accounts, the ledger and the
   * webhooks with the requests.
   */
  expectPaidOnce(client: ApiClient): Promise<void>;
}

type Setup = Awaited<ReturnType<typeof setUp>>;

/**
 * A customer with money, two accounts, a webhook, and a swap and a transfer that only need to be
 * executed.
 */
const setUp = async (api: TestApi, receiver: WebhookReceiver) => {
  const { customer, key, person } = await newPayer(api, AMOUNT.treasury);
  const events = ["operation.*", "payout.*"];
  const { secret } = await person.call(createWebhookEndpoint, {
    body: { url: receiver.url, events },
  });
  const open = async () =>
    (await person.call(createGlobalAccount, { body: { currency: "USDC" } })).id;
  const [payer, payee] = [await open(), await open()];
  const funding = { params: { id: payer }, body: { amount: AMOUNT.account, currency: "USDC" } };
  await vi.waitFor(() => person.call(fundGlobalAccount, funding), WAIT);
  const someone = (): Address => testAccount().address;
  const to = {
    ...{ swap: someone(), transfer: someone(), withdrawal: someone() },
    rows: Array.from({ length: ROWS }, someone),
  };
  const { quoteId } = await prepareQuote(api, customer, {
    from: [{ address: customer.treasury, chainId: ONE, token: "USDC", amount: AMOUNT.swap }],
    ...{ toChainId: TWO, toToken: "WETH", toAddress: to.swap },
  });
  const { transferId } = await prepareTransfer(api, customer, {
    ...{
      fromWalletId: customer.treasuryId,
      toAddress: to.transfer,
      fromChainId: ONE,
      toChainId: ONE,
    },
    ...{ token: "USDC", amount: AMOUNT.transfer },
  });
  return {
    api,
    receiver,
    customer,
    key,
    person,
    secret,
    payer,
    payee,
    to,
    quoteId,
    transferId,
  };
};

const acceptAll = async ({ key, person, payer, payee, to, quoteId, transferId }: Setup) => {
  const transfers = [
    { recipientAccountId: payee, amount: AMOUNT.betweenAccounts, currency: "USDC" },
  ];
  const [between, swap, transfer, wallets, withdrawal] = await Promise.all([
    key.call(createAccountsPayout, { body: { sourceAccountId: payer, transfers } }),
    person.call(executeSwap, { body: { quoteId } }),
    person.call(executeSwap, { body: { transferId } }),
    pay(
      key,
      to.rows.map((address) => row(address)),
    ),
    pay(key, [row(to.withdrawal, AMOUNT.withdrawal)], { sourceAccountId: payer }),
  ]);
  return {
    swapId: swap.operationId,
    operationIds: [swap.operationId, transfer.operationId],
    accountsPayoutId: idOf(between),
    walletPayoutIds: [idOf(wallets), idOf(withdrawal)],
  };
};

type Accepted = Awaited<ReturnType<typeof acceptAll>>;

const expectChainsToAgree = async (
  { api, customer, to }: Setup,
  received: string,
): Promise<void> => {
  const { registry } = api.services;
  const tokenOf = (chainId: number, symbol: string, owner: Address): Promise<bigint> =>
    balanceOnChain(
      registry.get(chainId).rpcUrls[0] ?? "",
      registry.resolveToken(chainId, symbol).address,
      owner,
    );
  const usdcOf = (owner: Address) => tokenOf(ONE, "USDC", owner);
  const owners = [customer.treasury, to.transfer, to.withdrawal, ...to.rows];
  const expected = [
    LEFT.treasury,
    AMOUNT.transfer,
    AMOUNT.withdrawal,
    ...to.rows.map(() => "1"),
  ];
  expect(await Promise.all(owners.map(usdcOf))).toEqual(
    expected.map((amount) => parseUnits(amount, USDC_DECIMALS)),
  );
  const { decimals } = registry.resolveToken(TWO, "WETH");
  expect(await tokenOf(TWO, "WETH", to.swap)).toBe(parseUnits(received, decimals));
};

/**
 * Checks that exactly one event with a valid signature reports each movement's end, however often
 * the event was sent.
 */
const expectWebhooks = async (
  { receiver, secret }: Setup,
  ids: readonly string[],
): Promise<void> => {
  const isEnd = ({ body }: WebhookReceiver["received"][number]) =>
    String(body.type).endsWith(".completed");
  const ends = () =>
    receiver.received.filter((each) => isEnd(each) && ids.includes(String(each.body.objectId)));
  await vi.waitFor(
    () => expect(new Set(ends().map(({ body }) => body.objectId))).toEqual(new Set(ids)),
    WAIT,
  );
  for (const webhook of ends()) expect(() => verifyWebhook(secret, webhook)).not.toThrow();
  expect(new Set(ends().map(({ headers }) => headers["webhook-id"])).size).toBe(ids.length);
};

const expectPaidOnce = async (
  setup: Setup,
  accepted: Accepted,
  client: ApiClient,
): Promise<void> => {
  const { operationIds, walletPayoutIds, accountsPayoutId, swapId } = accepted;
  const payoutIds = [accountsPayoutId, ...walletPayoutIds];
  const ids = [...operationIds, ...payoutIds];
  const operations = await Promise.all(
    operationIds.map((id) => waitUntilFinal(client, id, WAIT.timeout)),
  );
  for (const operation of operations)
    expect(operation).toMatchObject({ status: "completed", subStatus: "full" });
  const completed = async (id: string) =>
    expect(await client.call(getPayout, { params: { id } })).toMatchObject({
      status: "completed",
    });
  await Promise.all(payoutIds.map((id) => vi.waitFor(() => completed(id), WAIT)));
  const { data } = await client.call(listPayouts, { query: {} });
  expect(data.map(({ payoutId }) => payoutId).sort()).toEqual([...payoutIds].sort());

  const swap = operations.find(({ operationId }) => operationId === swapId);
  await expectChainsToAgree(setup, swap?.actual.received.amount ?? "");
  const accounts = [setup.payer, setup.payee].map((id) =>
    client.call(getGlobalAccount, { params: { id } }),
  );
  const balances = (await Promise.all(accounts)).map(({ balance }) => balance.posted);
  expect(balances).toEqual([LEFT.payer, LEFT.payee]);
  await expectWebhooks(setup, ids);
  const { prisma, pool } = setup.api.services.database;
  expect(
    await prisma.balanceHold.count({ where: { operationId: { in: ids }, releasedAt: null } }),
  ).toBe(0);
  expect((await verifyLedger(pool)).violations).toEqual([]);
};

/**
 * Creates a customer and prepares each movement of the journey in one process. `accept` then starts
 * all of them at once.
 */
export const prepareJourney = async (
  api: TestApi,
  receiver: WebhookReceiver,
): Promise<{ accept: () => Promise<AcceptedJourney> }> => {
  const setup = await setUp(api, receiver);
  return {
    accept: async () => {
      const accepted = await acceptAll(setup);
      return {
        onChain: [...accepted.operationIds, ...accepted.walletPayoutIds],
        clientAt: (other) =>
          other.client({ authorization: `Bearer ${setup.customer.session.accessToken}` }),
        expectPaidOnce: (client) => expectPaidOnce(setup, accepted, client),
      };
    },
  };
};

/** Runs the whole journey in one process. */
export const mainJourney = async (
  api: TestApi,
  receiver: WebhookReceiver,
): Promise<AcceptedJourney> => {
  const journey = await (await prepareJourney(api, receiver)).accept();
  await journey.expectPaidOnce(journey.clientAt(api));
  return journey;
};
