import { beforeAll, expect, test, vi } from "vitest";
import {
  testApi,
  type TestApi,
  type TestApiKey,
  type TestSession,
} from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";

const CHAIN = 31337;
let api: TestApi;
let customer: Customer;
beforeAll(async () => {
  api = await testApi();
  customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN,
    token: "USDC",
    amount: "100",
  });
});

type Headers = Readonly<Record<string, string>>;

const send = async (path: string, credential: Headers, key: string, body: unknown) => {
  const headers = { ...credential, "idempotency-key": key, "content-type": "application/json" };
  const answer = await api.fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  const json = (await answer.json()) as Record<string, unknown>;
  return {
    status: answer.status,
    code: json.code,
    replayed: answer.headers.get("idempotent-replayed"),
    body: json,
  };
};

const keyHeaders = ({ secret }: TestApiKey): Headers => ({ "x-api-key": secret });
const personHeaders = ({ accessToken }: TestSession): Headers => ({
  authorization: `Bearer ${accessToken}`,
});

const transferBody = (toAddress: string = testAccount().address) => ({
  fromWalletId: customer.treasuryId,
  fromChainId: CHAIN,
  toChainId: CHAIN,
  token: "USDC",
  amount: "5",
  toAddress,
});

/** Changes of credentials take effect within a second. */
const eventually = (
  path: string,
  credential: Headers,
  key: string,
  body: unknown,
  expected: object,
) =>
  vi.waitFor(
    async () => {
      const answer = await send(path, credential, key, body);
      expect(answer).toMatchObject({ ...expected, replayed: null });
    },
    { timeout: 10_000, interval: 50 },
  );

test("two keys and a person of one project with the same Idempotency-Key make three transfers, each its own replay", async () => {
  const [one, two] = [
    await api.createKey(customer.session),
    await api.createKey(customer.session),
  ];
  const callers = [keyHeaders(one), keyHeaders(two), personHeaders(customer.session)];
  const body = transferBody();
  const made = await Promise.all(
    callers.map((caller) => send("/transfers", caller, "same", body)),
  );
  expect(made.map(({ status, replayed }) => [status, replayed])).toEqual(
    callers.map(() => [201, null]),
  );
  expect(new Set(made.map((answer) => answer.body.transferId)).size).toBe(3);
  // Works even when the stored answers are gone, because the transfers' rows name the caller.
  for (const forget of [false, true]) {
    if (forget) await api.services.database.prisma.idempotencyKey.deleteMany({});
    for (const [index, caller] of callers.entries()) {
      const again = await send("/transfers", caller, "same", body);
      expect([again.status, again.body.transferId]).toEqual([
        201,
        made[index]?.body.transferId,
      ]);
      expect(again.replayed).toBe(forget ? null : "true");
    }
  }
});

test("two keys with the same Idempotency-Key open two accounts, and the second may ask for another one", async () => {
  const [one, two] = [
    await api.createKey(customer.session),
    await api.createKey(customer.session),
  ];
  const first = await send("/global-accounts", keyHeaders(one), "open", { currency: "USDC" });
  const second = await send("/global-accounts", keyHeaders(two), "open", { currency: "USDC" });
  const third = await send(
    "/global-accounts",
    keyHeaders(await api.createKey(customer.session)),
    "open",
    {
      currency: "DAI",
    },
  );
  expect([first.status, second.status, third.status]).toEqual([201, 201, 201]);
  expect(new Set([first, second, third].map(({ body }) => body.id)).size).toBe(3);
});

test("a key that lost its scope, was revoked or has expired gets its error and not the stored answer", async () => {
  const { prisma } = api.services.database;
  const changes: [{ scopes?: string[]; revokedAt?: Date; expiresAt?: Date }, object][] = [
    [{ scopes: ["balances:read"] }, { status: 403, code: "insufficient_scope" }],
    [{ revokedAt: new Date() }, { status: 401, code: "api_key_revoked" }],
    [{ expiresAt: new Date() }, { status: 401, code: "api_key_expired" }],
  ];
  for (const [data, expected] of changes) {
    const key = await api.createKey(customer.session);
    const body = transferBody();
    const made = await send("/transfers", keyHeaders(key), "lost", body);
    expect((await send("/transfers", keyHeaders(key), "lost", body)).body).toEqual(made.body);
    await prisma.apiKey.update({ where: { id: key.id }, data });
    await eventually("/transfers", keyHeaders(key), "lost", body, expected);
  }
});

test("a key whose recipients were narrowed gets no replay of what pays others, whether or not its answer is still stored", async () => {
  const { prisma } = api.services.database;
  const key = await api.createKey(customer.session);
  const toAddress = testAccount().address;
  const quote = {
    from: [{ address: customer.treasury, chainId: CHAIN, token: "USDC", amount: "5" }],
    toChainId: CHAIN,
    toToken: "USDC",
    toAddress,
  };
  const { fromWalletId, fromChainId, toChainId, token: fromToken, amount } = transferBody();
  const calls: [string, object][] = [
    ["/swap/quote", quote],
    ["/transfers", transferBody(toAddress)],
    [
      "/swap-and-transfer",
      {
        fromWalletId,
        fromChainId,
        toChainId,
        fromToken,
        toToken: "WETH",
        amount,
        recipient: toAddress,
      },
    ],
  ];
  for (const [path, body] of calls) {
    await send(path, keyHeaders(key), "narrow", body);
    expect((await send(path, keyHeaders(key), "narrow", body)).replayed, path).toBe("true");
  }
  await prisma.apiKey.update({
    where: { id: key.id },
    data: { recipients: [testAccount().address] },
  });
  const refused = { status: 403, code: "recipient_not_allowed" };
  for (const [path, body] of calls)
    await eventually(path, keyHeaders(key), "narrow", body, refused);
  // Deletes the HTTP layer's keys, because modules that store the key with their own rows must
  // refuse as well.
  await prisma.idempotencyKey.deleteMany({});
  for (const [path, body] of calls)
    expect(await send(path, keyHeaders(key), "narrow", body), path).toMatchObject({
      ...refused,
      replayed: null,
    });
});

test("a member who was removed, or who may no longer manage keys, gets no stored answer and no stored secret", async () => {
  const { prisma } = api.services.database;
  const session = await api.signIn();
  const { userId } = await api.services.auth.verifyAccessToken(session.accessToken);
  const made = await send("/auth/api-keys", personHeaders(session), "key", { name: "CI" });
  expect(made.status).toBe(201);
  await prisma.membership.updateMany({ where: { userId }, data: { role: "operator" } });
  const forbidden = { status: 403, code: "forbidden" };
  await eventually("/auth/api-keys", personHeaders(session), "key", { name: "CI" }, forbidden);
  await prisma.membership.deleteMany({ where: { userId } });
  await eventually(
    "/auth/api-keys",
    personHeaders(session),
    "key",
    { name: "CI" },
    { status: 404, code: "not_found" },
  );
});
