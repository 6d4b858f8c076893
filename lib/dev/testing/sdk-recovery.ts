import { AccountService, DataService, type Hash } from "@0xbow/privacy-pools-core-sdk";
import type { Address } from "viem";

export interface RecoveredNote {
  /** The commitment, a decimal string. */
  readonly id: string;
  readonly valueBase: bigint;
}

/**
 * The unspent notes of a pool that the protocol's own SDK finds with the mnemonic, the chain, and
 * the pool's data from `GET /chains`.
 */
export const recoverWithSdk = async (own: {
  readonly mnemonic: string;
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly pool: {
    readonly address: Address;
    readonly scope: string;
    readonly startBlock: number;
  };
}): Promise<RecoveredNote[]> => {
  const { mnemonic, chainId, rpcUrl, pool } = own;
  const [scope, startBlock] = [BigInt(pool.scope), BigInt(pool.startBlock)];
  const data = new DataService([
    { chainId, privacyPoolAddress: pool.address, startBlock, rpcUrl },
  ]);
  const pools = [
    { chainId, address: pool.address, scope: scope as Hash, deploymentBlock: startBlock },
  ];
  const options = { includeEmptyNodes: false };
  // With only the mnemonic the SDK also derives keys in the way of its versions before 1.2.0, which
  // the installed viem refuses.
  const service = new AccountService(data, { mnemonic, ...options });
  const { account, errors } = await AccountService.initializeWithEvents(
    data,
    { service },
    pools,
    options,
  );
  if (errors.length > 0) throw new Error("The SDK could not read the pool's events.");
  const found = account.getSpendableCommitments().get(scope) ?? [];
  return found.map(({ hash, value }) => ({ id: hash.toString(), valueBase: value }));
};
