import { toSafeSmartAccount } from "permissionless/accounts";
import type { LocalAccount } from "viem";
import { entryPoint07Address } from "viem/account-abstraction";
import { beforeAll, expect, test } from "vitest";
import {
  createSmartAccount,
  initWalletLink,
  labelWallet,
  listWallets,
  unlinkWallet,
  verifyWalletLink,
} from "@/lib/contracts/wallets";
import { testApi, type TestApi, type TestSession } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";

let api: TestApi;
let chainIds: number[];
beforeAll(async () => {
  api = await testApi();
  chainIds = api.services.registry.list().map(({ id }) => id);
});

const HERE = 31337;

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "ok",
    (error: unknown) => error,
  );

/** The same account by another implementation, which asks the chain. */
const safeOf = (owner: LocalAccount) =>
  toSafeSmartAccount({
    client: api.services.registry.client(HERE),
    entryPoint: { address: entryPoint07Address, version: "0.7" },
    owners: [owner],
    version: "1.4.1",
    saltNonce: 0n,
  });

const linkWith = async (
  { client }: TestSession,
  wallet: Pick<LocalAccount, "address" | "signMessage">,
) => {
  const { message } = await client.call(initWalletLink, { body: { address: wallet.address } });
  const signature = await wallet.signMessage({ message });
  await client.call(verifyWalletLink, { body: { address: wallet.address, signature } });
};

const link = async (session: TestSession) => {
  const wallet = testAccount();
  await linkWith(session, wallet);
  return wallet;
};

const treasuryOf = async ({ client }: TestSession) => {
  const { data } = await client.call(listWallets);
  const treasury = data.find(({ kind }) => kind === "treasury");
  if (!treasury?.ownerAddress) throw new Error("A first sign-in makes a treasury.");
  return { ...treasury, ownerAddress: treasury.ownerAddress };
};

test("the smart account of a linked wallet has one address on every chain and its owner as signer, however often it is requested", async () => {
  const session = await api.signIn();
  const { client } = await api.createKey(session);
  const { address: ownerAddress } = await link(session);
  const made = await Promise.all(
    [...chainIds, ...chainIds].map((chainId) =>
      client.call(createSmartAccount, { body: { ownerAddress, chainId, label: "Savings" } }),
    ),
  );
  expect(made.map(({ chainId }) => chainId)).toEqual([...chainIds, ...chainIds]);
  const [first] = made;
  const expected = { ownerAddress, deployed: false, signer: "owner", salt: "0" };
  for (const account of made)
    expect(account).toMatchObject({ ...expected, id: first?.id, address: first?.address });
  const { data } = await client.call(listWallets);
  const listed = data.filter(({ kind }) => kind === "smart_account");
  expect(listed).toMatchObject([
    { id: first?.id, address: first?.address, ownerAddress, label: "Savings", signer: "owner" },
  ]);
  expect(listed[0]?.chains.map(({ chainId }) => chainId)).toEqual(chainIds);
});

test("a smart account has the address to which its factory deploys it", async () => {
  const session = await api.signIn();
  const owner = await link(session);
  const { address, factory } = await session.client.call(createSmartAccount, {
    body: { ownerAddress: owner.address, chainId: HERE },
  });
  const safe = await safeOf(owner);
  expect(safe.address).toBe(address);
  expect((await safe.getFactoryArgs()).factory).toBe(factory);
});

test("a smart account of the treasury's owner is the treasury, which the service signs for", async () => {
  const session = await api.signIn();
  const treasury = await treasuryOf(session);
  const account = await session.client.call(createSmartAccount, {
    body: { ownerAddress: treasury.ownerAddress, chainId: HERE, label: "Another name" },
  });
  expect(account).toMatchObject({
    id: treasury.id,
    address: treasury.address,
    signer: "service",
  });
  expect(await treasuryOf(session)).toEqual(treasury);
});

test("an owner is a key or a linked wallet of the project: nobody adds an account of somebody else", async () => {
  const [session, other] = [await api.signIn(), await api.signIn()];
  const [mine, theirs] = [await treasuryOf(session), await treasuryOf(other)];
  const gone = await link(session);
  await session.client.call(unlinkWallet, { params: { address: gone.address } });
  const owners = [
    testAccount().address,
    theirs.ownerAddress,
    gone.address,
    (await link(other)).address,
  ];
  for (const ownerAddress of owners) {
    expect(
      await refusal(
        session.client.call(createSmartAccount, { body: { ownerAddress, chainId: HERE } }),
      ),
    ).toMatchObject({
      status: 400,
      code: "unknown_wallet",
      details: [{ path: "ownerAddress" }],
    });
  }
  const { data } = await session.client.call(listWallets);
  expect(data.map(({ kind }) => kind)).toEqual(["treasury"]);
  const ofContract = session.client.call(createSmartAccount, {
    body: { ownerAddress: mine.address, chainId: HERE },
  });
  expect(await refusal(ofContract)).toMatchObject({
    status: 400,
    details: [{ path: "ownerAddress" }],
  });
});

test("a contract that is linked must be unlinked before it becomes a smart account, and keeps its wallet id", async () => {
  const session = await api.signIn();
  const owner = await link(session);
  const safe = await safeOf(owner);
  await linkWith(session, safe);
  const linked = (await session.client.call(listWallets)).data.find(
    ({ address }) => address === safe.address,
  );
  const make = (ownerAddress: string) =>
    session.client.call(createSmartAccount, { body: { ownerAddress, chainId: HERE } });
  expect(await refusal(make(owner.address))).toMatchObject({
    status: 409,
    code: "wallet_already_linked",
  });
  // A contract is an owner on its own chain alone, and the account has its address on all.
  expect(await refusal(make(safe.address))).toMatchObject({
    status: 400,
    code: "invalid_request",
    details: [{ path: "ownerAddress" }],
  });
  await session.client.call(unlinkWallet, { params: { address: safe.address } });
  expect(await make(owner.address)).toMatchObject({
    id: linked?.id,
    address: safe.address,
    signer: "owner",
  });
  const { data } = await session.client.call(listWallets);
  expect(data.find(({ id }) => id === linked?.id)).toMatchObject({
    kind: "smart_account",
    ownerAddress: owner.address,
  });
});

test("a smart account in two projects of one owner is a wallet of each, and the owner signs in both", async () => {
  const session = await api.signIn();
  const { projects, database } = api.services;
  const { id: ownerId } = await userOf(session);
  const { projectId } = await database.transaction((tx) =>
    projects.create(tx, { name: "Shop", ownerId }),
  );
  const shop = api.client({
    authorization: `Bearer ${session.accessToken}`,
    "x-project-id": projectId,
  });
  const wallet = await link(session);
  await linkWith({ ...session, client: shop }, wallet);
  const body = { ownerAddress: wallet.address, chainId: HERE };
  const here = await session.client.call(createSmartAccount, { body });
  const there = await shop.call(createSmartAccount, { body });
  expect(there).toMatchObject({ address: here.address, signer: "owner" });
  expect(there.id).not.toBe(here.id);
  expect(
    await refusal(session.client.call(initWalletLink, { body: { address: here.address } })),
  ).toMatchObject({
    code: "wallet_already_linked",
  });
});

test("a smart account is refused for another chain, a wrong address, a key without the scope, and nobody", async () => {
  const session = await api.signIn();
  const { address: ownerAddress } = await link(session);
  const ask = (
    client: TestSession["client"],
    body: { ownerAddress: string; chainId: number },
  ) => refusal(client.call(createSmartAccount, { body }));
  expect(await ask(session.client, { ownerAddress, chainId: 1 })).toMatchObject({
    status: 422,
    code: "unsupported_chain",
    details: [{ path: "chainId" }],
  });
  expect(await ask(session.client, { ownerAddress: "0x12", chainId: HERE })).toMatchObject({
    status: 400,
    code: "invalid_request",
    details: [{ path: "ownerAddress" }],
  });
  const reader = await api.createKey(session, { scopes: ["wallets:read"] });
  expect(await ask(reader.client, { ownerAddress, chainId: HERE })).toMatchObject({
    code: "insufficient_scope",
  });
  expect(await ask(api.client(), { ownerAddress, chainId: HERE })).toMatchObject({
    status: 401,
  });
});

test("concurrent requests create a smart account once", async () => {
  const session = await api.signIn();
  const { address: ownerAddress } = await link(session);
  const made = await Promise.all(
    Array.from({ length: 20 }, () =>
      session.client.call(createSmartAccount, { body: { ownerAddress, chainId: HERE } }),
    ),
  );
  expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  const where = { action: "wallet.created", subject: made[0]?.id ?? "" };
  expect(await api.services.database.prisma.auditEvent.count({ where })).toBe(1);
});

test("a replay gets the first answer", async () => {
  const session = await api.signIn();
  const { address: ownerAddress } = await link(session);
  const headers = {
    authorization: `Bearer ${session.accessToken}`,
    "idempotency-key": "account-1",
    "content-type": "application/json",
  };
  const post = (chainId: number) =>
    api.fetch("/wallet/smart-account", {
      method: "POST",
      headers,
      body: JSON.stringify({ ownerAddress, chainId }),
    });
  const [first, second, other] = [await post(HERE), await post(HERE), await post(31338)];
  expect([first.status, second.status, other.status]).toEqual([201, 201, 422]);
  expect(await second.json()).toEqual(await first.json());
});

test("people and keys of the project can set, change and remove a wallet's name", async () => {
  const session = await api.signIn();
  const { id } = await treasuryOf(session);
  const { client } = await api.createKey(session);
  const rename = async (label: string | null) =>
    (await client.call(labelWallet, { params: { id }, body: { label } })).label;
  expect(await rename(" Till ")).toBe("Till");
  expect((await treasuryOf(session)).label).toBe("Till");
  expect(await rename(null)).toBeUndefined();
  expect(await treasuryOf(session)).not.toHaveProperty("label");
});

test("another project, or a key without the scope, cannot change a wallet's name", async () => {
  const [session, eve] = [await api.signIn(), await api.signIn()];
  const { id } = await treasuryOf(session);
  const reader = await api.createKey(session, { scopes: ["wallets:read"] });
  const body = { label: "Mine" };
  for (const each of [id, "wal_01980000-0000-7000-8000-000000000000", "wal_1", "%"]) {
    const refused = await refusal(eve.client.call(labelWallet, { params: { id: each }, body }));
    expect(refused).toMatchObject({ status: 404, code: "not_found" });
  }
  expect(
    await refusal(reader.client.call(labelWallet, { params: { id }, body })),
  ).toMatchObject({
    status: 403,
  });
  for (const label of ["", " ", "a".repeat(81)]) {
    const refused = await refusal(
      session.client.call(labelWallet, { params: { id }, body: { label } }),
    );
    expect(refused).toMatchObject({
      status: 400,
      code: "invalid_request",
      details: [{ path: "label" }],
    });
  }
  expect((await treasuryOf(session)).label).toBe("Treasury");
});

const userOf = ({ account }: TestSession) =>
  api.services.database.prisma.user.findUniqueOrThrow({ where: { address: account.address } });
