import { expect, test, vi } from "vitest";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { createAccountsPayout } from "@/lib/contracts/payouts";
import { createQuote, executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { createTransfer, swapAndTransfer } from "@/lib/contracts/transfers";
import { SCOPES, type Scope } from "@/lib/contracts/contract";
import { testApi } from "@/lib/dev/testing/api";
import { signed } from "@/lib/dev/testing/approval-caller";
import { testAccount } from "@/lib/dev/testing/factories";
import { codesOf, fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";

const CHAIN = 31337;
const api = await testApi();
const { database } = api.services;

const funded = async (): Promise<Customer> => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN,
    token: "USDC",
    amount: "100",
  });
  return customer;
};

const quoteBody = ({ treasury }: Customer) => ({
  from: [{ address: treasury, chainId: CHAIN, token: "USDC", amount: "5" }],
  toChainId: CHAIN,
  toToken: "USDC",
  toAddress: testAccount().address,
});

const transferBody = ({ treasuryId: fromWalletId }: Customer) => ({
  fromWalletId,
  fromChainId: CHAIN,
  toChainId: CHAIN,
  token: "USDC",
  amount: "5",
  toAddress: testAccount().address,
});

const otherThan = (code: string): string => (code === "000000" ? "000001" : "000000");

test("a key that guesses wrong until it is locked leaves its creator able to approve, also what the key asked for", async () => {
  const customer = await funded();
  const { client } = customer.session;
  const key = await api.createKey(customer.session, { scopes: ["swaps:write"] });
  let last = { quoteId: "", otp: "" };
  for (let round = 0; round < 5; round += 1) {
    const seen = await codesOf(api, customer);
    const { quoteId } = await key.client.call(createQuote, { body: quoteBody(customer) });
    await key.client.call(requestOtp, { body: { quoteId } });
    last = { quoteId, otp: await api.readCode(customer.email, seen) };
    const otp = otherThan(last.otp);
    const code = round < 4 ? "otp_invalid" : "otp_attempts_exceeded";
    for (let attempt = 0; attempt < 5; attempt += 1)
      await expect(
        key.client.call(prepareSwap, { body: { quoteId, otp } }),
      ).rejects.toMatchObject({
        code,
      });
  }
  const seen = await codesOf(api, customer);
  const { quoteId } = await client.call(createQuote, { body: quoteBody(customer) });
  await client.call(requestOtp, { body: { quoteId } });
  await client.call(prepareSwap, {
    body: { quoteId, otp: await api.readCode(customer.email, seen) },
  });
  await client.call(executeSwap, { body: { quoteId } });
  // The code of the key's last quote was mailed to the person too; none of the locked key's guesses
  // was evaluated against it.
  await client.call(prepareSwap, { body: last });
});

test("a key cannot use or burn the code that a person asked for", async () => {
  const customer = await funded();
  const { client } = customer.session;
  const key = await api.createKey(customer.session, { scopes: ["swaps:write"] });
  const seen = await codesOf(api, customer);
  const { quoteId } = await client.call(createQuote, { body: quoteBody(customer) });
  await client.call(requestOtp, { body: { quoteId } });
  const otp = await api.readCode(customer.email, seen);
  for (const guess of [otp, ...Array.from({ length: 6 }, () => otherThan(otp))])
    await expect(
      key.client.call(prepareSwap, { body: { quoteId, otp: guess } }),
    ).rejects.toMatchObject({
      code: "otp_required",
    });
  // Nor does the key's own request replace it, or make the person wait.
  await key.client.call(requestOtp, { body: { quoteId } });
  await client.call(prepareSwap, { body: { quoteId, otp } });
});

test("a key asks for codes of what its scopes let it move, and of nothing else", async () => {
  const customer = await funded();
  const { client } = customer.session;
  const { quoteId } = await client.call(createQuote, { body: quoteBody(customer) });
  const { transferId } = await client.call(createTransfer, { body: transferBody(customer) });
  const transfer = await database.prisma.quote.findUniqueOrThrow({ where: { transferId } });
  const { operationId } = await client.call(swapAndTransfer, {
    body: {
      fromWalletId: customer.treasuryId,
      fromChainId: CHAIN,
      toChainId: CHAIN,
      fromToken: "USDC",
      toToken: "WETH",
      amount: "5",
      recipient: testAccount().address,
    },
  });
  const [source, recipient] = [
    await client.call(createGlobalAccount, { body: { currency: "USDC" } }),
    await client.call(createGlobalAccount, { body: { currency: "USDC" } }),
  ];
  await vi.waitFor(
    () =>
      client.call(fundGlobalAccount, {
        params: { id: source.id },
        body: { amount: "10", currency: "USDC" },
      }),
    { timeout: 20_000, interval: 200 },
  );
  const { payoutId } = await client.call(createAccountsPayout, {
    body: {
      sourceAccountId: source.id,
      transfers: [{ recipientAccountId: recipient.id, amount: "1", currency: "USDC" }],
    },
  });
  const quotes: [Scope, { quoteId: string } | { transferId: string }][] = [
    ["swaps:write", { quoteId }],
    ["transfers:write", { transferId }],
    // A transfer is a quote too; naming it so needs no less.
    ["transfers:write", { quoteId: transfer.id }],
  ];
  for (const [needed, body] of quotes) {
    for (const scope of [
      "swaps:write",
      "transfers:write",
      "operations:write",
      "payouts:write",
    ] as const) {
      if (scope === needed) continue;
      const { client: narrow } = await api.createKey(customer.session, { scopes: [scope] });
      for (const step of [requestOtp, prepareSwap, executeSwap])
        await expect(narrow.call(step, { body })).rejects.toMatchObject({
          status: 403,
          code: "insufficient_scope",
        });
    }
    const all = SCOPES.filter((scope) => scope !== needed);
    const { client: without } = await api.createKey(customer.session, { scopes: all });
    for (const step of [requestOtp, prepareSwap, executeSwap])
      await expect(without.call(step, { body })).rejects.toMatchObject({
        status: 403,
        code: "insufficient_scope",
      });
    const { client: exact } = await api.createKey(customer.session, { scopes: [needed] });
    await exact.call(requestOtp, { body });
    for (const step of [prepareSwap, executeSwap])
      await expect(exact.call(step, { body })).rejects.toMatchObject({ status: 409 });
  }
  const { client: whole } = await api.createKey(customer.session);
  for (const body of [{ operationId }, { payoutId: payoutId ?? "" }])
    await expect(whole.call(requestOtp, { body })).rejects.toMatchObject({
      status: 403,
      code: "forbidden",
    });
});

test("beyond the limit of its network a request is 429 with Retry-After and a plain message; other networks go on", async () => {
  const limited = await testApi({ devnet: false, variables: { RATE_LIMIT_PER_IP: "100000" } });
  const ask = async (address: string, email: string) => {
    const { accessToken, account } = await limited.signIn();
    const headers = {
      authorization: `Bearer ${accessToken}`,
      "content-type": "application/json",
      "x-forwarded-for": address,
    };
    const patch = (body: object) =>
      limited.fetch("/me", { method: "PATCH", headers, body: JSON.stringify(body) });
    const asked = (await (await patch({ email })).json()) as {
      approvalId: string;
      message: string;
    };
    return patch({ email, ...(await signed(asked, account)) });
  };
  const answers = await Promise.all(
    Array.from({ length: 61 }, (_, index) =>
      ask("203.0.113.9", `stranger${String(index)}@example.test`),
    ),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(1);
  expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(3000);
  expect(await refused[0]?.json()).toMatchObject({
    code: "rate_limited",
    message:
      "Too many codes were asked for from your network address within an hour. Nothing was sent; try again later.",
  });
  expect((await ask("203.0.113.10", "stranger@example.test")).status).toBe(200);
});
