import { bytesToHex, hexToBytes, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { LRUCache } from "lru-cache";
import { systemClock, type Clock } from "@/lib/core/clock";
import { notFound } from "@/lib/core/errors";
import {
  managedKeyContext,
  type Envelope,
  type Envelopes,
} from "@/lib/platform/ports/encryption";
import type { EvmAddress } from "@/lib/core/evm";
import type { Signer, SignerScope } from "@/lib/chain/ports/signer";

export interface StoredKey extends Envelope {
  readonly id: string;
  readonly projectId: string | null;
  /** Checksummed address of the key (EIP-55). */
  readonly address: string;
}

export interface ManagedKeyStore {
  /** Inserts the key unless its id exists. Returns the stored key with that id. */
  insert(key: StoredKey, createdAt: Date): Promise<StoredKey>;
  find(id: string): Promise<StoredKey | null>;
}

export interface LocalSignerOptions {
  readonly store: ManagedKeyStore;
  readonly envelopes: Envelopes;
  /**
   * The service's own keys from the configuration. Their scope is their `keyId` with `projectId:
   * null`.
   */
  readonly staticKeys?: Readonly<Record<string, Hex | null>>;
  readonly clock?: Clock;
}

interface CachedAccount {
  readonly account: PrivateKeyAccount;
  readonly untilMs: number;
}

const CACHE_MAX = 500;
const CACHE_MS = 60_000;

/**
 * Signs with secp256k1 keys that are stored encrypted in the database. Each key is encrypted with
 * AES-256-GCM under a separate data key, which the key-encryption key wraps. The ciphertext is
 * bound to project and key id. Decrypted keys stay in memory for at most a minute. No error
 * contains key material.
 */
export const createLocalSigner = (options: LocalSignerOptions): Signer => {
  const { store, envelopes, clock = systemClock } = options;
  const cache = new LRUCache<string, CachedAccount>({ max: CACHE_MAX });
  const own = new Map(
    Object.entries(options.staticKeys ?? {}).flatMap(([keyId, key]) =>
      key === null ? [] : [[keyId, privateKeyToAccount(key)] as const],
    ),
  );

  const remember = (context: string, account: PrivateKeyAccount): void => {
    cache.set(context, { account, untilMs: clock.now().getTime() + CACHE_MS });
  };

  const decrypt = (key: StoredKey, context: string): PrivateKeyAccount => {
    const account = openStored(envelopes, key, context);
    if (account?.address === key.address) return account;
    // The cause is left out, because the error of node:crypto would not help an operator.
    throw new Error(
      account
        ? `Managed key ${key.id} does not belong to the address it is stored under.`
        : `Managed key ${key.id} cannot be decrypted; it is stored under the key-encryption key ${key.kekId}.`,
    );
  };

  const load = async (scope: SignerScope): Promise<PrivateKeyAccount | null> => {
    if (scope.projectId === null && own.has(scope.keyId)) return own.get(scope.keyId) ?? null;
    const context = managedKeyContext(scope);
    const cached = cache.get(context);
    if (cached && cached.untilMs > clock.now().getTime()) return cached.account;
    cache.delete(context);
    const key = await store.find(scope.keyId);
    if (key?.projectId !== scope.projectId) return null;
    const account = decrypt(key, context);
    remember(context, account);
    return account;
  };

  const account = async (scope: SignerScope): Promise<PrivateKeyAccount> => {
    const found = await load(scope);
    if (!found) throw notFound();
    return found;
  };

  return {
    create: async (scope) => {
      const known = await load(scope);
      if (known) return { address: known.address };
      const made = newKey(scope, envelopes);
      const stored = await store.insert(made, clock.now());
      if (stored.projectId !== scope.projectId) throw notFound();
      return { address: stored.address as EvmAddress };
    },
    address: async (scope) => (await load(scope))?.address ?? null,
    signTypedData: async (scope, data) => (await account(scope)).signTypedData(data),
    signMessage: async (scope, raw) => (await account(scope)).signMessage({ message: { raw } }),
    signTransaction: async (scope, transaction) =>
      (await account(scope)).signTransaction(transaction),
  };
};

const newKey = (scope: SignerScope, envelopes: Envelopes): StoredKey => {
  const privateKey = generatePrivateKey();
  const bytes = hexToBytes(privateKey);
  const envelope = envelopes.close(bytes, managedKeyContext(scope));
  bytes.fill(0);
  const { address } = privateKeyToAccount(privateKey);
  return { id: scope.keyId, projectId: scope.projectId, address, ...envelope };
};

const openStored = (
  envelopes: Envelopes,
  key: StoredKey,
  context: string,
): PrivateKeyAccount | null => {
  try {
    const bytes = envelopes.open(key, context);
    const account = privateKeyToAccount(bytesToHex(bytes));
    bytes.fill(0);
    return account;
  } catch {
    return null;
  }
};
