import { toSafeSmartAccount } from "permissionless/accounts";
import { createWalletClient, http } from "viem";
import { entryPoint07Address } from "viem/account-abstraction";
import { createSiweMessage, parseSiweMessage } from "viem/siwe";
import { expect, test } from "vitest";
import { createNonce } from "@/lib/contracts/auth";
import { testApi } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { walletLinker } from "@/lib/dev/testing/wallet-linker";

const LINK_LIFE_MS = 600_000;

const api = await testApi();
const { send, person, signed, linked } = walletLinker(api);

test("the link message names site, wallet, project and person, and the wallet is listed once the message is signed", async () => {
  const who = await person();
  const wallet = testAccount();
  const asked = Date.now();
  const { status, body } = await who.init({ address: wallet.address.toLowerCase() });
  expect(status).toBe(200);
  const { message, nonce, expiresAt } = body as {
    message: string;
    nonce: string;
    expiresAt: string;
  };
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
  // The message is made between the two moments.
  const madeAt = Date.parse(expiresAt) - LINK_LIFE_MS;
  expect(madeAt).toBeGreaterThanOrEqual(asked);
  expect(madeAt).toBeLessThanOrEqual(Date.now());
  expect(await who.list()).toEqual([]);
  const before = Date.now();
  const answer = await who.verify({
    address: wallet.address,
    signature: await wallet.signMessage({ message }),
  });
  const record = {
    address: wallet.address,
    walletId: expect.stringMatching(/^wal_/) as string,
    label: null,
  };
  expect(answer).toMatchObject({
    status: 200,
    body: { linked: true, wallet: { ...record, contractChainId: null } },
  });
  const { wallet: shown } = answer.body as { wallet: { walletId: string; linkedAt: string } };
  expect(Date.parse(shown.linkedAt)).toBeGreaterThanOrEqual(before);
  expect(Date.parse(shown.linkedAt)).toBeLessThanOrEqual(Date.now());
  expect(await who.list()).toEqual([shown]);
  expect((await who.wallets()).find(({ id }) => id === shown.walletId)).toMatchObject({
    kind: "linked",
    address: wallet.address,
    signer: "owner",
  });
});

test("of fifty concurrent links with one message one succeeds", async () => {
  const who = await person();
  const { address, signature } = await signed(who, testAccount());
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => who.verify({ address, signature })),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(
    new Set(refused.map(({ status, code }) => `${String(status)} ${String(code)}`)),
  ).toEqual(new Set(["410 nonce_expired"]));
  expect(refused[0]?.body.message).toContain("used already");
  expect(await who.list()).toHaveLength(1);
  expect(
    await api.services.database.prisma.auditEvent.count({
      where: { action: "wallet.linked", data: { path: ["address"], equals: address } },
    }),
  ).toBe(1);
}, 180_000);

test("a wallet can be linked again, also the sign-in wallet, and keeps its id", async () => {
  const who = await person();
  const first = await linked(who, who.account);
  const again = await linked(who, who.account);
  expect([first.status, again.status]).toEqual([200, 200]);
  expect(again.body).toEqual(first.body);
  expect(await who.list()).toHaveLength(1);
});

test("a wallet of another person is refused before the signature and after it", async () => {
  const [ada, eve] = [await person(), await person()];
  const wallet = testAccount();
  // Both hold the key and asked before either linked it.
  const evesRequest = await signed(eve, wallet);
  expect((await linked(ada, wallet)).status).toBe(200);
  const conflict = { status: 409, code: "wallet_already_linked" };
  expect(
    await eve.verify({ address: wallet.address, signature: evesRequest.signature }),
  ).toMatchObject(conflict);
  expect(await eve.init({ address: wallet.address })).toMatchObject(conflict);
  expect(await eve.list()).toEqual([]);
  // Once it is let go, anybody who can sign may link it.
  expect((await ada.unlink(wallet.address)).status).toBe(200);
  expect((await linked(eve, wallet)).status).toBe(200);
});

test("a treasury cannot be linked, because it is a wallet of the project already", async () => {
  const [ada, eve] = [await person(), await person()];
  const [treasury] = await ada.wallets();
  for (const who of [ada, eve]) {
    const refused = await who.init({ address: treasury?.address });
    expect(refused).toMatchObject({ status: 409, code: "wallet_already_linked" });
    expect(refused.body.message).toContain("treasury or smart account");
  }
});

test("when two people race for one wallet, one gets it", async () => {
  const [ada, eve] = [await person(), await person()];
  const wallet = testAccount();
  const requests = [await signed(ada, wallet), await signed(eve, wallet)];
  const answers = await Promise.all(
    [ada, eve].map((who, index) =>
      who.verify({ address: wallet.address, signature: requests[index]?.signature }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
});

/** The signature of a wallet that was shown a changed message. */
const withMessage = async (change: (message: string) => string) => {
  const who = await person();
  const wallet = testAccount();
  const { message } = await signed(who, wallet);
  return who.verify({
    address: wallet.address,
    signature: await wallet.signMessage({ message: change(message) }),
  });
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

test("a signature of another wallet, or no signature, is refused and uses up the message", async () => {
  const who = await person();
  const wallet = testAccount();
  const stranger = testAccount();
  const strange = [(message: string) => stranger.signMessage({ message })].concat(
    ["0x", "0x1", "0x1234", `0x${"00".repeat(65)}`].map(
      (text) => () => Promise.resolve(text as `0x${string}`),
    ),
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

test("a signature of a message that another person requested is refused", async () => {
  const [ada, eve] = [await person(), await person()];
  const wallet = testAccount();
  const { address, signature } = await signed(ada, wallet);
  const nothing = await eve.verify({ address, signature });
  expect(nothing).toMatchObject({ status: 410, code: "nonce_expired" });
  expect(nothing.body.message).toContain("No request of yours");
  await eve.init({ address });
  expect(await eve.verify({ address, signature })).toMatchObject({
    status: 401,
    code: "invalid_signature",
  });
  expect((await ada.verify({ address, signature })).status).toBe(200);
});

test("a signature that comes late, twice, or after a newer message is refused with that reason", async () => {
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
  expect(
    (await who.verify({ address: wallet.address, signature: second.signature })).status,
  ).toBe(410);
  const third = await signed(who, wallet);
  expect(
    (await who.verify({ address: wallet.address, signature: third.signature })).status,
  ).toBe(200);
  const reused = await who.verify({ address: wallet.address, signature: third.signature });
  expect(reused).toMatchObject({ status: 410, code: "nonce_expired" });
  expect(reused.body.message).toContain("used already");
  await who.init({ address: wallet.address });
  const old = await who.verify({ address: wallet.address, signature: third.signature });
  expect(old).toMatchObject({ status: 410, code: "nonce_expired" });
});

test("a sign-in signature links nothing, and a link signature does not sign in", async () => {
  const who = await person();
  const wallet = testAccount();
  const { nonce, domain, uri, statement } = await api
    .client()
    .call(createNonce, { body: { address: wallet.address } });
  const fields = {
    address: wallet.address,
    chainId: 31337,
    domain,
    uri,
    nonce,
    statement,
    version: "1",
  } as const;
  const signature = await wallet.signMessage({
    message: createSiweMessage({ ...fields, issuedAt: new Date() }),
  });
  await who.init({ address: wallet.address });
  expect(await who.verify({ address: wallet.address, signature })).toMatchObject({
    code: "invalid_signature",
  });
  const link = await signed(who, wallet);
  const signIn = await send(
    "POST",
    "/auth/token",
    {},
    { message: link.message, signature: link.signature },
  );
  expect(signIn).toMatchObject({ status: 401, code: "invalid_signature" });
});

const contractWallet = async () => {
  const [chain, other] = api.services.registry.list();
  if (!chain || !other) throw new Error("The local chains are missing.");
  const client = api.services.registry.client(chain.id);
  const owner = testAccount();
  const entryPoint = { address: entryPoint07Address, version: "0.7" } as const;
  const safe = await toSafeSmartAccount({
    client,
    entryPoint,
    owners: [owner],
    version: "1.4.1",
    saltNonce: 7n,
  });
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

test("a contract wallet can be linked before its deployment (ERC-6492) and after it (ERC-1271), and its chain is stored", async () => {
  const who = await person();
  const { safe, deploy, here, elsewhere } = await contractWallet();
  const link = async (chainId: number) => {
    const { address, signature } = await signed(who, safe, chainId);
    return who.verify({ address, signature });
  };
  expect(await link(here)).toMatchObject({
    status: 200,
    body: { wallet: { contractChainId: here } },
  });
  expect((await who.unlink(safe.address)).status).toBe(200);
  await deploy();
  expect(await link(here)).toMatchObject({
    status: 200,
    body: { wallet: { contractChainId: here } },
  });
  // Deployed, it signs without the wrapper that would make it anew, so it is nobody on the other
  // chain.
  expect(await link(elsewhere)).toMatchObject({ status: 401, code: "invalid_signature" });
}, 180_000);

test("a contract wallet needs the contract's own signature: that of its owner, a stranger or another message is refused", async () => {
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
}, 180_000);
