import type { Address } from "viem";
import { expect, vi } from "vitest";
import { testApi, type TestApi, type TestSession } from "./api";
import { testAccount, testKey } from "./factories";
import { fund, newCustomer, type Customer } from "./journey";

/**
 * The proof that the effect of a route needs in addition to a bearer token. A new route must be
 * added here, with an attack on it by only a token.
 * - `moves nothing`: changes names, links, requests or waiting objects; no money, and no authority.
 * - `narrows`: removes authority.
 * - `own books`: moves money between accounts of the project, and none out of it.
 * - `needs code`: moves money, or takes over an address for codes, but only with a mailed code.
 * - `waits for code`: stores a payment, which waits until a code approves it.
 * - `needs approval`: extends authority, but only with an approval of exactly that change.
 */
export type Needs =
  | "moves nothing"
  | "narrows"
  | "own books"
  | "needs code"
  | "waits for code"
  | "needs approval";

type Body = Record<string, unknown>;
export interface Answer {
  readonly status: number;
  readonly body: Body;
}

export interface AttackFixture {
  readonly customer: Customer;
  readonly call: (
    method: string,
    path: string,
    body?: object,
    token?: string,
  ) => Promise<Answer>;
  readonly accounts: readonly [string, string];
  readonly eve: Address;
  /** Signs the customer in again. */
  readonly signInAgain: () => Promise<TestSession>;
}
/** Calls a route with only a token. @returns its answer, and the expected part of it */
export type Attack = (world: AttackFixture) => Promise<{ got: Answer; expected: object }>;

/** By method and path: the proof that the route needs, and an attack on it if it writes. */
export type AttackTable = Readonly<Record<string, readonly [Needs, Attack]>>;
export const ONE = 31337;
const FUNDED = "100";
/** The shared state of the attacks, which `startWorld` fills before the tests run. */
const started: { api: TestApi | null; world: AttackFixture | null } = {
  api: null,
  world: null,
};

export const theApi = (): TestApi => {
  if (started.api === null) throw new Error("The world has not started.");
  return started.api;
};
export const attackFixture = (): AttackFixture => {
  if (started.world === null) throw new Error("The world has not started.");
  return started.world;
};

/** Secrets of API keys in the answers to a token, in order. */
export const secretsGiven: string[] = [];

const noteSecret = ({ secret }: Body): void => {
  if (typeof secret === "string" && secret.startsWith("cw_")) secretsGiven.push(secret);
};

export const call: AttackFixture["call"] = async (
  method,
  path,
  body,
  token = attackFixture().customer.session.accessToken,
) => {
  const response = await theApi().fetch(path, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = { status: response.status, body: (await response.json()) as Body };
  if (token === attackFixture().customer.session.accessToken) noteSecret(answer.body);
  return answer;
};

/** The answer of a call, with the expected status and fields. */
export const expecting = async (got: Promise<Answer>, status: number, body: object = {}) => ({
  got: await got,
  expected: { status, body },
});
export const approvalAsked = (got: Promise<Answer>) =>
  expecting(got, 409, { code: "approval_required" });

export const transferBody = ({ customer, eve }: AttackFixture) => ({
  fromWalletId: customer.treasuryId,
  toAddress: eve,
  fromChainId: ONE,
  toChainId: ONE,
  token: "USDC",
  amount: FUNDED,
});
export const quoteOf = async ({ customer, eve }: AttackFixture): Promise<string> => {
  const from = [{ address: customer.treasury, chainId: ONE, token: "USDC", amount: "1" }];
  const { body } = await call("POST", "/swap/quote", {
    from,
    toChainId: ONE,
    toToken: "USDC",
    toAddress: eve,
  });
  return String(body.quoteId);
};
export const operationOf = async ({ customer, eve }: AttackFixture): Promise<Answer> =>
  call("POST", "/swap-and-transfer", {
    fromWalletId: customer.treasuryId,
    fromChainId: ONE,
    toChainId: ONE,
    fromToken: "USDC",
    toToken: "USDC",
    amount: "1",
    recipient: eve,
  });
export const payoutOf = ({ accounts: [payer, payee] }: AttackFixture): Promise<Answer> =>
  call("POST", "/payouts/bulk/global-accounts", {
    sourceAccountId: payer,
    transfers: [{ recipientAccountId: payee, amount: "1", currency: "USDC" }],
    allowDuplicates: true,
  });
export const scheduleOf = ({ eve }: AttackFixture): Promise<Answer> =>
  call("POST", "/payouts/schedules", {
    chainId: ONE,
    transfers: [{ address: eve, amount: "1", token: "USDC" }],
    startsAt: new Date(Date.now() + 60_000).toISOString(),
  });
export const privateQuote = (token?: string): Promise<Answer> =>
  call(
    "POST",
    "/privacy/swap/quote",
    { chainId: ONE, fromToken: "USDC", toToken: "DAI", amount: "10" },
    token,
  );
export const keyOf = async (): Promise<string> =>
  String((await call("POST", "/auth/api-keys", { name: "CI" })).body.id);
export const linked = async (): Promise<{ address: Address; verified: Answer }> => {
  const wallet = testAccount();
  const { body } = await call("POST", "/wallets/link/init", { address: wallet.address });
  const signature = await wallet.signMessage({ message: String(body.message) });
  const verified = await call("POST", "/wallets/link/verify", {
    address: wallet.address,
    signature,
  });
  return { address: wallet.address, verified };
};

export const endpointOf = async (url = "http://127.0.0.1:9999/"): Promise<string> =>
  String((await call("POST", "/webhook-endpoints", { url, events: ["api_key.*"] })).body.id);
export const deliveryOf = async (): Promise<string> =>
  String((await call("POST", `/webhook-endpoints/${await endpointOf()}/test`)).body.id);

/** Starts the service with one customer, who has a funded treasury and two accounts. */
export const startWorld = async (): Promise<void> => {
  const api = await testApi({ worker: true });
  started.api = api;
  const privateKey = testKey();
  const customer = await newCustomer(api, await api.signIn(privateKey));
  const { client } = customer.session;
  // Makes the mailed codes a minute older, because the next code that verifies an address can be
  // requested only after a minute.
  const createdAt = new Date(Date.now() - 61_000);
  await api.services.database.prisma.emailCode.updateMany({ data: { createdAt } });
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: FUNDED });
  const signInAgain = () => api.signIn(privateKey);
  const world = {
    customer,
    call,
    accounts: ["", ""] as const,
    eve: testAccount().address,
    signInAgain,
  };
  started.world = world;
  const open = async (): Promise<string> =>
    String((await call("POST", "/global-accounts", { currency: "USDC" })).body.id);
  const accounts: [string, string] = [await open(), await open()];
  // Reserves count at final blocks, so the money from the faucet counts after a moment.
  await vi.waitFor(
    async () => {
      const funded = await call("POST", `/global-accounts/${accounts[0]}/fund`, {
        currency: "USDC",
        amount: "20",
      });
      expect(funded.status).toBe(201);
    },
    { timeout: 20_000, interval: 200 },
  );
  started.world = { ...world, accounts };
};
