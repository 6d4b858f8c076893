import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { UserActor } from "@/lib/core/actor";
import { createQuote, executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { addSeconds, systemClock } from "@/lib/core/clock";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  codesOf,
  fund,
  newCustomer,
  prepareQuote,
  type QuoteBody,
} from "@/lib/dev/testing/journey";

let aheadSeconds = 0;
const clock = { now: () => addSeconds(systemClock.now(), aheadSeconds) };
const api = await testApi({ overrides: { clock } });
const customer = await newCustomer(api);
const { client, accessToken } = customer.session;

const newQuote = (): Promise<{ quoteId: string }> => client.call(createQuote, { body: good() });

const good = (): QuoteBody => ({
  from: [{ address: customer.treasury, chainId: 31337, token: "USDC", amount: "10" }],
  toChainId: 31338,
  toToken: "USDC",
  toAddress: testAccount().address,
});

const withSource = (change: Record<string, unknown>) => ({
  ...good(),
  from: [{ ...good().from[0], ...change }],
});

interface Answer {
  status: number;
  body: {
    code?: string;
    message?: string;
    details?: { path: string; code?: string }[];
    requestId?: string;
  };
}

const post = async (
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> => {
  const response = await api.fetch(path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      authorization: `Bearer ${accessToken}`,
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answer["body"] };
};

const postQuote = (body: unknown): Promise<Answer> => post("/swap/quote", body);
const paths = (answer: Answer): string[] =>
  (answer.body.details ?? []).map((detail) => detail.path);

test.each([
  "0",
  "-1",
  "1e3",
  "0x10",
  "1_000",
  "NaN",
  "١",
  "",
  " 1",
  "+1",
  "01",
  "1.",
  ".5",
  "0.0",
  "1,5",
  "Infinity",
])("a quote refuses, with 400 and the field's name, the amount %j", async (amount) => {
  const answer = await postQuote(withSource({ amount }));
  expect(answer).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  expect(paths(answer)).toEqual(["from.0.amount"]);
});

test("a quote refuses, with 400 and the field's name, an amount that is a number", async () => {
  expect(await postQuote(withSource({ amount: 10 }))).toMatchObject({
    status: 400,
    body: { code: "invalid_request" },
  });
});

test("a quote refuses, with 400 and the field's name, more fraction digits than the token has, never rounding them", async () => {
  const answer = await postQuote(withSource({ amount: "1.0000001" }));
  expect(answer).toMatchObject({ status: 400, body: { code: "amount_precision" } });
  expect(paths(answer)).toEqual(["from.0.amount"]);
});

test("a quote refuses, with 400 and the field's name, 2^256 and more", async () => {
  const answer = await postQuote(withSource({ amount: (2n ** 256n).toString() }));
  expect(answer.status).toBe(400);
  expect(paths(answer)).toEqual(["from.0.amount"]);
});

test.each([
  ["from.0.address", withSourceLater({ address: swapCase(customer.treasury) })],
  ["from.0.address", withSourceLater({ address: "0x1234" })],
  ["toAddress", { toAddress: swapCase(customer.treasury) }],
])(
  "a quote refuses, with 400 and the field's name, a wrong checksum or form at %s",
  async (path, change) => {
    const answer = await postQuote({ ...good(), ...change });
    expect(answer).toMatchObject({ status: 400, body: { code: "invalid_request" } });
    expect(paths(answer)).toEqual([path]);
  },
);

test("a quote refuses, with 400 and the field's name, the zero address and the token itself as the recipient", async () => {
  const zero = await postQuote({ ...good(), toAddress: `0x${"0".repeat(40)}` });
  const token = await postQuote({
    ...good(),
    toAddress: api.services.registry.resolveToken(31338, "USDC").address,
  });
  const routersSelf = await postQuote({ ...good(), toAddress: `0x${"2".padStart(40, "0")}` });
  const { across, permit2 } = api.services.registry.get(31338).contracts;
  const handler = await postQuote({ ...good(), toAddress: across?.multicallHandler });
  const permits = await postQuote({ ...good(), toAddress: permit2 });
  for (const answer of [zero, token, routersSelf, handler, permits]) {
    expect([answer.status, paths(answer)]).toEqual([400, ["toAddress"]]);
  }
});

test("a quote refuses, with 400 and the field's name, an unknown chain, token or wallet, every one at once", async () => {
  const answer = await postQuote({
    from: [
      { address: customer.treasury, chainId: 5, token: "USDC", amount: "1" },
      { address: customer.treasury, chainId: 31337, token: "NOPE", amount: "1" },
      { address: testAccount().address, chainId: 31337, token: "USDC", amount: "1" },
    ],
    toChainId: 6,
    toToken: "USDC",
    toAddress: customer.treasury,
  });
  expect(answer.status).toBe(400);
  const faults = (answer.body.details ?? []).map(({ path, code }) => [path, code]);
  expect(faults).toEqual(
    expect.arrayContaining([
      ["from.0.chainId", "unsupported_chain"],
      ["from.1.token", "unsupported_token"],
      ["from.2.address", "unknown_wallet"],
      ["toChainId", "unsupported_chain"],
    ]),
  );
});

test("a quote refuses, with 400 and the field's name, another project's wallet, exactly as it refuses one that nobody has", async () => {
  const other = await newCustomer(api);
  const foreign = await postQuote(withSource({ address: other.treasury }));
  const nobody = await postQuote(withSource({ address: testAccount().address }));
  expect(foreign).toMatchObject({ status: 400, body: { code: "unknown_wallet" } });
  const bare = ({ status, body }: Answer) => ({ status, ...body, requestId: "" });
  expect(bare(foreign)).toEqual(bare(nobody));
});

test("a quote refuses, with 400 and the field's name, the same source twice, and eleven sources", async () => {
  const [source] = good().from;
  const twice = await postQuote({
    ...good(),
    from: [source, { ...source, address: customer.treasury.toLowerCase() }],
  });
  expect(twice.status).toBe(400);
  expect(paths(twice)).toEqual(["from.1"]);
  const eleven = await postQuote({ ...good(), from: Array.from({ length: 11 }, () => source) });
  expect(eleven.status).toBe(400);
  expect(paths(eleven)).toEqual(["from"]);
  expect((await postQuote({ ...good(), from: [] })).status).toBe(400);
});

test.each([-1, 1001, 0.5, "50"])(
  "a quote refuses, with 400 and the field's name, slippage %j",
  async (slippageBps) => {
    const answer = await postQuote({ ...good(), slippageBps });
    expect(answer.status).toBe(400);
    expect(paths(answer)).toEqual(["slippageBps"]);
  },
);

describe("bodies", () => {
  test("that are not JSON are 400", async () => {
    expect(await post("/swap/quote", "{ not json")).toMatchObject({
      status: 400,
      body: { code: "invalid_request" },
    });
    expect((await post("/swap/quote", "[]")).status).toBe(400);
    expect((await post("/swap/quote", "null")).status).toBe(400);
  });

  test("of 2 MB are 413", async () => {
    const answer = await post("/swap/quote", JSON.stringify({ pad: "x".repeat(2_000_000) }));
    expect(answer).toMatchObject({ status: 413, body: { code: "payload_too_large" } });
  });

  test("of text/plain are 415", async () => {
    const answer = await post("/swap/quote", good(), { "content-type": "text/plain" });
    expect(answer).toMatchObject({ status: 415, body: { code: "unsupported_media_type" } });
  });
});

const wrong = (right: string): string =>
  String((Number(right) + 1) % 1_000_000).padStart(6, "0");

const quoteWithCode = async (): Promise<{ quoteId: string; code: string }> => {
  const seen = await codesOf(api, customer);
  const { quoteId } = await newQuote();
  await client.call(requestOtp, { body: { quoteId } });
  return { quoteId, code: await api.readCode(customer.email, seen) };
};

test("one-time codes are asked for before prepare", async () => {
  const { quoteId } = await newQuote();
  expect(await post("/swap/prepare", { quoteId })).toMatchObject({
    status: 409,
    body: { code: "otp_required" },
  });
  expect(await post("/swap/prepare", { quoteId, otp: "123456" })).toMatchObject({
    status: 409,
    body: { code: "otp_required" },
  });
  expect(await post("/swap/execute", { quoteId })).toMatchObject({
    status: 409,
    body: { code: "invalid_state" },
  });
});

test("one-time codes that are wrong, or another quote's, are refused", async () => {
  const [one, two] = [await quoteWithCode(), await quoteWithCode()];
  expect(
    await post("/swap/prepare", { quoteId: one.quoteId, otp: wrong(one.code) }),
  ).toMatchObject({
    status: 422,
    body: { code: "otp_invalid" },
  });
  if (one.code !== two.code) {
    expect(await post("/swap/prepare", { quoteId: one.quoteId, otp: two.code })).toMatchObject({
      status: 422,
      body: { code: "otp_invalid" },
    });
  }
});

test("one-time codes expire after five minutes", async () => {
  const actor = await actorOf(accessToken);
  const seen = await codesOf(api, customer);
  const digest = new Uint8Array(randomBytes(32));
  const subjectId = `qt_${randomBytes(8).toString("hex")}`;
  await api.services.otp.request({ actor, subjectId, digest, subject: "Code", lines: [] });
  const code = await api.readCode(customer.email, seen);
  aheadSeconds += 301;
  await expect(
    api.services.otp.consume({ actor, subjectId, digest, code }),
  ).rejects.toMatchObject({
    code: "otp_expired",
  });
});

test("one-time codes are good for exactly what they state", async () => {
  const actor = await actorOf(accessToken);
  const seen = await codesOf(api, customer);
  const [digest, other] = [new Uint8Array(randomBytes(32)), new Uint8Array(randomBytes(32))];
  const subjectId = `qt_${randomBytes(8).toString("hex")}`;
  await api.services.otp.request({ actor, subjectId, digest, subject: "Code", lines: [] });
  const code = await api.readCode(customer.email, seen);
  await expect(
    api.services.otp.consume({ actor, subjectId, digest: other, code }),
  ).rejects.toMatchObject({
    code: "otp_invalid",
  });
  await api.services.otp.consume({ actor, subjectId, digest, code });
  await expect(
    api.services.otp.consume({ actor, subjectId, digest, code }),
  ).rejects.toMatchObject({
    code: "otp_invalid",
  });
});

test("one-time codes are evaluated five times, of 200 guesses at once", async () => {
  const { quoteId, code } = await quoteWithCode();
  const guess = wrong(code);
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => post("/swap/prepare", { quoteId, otp: guess })),
  );
  expect(answers.filter((answer) => answer.body.code === "otp_invalid")).toHaveLength(5);
  expect(answers.filter((answer) => answer.body.code === "otp_attempts_exceeded")).toHaveLength(
    195,
  );
  // The right code is refused once the attempts are used up.
  expect(await post("/swap/prepare", { quoteId, otp: code })).toMatchObject({
    status: 429,
    body: { code: "otp_attempts_exceeded" },
  });
});

test("one-time codes are sent again after 60 s, not before", async () => {
  const { quoteId } = await quoteWithCode();
  const again = await post("/swap/request-otp", { quoteId });
  expect(again).toMatchObject({ status: 429, body: { code: "rate_limited" } });
  aheadSeconds += 61;
  expect((await post("/swap/request-otp", { quoteId })).status).toBe(200);
});

test("one-time codes need a verified address", async () => {
  const bare = await api.signIn();
  const treasury = (await api.services.wallets.list(await projectOf(bare.accessToken)))[0]
    ?.address;
  const headers = { authorization: `Bearer ${bare.accessToken}` };
  const body = { ...good(), from: [{ ...good().from[0], address: treasury }] };
  const quoted = await post("/swap/quote", body, headers);
  expect(quoted.status).toBe(200);
  const { quoteId } = quoted.body as { quoteId?: string };
  expect(await post("/swap/request-otp", { quoteId }, headers)).toMatchObject({
    status: 409,
    body: { code: "otp_channel_missing" },
  });
});

describe("a quote", () => {
  test("that has expired is 410, at every step", async () => {
    const { quoteId } = await newQuote();
    aheadSeconds += 301;
    for (const path of ["/swap/request-otp", "/swap/prepare"]) {
      expect(
        await post(path, { quoteId, otp: path.endsWith("prepare") ? "123456" : undefined }),
      ).toMatchObject({
        status: 410,
        body: { code: "quote_expired" },
      });
    }
  });

  test("whose price lock is over has to be prepared again", async () => {
    await fund(client, customer.treasury, { chainId: 31337, token: "USDC", amount: "10" });
    const { quoteId } = await prepareQuote(api, customer, good());
    aheadSeconds += 61;
    expect(await post("/swap/execute", { quoteId })).toMatchObject({
      status: 410,
      body: { code: "quote_expired" },
    });
    expect((await post("/swap/prepare", { quoteId })).status).toBe(200);
    expect((await post("/swap/execute", { quoteId })).status).toBe(202);
  });

  test("that was used is 409 at every step before the last, which answers the operation again", async () => {
    await fund(client, customer.treasury, { chainId: 31337, token: "USDC", amount: "20" });
    const { quoteId } = await prepareQuote(api, customer, good());
    const { operationId } = await client.call(executeSwap, { body: { quoteId } });
    for (const path of ["/swap/request-otp", "/swap/prepare"]) {
      expect(await post(path, { quoteId })).toMatchObject({
        status: 409,
        body: { code: "quote_already_used" },
      });
    }
    expect(await post("/swap/execute", { quoteId })).toMatchObject({
      status: 202,
      body: { operationId },
    });
  });

  test("of another project does not exist, byte for byte", async () => {
    const other = await newCustomer(api);
    const { quoteId } = await newQuote();
    const headers = { authorization: `Bearer ${other.session.accessToken}` };
    const never = `qt_01980000-0000-7000-8000-${randomBytes(6).toString("hex")}`;
    for (const path of ["/swap/request-otp", "/swap/prepare", "/swap/execute"]) {
      const [foreign, nothing] = await Promise.all(
        [quoteId, never].map((id) =>
          post(
            path,
            path === "/swap/prepare" ? { quoteId: id, otp: "123456" } : { quoteId: id },
            headers,
          ),
        ),
      );
      expect(foreign?.status).toBe(404);
      expect({ ...foreign?.body, requestId: "" }).toEqual({ ...nothing?.body, requestId: "" });
    }
  });

  test("for more than the wallet holds is refused at prepare, and nothing is sent", async () => {
    const body = withSource({ chainId: 31339, amount: "1000000" });
    await expect(prepareQuote(api, customer, body as QuoteBody)).rejects.toMatchObject({
      status: 422,
      code: "insufficient_balance",
    });
  });

  test("names exactly one subject", async () => {
    expect((await post("/swap/prepare", { otp: "123456" })).status).toBe(400);
    expect((await post("/swap/execute", { quoteId: "qt_x", transferId: "tr_x" })).status).toBe(
      400,
    );
    await expect(
      client.call(prepareSwap, { body: { quoteId: "qt_x", otp: "12345a" } }),
    ).rejects.toMatchObject({
      status: 400,
    });
  });
});

function withSourceLater(change: Record<string, unknown>) {
  return { from: [{ ...good().from[0], ...change }] };
}

/** The same address with the case of one letter changed, so that its EIP-55 checksum is wrong. */
function swapCase(address: string): string {
  const index = address.slice(2).search(/[a-fA-F]/) + 2;
  const letter = address.charAt(index);
  const turned = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  return address.slice(0, index) + turned + address.slice(index + 1);
}

async function projectOf(token: string): Promise<string> {
  const { userId } = await api.services.auth.verifyAccessToken(token);
  return (await api.services.projects.resolve(userId, null)).projectId;
}

async function actorOf(token: string): Promise<UserActor> {
  const { userId, sessionId } = await api.services.auth.verifyAccessToken(token);
  return {
    type: "user",
    userId,
    sessionId,
    ...(await api.services.projects.resolve(userId, null)),
  };
}
