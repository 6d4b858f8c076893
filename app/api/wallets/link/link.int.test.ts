import { toSafeSmartAccount } from "permissionless/accounts";
import { createWalletClient, http } from "viem";
import { entryPoint07Address } from "viem/account-abstraction";
import { createSiweMessage, parseSiweMessage } from "viem/siwe";
import { beforeAll, expect, test } from "vitest";
import { createNonce } from "@/lib/contracts/auth";
import { newId } from "@/lib/core/ids";
import { testApi, type TestApi, type TestSession } from "@/lib/testing/api";
import { testDevnet } from "@/lib/testing/devnet";
import { testAccount, testKey } from "@/lib/testing/factories";
import { privateKeyToAccount } from "viem/accounts";

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});

const INIT = "/wallets/link/init";
const VERIFY = "/wallets/link/verify";
const LIST = "/wallets/link";

type Headers = Readonly<Record<string, string>>;
type Body = Record<string, unknown>;

const send = async (method: string, path: string, headers: Headers = {}, body?: unknown) => {
  const response = await api.fetch(path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const json = (await response.json()) as Body & { code?: string };
  return { status: response.status, code: json.code, body: json };
};

/** A signed-in person, who may have more projects than the first. */
const person = async (session?: TestSession) => {
  const { accessToken, account } = session ?? (await api.signIn());
  const as = (extra: Headers = {}) => {
    const headers = { authorization: `Bearer ${accessToken}`, ...extra };
    return {
      headers,
      init: (body: Body) => send("POST", INIT, headers, body),
      verify: (body: Body) => send("POST", VERIFY, headers, body),
      list: async () => (await send("GET", LIST, headers)).body.data as Body[],
      wallets: async () => (await send("GET", "/wallets", headers)).body.data as Body[],
      unlink: (address: string) => send("DELETE", `${LIST}/${address}`, headers),
    };
  };
  return { ...as(), as, account };
};

type Wallet = Pick<ReturnType<typeof testAccount>, "address" | "signMessage">;

/** init → the wallet signs → what verify wants. */
const signed = async (who: Pick<Awaited<ReturnType<typeof person>>, "init">, wallet: Wallet, chainId?: number) => {
  const { body } = await who.init({ address: wallet.address, ...(chainId === undefined ? {} : { chainId }) });
  const { message, nonce } = body as { message: string; nonce: string };
  return { address: wallet.address, signature: await wallet.signMessage({ message }), message, nonce };
};

const linked = async (who: Awaited<ReturnType<typeof person>>, wallet: Wallet) => {
  const { address, signature } = await signed(who, wallet);
  return who.verify({ address, signature });
};

test("linking a wallet gives a message that names site, wallet, project and person, and lists the wallet once it is signed", async () => {
  const who = await person();
  const wallet = testAccount();
  const { status, body } = await who.init({ address: wallet.address.toLowerCase() });
  expect(status).toBe(200);
  const { message, nonce, expiresAt } = body as { message: string; nonce: string; expiresAt: string };
  expect(parseSiweMessage(message)).toMatchObject({
    domain: "localhost:3000",
    uri: "http://localhost:3000",
    address: wallet.address,
    chainId: 31337,
    nonce,
    expirationTime: new Date(expiresAt),
    statement: expect.stringContaining(
      `project My project in the Causeway account of ${who.account.address}`,
    ) as string,
  });
  expect(message).toContain("makes no transaction");
  const minutes = (Date.parse(expiresAt) - Date.now()) / 60_000;
  expect(minutes).toBeGreaterThan(9);
  expect(minutes).toBeLessThanOrEqual(10);
  expect(await who.list()).toEqual([]);
  const before = Date.now();
  const answer = await who.verify({ address: wallet.address, signature: await wallet.signMessage({ message }) });
  const record = { address: wallet.address, walletId: expect.stringMatching(/^wal_/) as string, label: null };
  expect(answer).toMatchObject({ status: 200, body: { linked: true, wallet: { ...record, contractChainId: null } } });
  const { wallet: shown } = answer.body as { wallet: { walletId: string; linkedAt: string } };
  expect(Math.abs(Date.parse(shown.linkedAt) - before)).toBeLessThan(60_000);
  expect(await who.list()).toEqual([shown]);
  expect((await who.wallets()).find(({ id }) => id === shown.walletId)).toMatchObject({
    kind: "linked",
    address: wallet.address,
    signer: "owner",
  });
});

test("linking a wallet with one message fifty times at once succeeds once", async () => {
  const who = await person();
  const { address, signature } = await signed(who, testAccount());
  const answers = await Promise.all(Array.from({ length: 50 }, () => who.verify({ address, signature })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(new Set(refused.map(({ status, code }) => `${String(status)} ${String(code)}`))).toEqual(
    new Set(["410 nonce_expired"]),
  );
  expect(refused[0]?.body.message).toContain("used already");
  expect(await who.list()).toHaveLength(1);
  expect(
    await api.services.database.prisma.auditEvent.count({
      where: { action: "wallet.linked", data: { path: ["address"], equals: address } },
    }),
  ).toBe(1);
}, 60_000);

test("linking a wallet again is fine, also the wallet that one signs in with, and keeps its id", async () => {
  const who = await person();
  const first = await linked(who, who.account);
  const again = await linked(who, who.account);
  expect([first.status, again.status]).toEqual([200, 200]);
  expect(again.body).toEqual(first.body);
  expect(await who.list()).toHaveLength(1);
});

test("linking a wallet of another person is refused before anything is signed, and at the signature", async () => {
  const [ada, eve] = [await person(), await person()];
  const wallet = testAccount();
  // Both hold the key and asked before either linked it.
  const evesRequest = await signed(eve, wallet);
  expect((await linked(ada, wallet)).status).toBe(200);
  const conflict = { status: 409, code: "wallet_already_linked" };
  expect(await eve.verify({ address: wallet.address, signature: evesRequest.signature })).toMatchObject(conflict);
  expect(await eve.init({ address: wallet.address })).toMatchObject(conflict);
  expect(await eve.list()).toEqual([]);
  // Once it is let go, it may be linked by whoever can sign.
  expect((await ada.unlink(wallet.address)).status).toBe(200);
  expect((await linked(eve, wallet)).status).toBe(200);
});

test("linking a wallet of a treasury is refused: it is a wallet already", async () => {
  const [ada, eve] = [await person(), await person()];
  const [treasury] = await ada.wallets();
  for (const who of [ada, eve]) {
    const refused = await who.init({ address: treasury?.address });
    expect(refused).toMatchObject({ status: 409, code: "wallet_already_linked" });
    expect(refused.body.message).toContain("treasury or smart account");
  }
});

test("linking a wallet races of two people for one wallet end with one", async () => {
  const [ada, eve] = [await person(), await person()];
  const wallet = testAccount();
  const requests = [await signed(ada, wallet), await signed(eve, wallet)];
  const answers = await Promise.all(
    [ada, eve].map((who, index) => who.verify({ address: wallet.address, signature: requests[index]?.signature })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
});

/** What a wallet signed that was shown a changed message. */
const withMessage = async (change: (message: string) => string) => {
  const who = await person();
  const wallet = testAccount();
  const { message } = await signed(who, wallet);
  return who.verify({ address: wallet.address, signature: await wallet.signMessage({ message: change(message) }) });
};

test.each([
  ["another domain", (text: string) => text.replaceAll("localhost:3000", "evil.example")],
  ["another chain", (text: string) => text.replace("Chain ID: 31337", "Chain ID: 31338")],
  ["another nonce", (text: string) => text.replace(/Nonce: .*/, "Nonce: abcdefgh12345678")],
  ["another project", (text: string) => text.replace("My project", "Your project")],
  ["another text", () => "I give everything to Eve."],
])(
  "a signature of a link message is refused: because it is over %s, is refused, and what was expected is said",
  async (_what, change) => {
    const { status, code, body } = await withMessage(change);
    expect([status, code]).toEqual([401, "invalid_signature"]);
    expect(body.message).toContain("for localhost:3000, chain 31337, nonce ");
    expect(body.details).toMatchObject([{ path: "signature" }]);
    expect((await withMessage((text) => text)).status).toBe(200);
  },
);

test("a signature of a link message is refused: because another wallet gave it, or nobody, is refused, and uses up the message", async () => {
  const who = await person();
  const wallet = testAccount();
  const stranger = testAccount();
  const strange = [(message: string) => stranger.signMessage({ message })].concat(
    ["0x", "0x1", "0x1234", `0x${"00".repeat(65)}`].map((text) => () => Promise.resolve(text as `0x${string}`)),
  );
  for (const sign of strange) {
    const { message, signature } = await signed(who, wallet);
    const wrong = await sign(message);
    const refused = await who.verify({ address: wallet.address, signature: wrong });
    expect([wrong, refused.status, refused.code]).toEqual([wrong, 401, "invalid_signature"]);
    const late = await who.verify({ address: wallet.address, signature });
    expect([wrong, late.status, late.code]).toEqual([wrong, 410, "nonce_expired"]);
  }
  expect((await linked(who, wallet)).status).toBe(200);
});

test("a signature of a link message is refused: because another person asked for the message, is refused, whether one has asked oneself or not", async () => {
  const [ada, eve] = [await person(), await person()];
  const wallet = testAccount();
  const { address, signature } = await signed(ada, wallet);
  const nothing = await eve.verify({ address, signature });
  expect(nothing).toMatchObject({ status: 410, code: "nonce_expired" });
  expect(nothing.body.message).toContain("No request of yours");
  await eve.init({ address });
  expect(await eve.verify({ address, signature })).toMatchObject({ status: 401, code: "invalid_signature" });
  expect((await ada.verify({ address, signature })).status).toBe(200);
});

test("a signature of a link message is refused: because it comes late, twice, or after a newer message, is refused with that reason", async () => {
  const who = await person();
  const late = await signed(who, testAccount());
  const { database } = api.services;
  await database.prisma.siweNonce.update({
    where: { nonce: late.nonce },
    data: { expiresAt: new Date(Date.now() - 1) },
  });
  const expired = await who.verify({ address: late.address, signature: late.signature });
  expect(expired).toMatchObject({ status: 410, code: "nonce_expired" });
  expect(expired.body.message).toContain("has expired");

  const wallet = testAccount();
  const first = await signed(who, wallet);
  const second = await signed(who, wallet);
  const replaced = await who.verify({ address: wallet.address, signature: first.signature });
  expect(replaced).toMatchObject({ status: 410, code: "nonce_expired" });
  expect(replaced.body.message).toContain("newer one replaced");
  // The attempt with the old signature used the newer message up.
  expect((await who.verify({ address: wallet.address, signature: second.signature })).status).toBe(410);
  const third = await signed(who, wallet);
  expect((await who.verify({ address: wallet.address, signature: third.signature })).status).toBe(200);
  const reused = await who.verify({ address: wallet.address, signature: third.signature });
  expect(reused).toMatchObject({ status: 410, code: "nonce_expired" });
  expect(reused.body.message).toContain("used already");
  await who.init({ address: wallet.address });
  const old = await who.verify({ address: wallet.address, signature: third.signature });
  expect(old).toMatchObject({ status: 410, code: "nonce_expired" });
});

test("a signature of a link message is refused: because it is a sign-in, links nothing; and one that links does not sign in", async () => {
  const who = await person();
  const wallet = testAccount();
  const { nonce, domain, uri, statement } = await api.client().call(createNonce, { body: { address: wallet.address } });
  const fields = { address: wallet.address, chainId: 31337, domain, uri, nonce, statement, version: "1" } as const;
  const signature = await wallet.signMessage({ message: createSiweMessage({ ...fields, issuedAt: new Date() }) });
  await who.init({ address: wallet.address });
  expect(await who.verify({ address: wallet.address, signature })).toMatchObject({ code: "invalid_signature" });
  const link = await signed(who, wallet);
  const signIn = await send("POST", "/auth/token", {}, { message: link.message, signature: link.signature });
  expect(signIn).toMatchObject({ status: 401, code: "invalid_signature" });
});

const contractWallet = async () => {
  const [chain, other] = api.services.registry.list();
  if (!chain || !other) throw new Error("The local chains are missing.");
  const client = api.services.registry.client(chain.id);
  const owner = testAccount();
  const entryPoint = { address: entryPoint07Address, version: "0.7" } as const;
  const safe = await toSafeSmartAccount({ client, entryPoint, owners: [owner], version: "1.4.1", saltNonce: 7n });
  const deploy = async (): Promise<void> => {
    const { factory, factoryData } = await safe.getFactoryArgs();
    if (!factory || !factoryData) throw new Error("The account is there already.");
    await (await testDevnet()).setCoins(owner.address, "1");
    const wallet = createWalletClient({
      account: owner,
      chain: api.services.registry.viemChain(chain.id),
      transport: http(chain.rpcUrls[0]),
    });
    await client.waitForTransactionReceipt({
      hash: await wallet.sendTransaction({ to: factory, data: factoryData }),
    });
  };
  return { safe, owner, deploy, here: chain.id, elsewhere: other.id };
};

test("linking a contract works before it is deployed (ERC-6492) and after (ERC-1271), and notes its chain", async () => {
  const who = await person();
  const { safe, deploy, here, elsewhere } = await contractWallet();
  const link = async (chainId: number) => {
    const { address, signature } = await signed(who, safe, chainId);
    return who.verify({ address, signature });
  };
  expect(await link(here)).toMatchObject({ status: 200, body: { wallet: { contractChainId: here } } });
  expect((await who.unlink(safe.address)).status).toBe(200);
  await deploy();
  expect(await link(here)).toMatchObject({ status: 200, body: { wallet: { contractChainId: here } } });
  // Deployed, it signs without the wrapper that would make it anew, so it is nobody on the other chain.
  expect(await link(elsewhere)).toMatchObject({ status: 401, code: "invalid_signature" });
}, 60_000);

test("linking a contract needs the contract's own signature: its owner's, a stranger's or one of another message is refused", async () => {
  const who = await person();
  const { safe, owner, deploy } = await contractWallet();
  const attempt = async (sign: (message: string) => Promise<string>) => {
    const { message } = (await who.init({ address: safe.address })).body as { message: string };
    return (await who.verify({ address: safe.address, signature: await sign(message) })).code;
  };
  const wrong = [
    (message: string) => owner.signMessage({ message }),
    (message: string) => testAccount().signMessage({ message }),
    () => safe.signMessage({ message: "another message" }),
  ];
  for (const sign of wrong) expect(await attempt(sign)).toBe("invalid_signature");
  await deploy();
  for (const sign of wrong) expect(await attempt(sign)).toBe("invalid_signature");
}, 60_000);

test("unlinking a wallet takes it out of the project's wallets; linked again it is the same one", async () => {
  const who = await person();
  const wallet = testAccount();
  const first = (await linked(who, wallet)).body as { wallet: { walletId: string } };
  const gone = await who.unlink(wallet.address.toLowerCase());
  expect(gone).toMatchObject({
    status: 200,
    body: { address: wallet.address, unlinkedAt: expect.any(String) as string },
  });
  expect(await who.list()).toEqual([]);
  expect((await who.wallets()).map(({ kind }) => kind)).toEqual(["treasury"]);
  const { projectId } = await api.services.database.prisma.wallet.findUniqueOrThrow({
    where: { id: first.wallet.walletId },
  });
  expect(await api.services.wallets.find(projectId, wallet.address)).toBeNull();
  expect(await api.services.wallets.findById(projectId, first.wallet.walletId)).toBeNull();
  expect(await who.unlink(wallet.address)).toMatchObject({ status: 404, code: "not_found" });
  expect((await linked(who, wallet)).body).toMatchObject({ wallet: { walletId: first.wallet.walletId } });
});

test("unlinking a wallet waits for the operations that it is a source of", async () => {
  const who = await person();
  const wallet = testAccount();
  const { walletId } = ((await linked(who, wallet)).body as { wallet: { walletId: string } }).wallet;
  const { prisma } = api.services.database;
  const { projectId } = await prisma.wallet.findUniqueOrThrow({ where: { id: walletId } });
  const operationId = newId("operation");
  const at = new Date();
  await prisma.operation.create({
    data: {
      id: operationId,
      projectId,
      kind: "transfer",
      status: "processing",
      subStatus: "source_submitted",
      request: {},
      quoted: {},
      minimumBase: 1,
      createdBy: "usr_1",
      createdAt: at,
      updatedAt: at,
      legs: {
        create: {
          id: newId("leg"),
          position: 0,
          walletId,
          walletAddress: wallet.address,
          kind: "transfer",
          sourceChainId: 31337,
          destChainId: 31337,
          state: "submitted",
          routeLeg: {},
          amountBase: 1,
          via: "transaction",
          gas: {},
          fromBlock: 0,
          updatedAt: at,
        },
      },
    },
  });
  expect(await who.unlink(wallet.address)).toMatchObject({
    status: 409,
    code: "invalid_state",
    body: { operationId },
  });
  expect(await who.list()).toHaveLength(1);
  await prisma.operation.update({ where: { id: operationId }, data: { status: "completed", subStatus: "full" } });
  expect((await who.unlink(wallet.address)).status).toBe(200);
});

test("unlinking a wallet in one project leaves it linked in another, and the person's", async () => {
  const session = await api.signIn();
  const { projects, database } = api.services;
  const user = await database.prisma.user.findUniqueOrThrow({ where: { address: session.account.address } });
  const { projectId } = await database.transaction((tx) => projects.create(tx, { name: "Shop", ownerId: user.id }));
  const ada = await person(session);
  const shop = { ...ada, ...ada.as({ "x-project-id": projectId }) };
  const [eve, wallet] = [await person(), testAccount()];
  expect((await linked(ada, wallet)).status).toBe(200);
  // A message for one project links in that one alone.
  const request = await signed(shop, wallet);
  expect(request.message).toContain("to the project Shop");
  expect((await ada.verify({ address: wallet.address, signature: request.signature })).status).toBe(410);
  expect((await shop.verify({ address: wallet.address, signature: request.signature })).status).toBe(200);
  expect((await ada.unlink(wallet.address)).status).toBe(200);
  expect([await ada.list(), await shop.list()].map(({ length }) => length)).toEqual([0, 1]);
  expect(await eve.init({ address: wallet.address })).toMatchObject({ code: "wallet_already_linked" });
  expect((await shop.unlink(wallet.address)).status).toBe(200);
  expect((await eve.init({ address: wallet.address })).status).toBe(200);
});

test("unlinking a wallet of another person, or of none, answers 404, the same for both", async () => {
  const [ada, eve] = [await person(), await person()];
  const wallet = testAccount();
  await linked(ada, wallet);
  const foreign = await eve.unlink(wallet.address);
  const missing = await eve.unlink(testAccount().address);
  expect(foreign.status).toBe(404);
  expect({ ...foreign.body, requestId: "" }).toEqual({ ...missing.body, requestId: "" });
  expect(await ada.list()).toHaveLength(1);
});

test("API keys get 403 and nobody 401, on every route of it", async () => {
  const session = await api.signIn();
  const { secret } = await api.createKey(session);
  const { address } = testAccount();
  const routes = [
    ["POST", INIT, { address }],
    ["POST", VERIFY, { address, signature: "0x1234" }],
    ["GET", LIST, undefined],
    ["DELETE", `${LIST}/${address}`, undefined],
  ] as const;
  for (const [method, path, body] of routes) {
    const asKey = await send(method, path, { "x-api-key": secret }, body);
    expect([path, asKey.status, asKey.code]).toEqual([path, 403, "forbidden"]);
    expect((await send(method, path, {}, body)).status).toBe(401);
  }
});

test("bad input is refused by name", async () => {
  const who = await person();
  const { address } = testAccount();
  for (const body of [{}, { address: "0x12" }, { address: "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" }]) {
    expect(await who.init(body)).toMatchObject({
      status: 400,
      code: "invalid_request",
      body: { details: [{ path: "address" }] },
    });
  }
  const chain = await who.init({ address, chainId: 1 });
  expect(chain).toMatchObject({ status: 422, code: "unsupported_chain", body: { details: [{ path: "chainId" }] } });
  for (const signature of [undefined, "hello", 5, `0x${"ab".repeat(40_000)}`]) {
    const refused = await who.verify({ address, signature });
    expect(refused).toMatchObject({
      status: 400,
      code: "invalid_request",
      body: { details: [{ path: "signature" }] },
    });
  }
  expect(await who.unlink("0x12")).toMatchObject({ status: 404, code: "not_found" });
});

test("a replay of verify gives the first answer, and links once", async () => {
  const session = await api.signIn(testKey());
  const who = (await person(session)).as({ "idempotency-key": "link-1" });
  const wallet = privateKeyToAccount(testKey());
  const opening = await person(session);
  const { address, signature } = await signed(opening, wallet);
  const [first, second] = [await who.verify({ address, signature }), await who.verify({ address, signature })];
  expect(first.status).toBe(200);
  expect(second.body).toEqual(first.body);
});
