import { privateKeyToAccount, generatePrivateKey, type PrivateKeyAccount } from "viem/accounts";
import type { Hex } from "viem";
import type { Signer, SignerScope } from "@/lib/chain/ports/signer";

const nameOf = (scope: SignerScope): string => `${scope.projectId ?? ""}/${scope.keyId}`;

/**
 * A signer with keys in memory. `serviceKeys` contains the private keys of the service's own
 * accounts, by key id (`executor`).
 */
export const createMemorySigner = (serviceKeys: Readonly<Record<string, Hex>>): Signer => {
  const keys = new Map<string, PrivateKeyAccount>();
  for (const [keyId, key] of Object.entries(serviceKeys)) {
    keys.set(nameOf({ keyId, projectId: null }), privateKeyToAccount(key));
  }
  const of = (scope: SignerScope): PrivateKeyAccount => {
    const account = keys.get(nameOf(scope));
    if (account === undefined) throw new Error(`There is no key ${nameOf(scope)}.`);
    return account;
  };
  return {
    create: (scope) => {
      const account = privateKeyToAccount(generatePrivateKey());
      keys.set(nameOf(scope), account);
      return Promise.resolve({ address: account.address });
    },
    address: (scope) => Promise.resolve(keys.get(nameOf(scope))?.address ?? null),
    signTypedData: (scope, data) => of(scope).signTypedData(data),
    signMessage: (scope, raw) => of(scope).signMessage({ message: { raw } }),
    signTransaction: (scope, transaction) => of(scope).signTransaction(transaction),
  };
};
