import { randomBytes } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { describe, expect, test } from "vitest";
import type { Clock } from "@/lib/core/clock";
import { createEnvelopes, createKeyring } from "@/lib/platform/encryption/service";
import type { Envelopes } from "@/lib/platform/ports/encryption";
import { signerContract } from "@/lib/chain/ports/signer.contract";
import { createLocalSigner, type ManagedKeyStore, type StoredKey } from "./signer";

const memoryStore = (): ManagedKeyStore & {
  keys: Map<string, StoredKey>;
  finds: () => number;
} => {
  const keys = new Map<string, StoredKey>();
  let finds = 0;
  return {
    keys,
    finds: () => finds,
    insert: (key) => {
      const stored = keys.get(key.id) ?? key;
      keys.set(key.id, stored);
      return Promise.resolve(stored);
    },
    find: (id) => {
      finds++;
      return Promise.resolve(keys.get(id) ?? null);
    },
  };
};

const newEnvelopes = (): Envelopes => createEnvelopes(createKeyring([randomBytes(32)]));
const envelopes = newEnvelopes();
const scope = { keyId: "key-1", projectId: "prj_a" };

signerContract("local signer", () =>
  Promise.resolve(createLocalSigner({ store: memoryStore(), envelopes })),
);

const made = async () => {
  const store = memoryStore();
  await createLocalSigner({ store, envelopes }).create(scope);
  const key = store.keys.get(scope.keyId);
  if (!key) throw new Error("no key was stored");
  return { store, key };
};

const failure = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "no error",
    (error: unknown) =>
      error instanceof Error ? `${error.message} ${String(error.cause)}` : "not an error",
  );

describe("local signer", () => {
  test("another process with the same key-encryption key signs with the stored key", async () => {
    const { store, key } = await made();
    expect(await createLocalSigner({ store, envelopes }).address(scope)).toBe(key.address);
  });

  test("a key moved to another project or another id in the database does not open", async () => {
    const { store, key } = await made();
    store.keys.set("key-1", { ...key, projectId: "prj_b" });
    const signer = createLocalSigner({ store, envelopes });
    expect(await failure(signer.signMessage({ ...scope, projectId: "prj_b" }, "0x00"))).toMatch(
      /cannot be decrypted/,
    );
    store.keys.set("key-2", { ...key, id: "key-2" });
    expect(await failure(signer.signMessage({ ...scope, keyId: "key-2" }, "0x00"))).toMatch(
      /cannot be decrypted/,
    );
  });

  test("another key-encryption key or a changed bit opens nothing and says nothing of the key", async () => {
    const { store, key } = await made();
    const other = createLocalSigner({ store, envelopes: newEnvelopes() });
    expect(await failure(other.address(scope))).toBe(
      `Managed key key-1 cannot be decrypted; it is stored under the key-encryption key ${key.kekId}. undefined`,
    );
    for (const field of ["ciphertext", "wrappedDataKey"] as const) {
      const bytes = Uint8Array.from(key[field]);
      bytes[20] = (bytes[20] ?? 0) ^ 1;
      store.keys.set("key-1", { ...key, [field]: bytes });
      expect(await failure(createLocalSigner({ store, envelopes }).address(scope))).toMatch(
        /cannot be decrypted/,
      );
    }
  });

  test("a key stored under another address is refused", async () => {
    const { store, key } = await made();
    store.keys.set("key-1", {
      ...key,
      address: privateKeyToAccount(generatePrivateKey()).address,
    });
    expect(await failure(createLocalSigner({ store, envelopes }).address(scope))).toMatch(
      /does not belong/,
    );
  });

  test("an opened key is read again after a minute, not before", async () => {
    let nowMs = 0;
    const clock: Clock = { now: () => new Date(nowMs) };
    const { store } = await made();
    const signer = createLocalSigner({ store, envelopes, clock });
    const before = store.finds();
    await signer.address(scope);
    await signer.signMessage(scope, "0x00");
    expect(store.finds() - before).toBe(1);
    nowMs = 60_000;
    await signer.address(scope);
    expect(store.finds() - before).toBe(2);
  });

  test("the service's own keys answer to no project alone", async () => {
    const executor = generatePrivateKey();
    const store = memoryStore();
    const signer = createLocalSigner({
      store,
      envelopes,
      staticKeys: { executor, other: null },
    });
    const { address } = privateKeyToAccount(executor);
    expect(await signer.address({ keyId: "executor", projectId: null })).toBe(address);
    expect(await signer.create({ keyId: "executor", projectId: null })).toEqual({ address });
    expect(await signer.address({ keyId: "executor", projectId: "prj_a" })).toBeNull();
    expect(await signer.address({ keyId: "other", projectId: null })).toBeNull();
    expect(store.keys.size).toBe(0);
  });
});
