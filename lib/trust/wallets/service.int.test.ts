import { zeroAddress } from "viem";
import { beforeAll, expect, test, vi } from "vitest";
import { createLocalSigner } from "@/lib/adapters/local-signer/signer";
import { systemClock } from "@/lib/core/clock";
import type { Database } from "@/lib/platform/db/client";
import { signerContract } from "@/lib/chain/ports/signer.contract";
import {
  createAuthServices,
  TEST_CHAIN_ID,
  TEST_KEY_ENCRYPTION_KEY,
} from "@/lib/dev/testing/auth-services";
import { testDatabase, asOwner } from "@/lib/dev/testing/database";
import { createEnvelopes, createKeyring } from "@/lib/platform/encryption/service";
import { createManagedKeyRepository } from "./repository";
import { toWallets } from "./serializer";
import { createWalletsService, type SmartAccounts } from "./service";

let database: Database;
let url: string;
beforeAll(async () => {
  ({ database, url } = await testDatabase());
});

signerContract("local signer on PostgreSQL", async () => {
  await asOwner(url, "DELETE FROM managed_key");
  const store = createManagedKeyRepository(database);
  return createLocalSigner({
    store,
    envelopes: createEnvelopes(createKeyring([TEST_KEY_ENCRYPTION_KEY])),
  });
});

const setUp = async (isDeployed: SmartAccounts["isDeployed"]) => {
  const base = createAuthServices({ database });
  const actor = await base.actorOf(await base.signIn());
  const [treasury] = await base.wallets.list(actor.projectId);
  if (!treasury) throw new Error("no treasury");
  const originOf = () => Promise.resolve({ factory: zeroAddress, salt: "0" });
  const smartAccounts = {
    addressOf: () => Promise.resolve(treasury.address),
    originOf,
    isDeployed,
  };
  const registry = { list: () => [{ id: TEST_CHAIN_ID }, { id: TEST_CHAIN_ID + 1 }] };
  const wallets = createWalletsService({
    database,
    signer: base.signer,
    registry,
    smartAccounts,
    clock: systemClock,
  });
  return { ...base, wallets, actor, treasury };
};

test("a wallet shows for each chain whether it is deployed, and null when the chain does not answer", async () => {
  const asked = vi.fn<SmartAccounts["isDeployed"]>((chainId, addresses) =>
    chainId === TEST_CHAIN_ID
      ? Promise.resolve(new Map(addresses.map((address) => [address, true] as const)))
      : Promise.reject(new Error("connection refused")),
  );
  const { wallets, actor, treasury } = await setUp(asked);
  const { data } = toWallets(await wallets.page(actor.projectId, { limit: 10 }));
  expect(data).toEqual([
    {
      id: treasury.id,
      kind: "treasury",
      address: treasury.address,
      ownerAddress: treasury.ownerAddress,
      label: "Treasury",
      chains: [
        { chainId: TEST_CHAIN_ID, deployed: true },
        { chainId: TEST_CHAIN_ID + 1, deployed: null },
      ],
      signer: "service",
      createdAt: "2026-01-01T00:00:00.000Z",
    },
  ]);
  expect(JSON.stringify(data)).not.toContain("treasury_");
  await wallets.page(actor.projectId, { limit: 10 });
  // The chain that answered is cached briefly; the one that did not is asked again.
  expect(asked.mock.calls.map(([chainId]) => chainId)).toEqual([
    TEST_CHAIN_ID,
    TEST_CHAIN_ID + 1,
    TEST_CHAIN_ID + 1,
  ]);
});

test("a chain that hangs does not delay the list of wallets", async () => {
  const { wallets, actor } = await setUp(() => new Promise(() => undefined));
  const { data } = await wallets.page(actor.projectId, { limit: 10 });
  expect(data[0]?.chains.map(({ deployed }) => deployed)).toEqual([null, null]);
});

test("a wallet is found by id and by address in any case, in its own project only", async () => {
  const { wallets, actor, treasury, actorOf, signIn } = await setUp(() =>
    Promise.resolve(new Map()),
  );
  const eve = await actorOf(await signIn());
  const lower = treasury.address.toLowerCase();
  expect(await wallets.find(actor.projectId, lower)).toEqual(treasury);
  expect(await wallets.findById(actor.projectId, treasury.id)).toEqual(treasury);
  expect(await wallets.find(eve.projectId, treasury.address)).toBeNull();
  expect(await wallets.findById(eve.projectId, treasury.id)).toBeNull();
  for (const text of ["", "0x", "treasury", `${lower}00`])
    expect(await wallets.find(actor.projectId, text)).toBeNull();
});

test("a project has one treasury, however many concurrent requests ask for it", async () => {
  const { wallets, projects, signIn } = createAuthServices({ database });
  const { userId: ownerId } = await signIn();
  const { projectId } = await database.transaction((tx) =>
    projects.create(tx, { name: "Second", ownerId }),
  );
  const made = await Promise.all(
    Array.from({ length: 20 }, () => wallets.createTreasury(projectId)),
  );
  expect(new Set(made.map(({ id }) => id)).size).toBe(1);
  expect(await wallets.list(projectId)).toHaveLength(1);
  expect(
    await database.prisma.auditEvent.count({ where: { projectId, action: "wallet.created" } }),
  ).toBe(1);
});
