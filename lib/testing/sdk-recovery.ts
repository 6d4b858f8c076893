import { AccountService, DataService, type Hash } from "@0xbow/privacy-pools-core-sdk";
import { createPublicClient, http, type Address } from "viem";
import { privacyPoolAbi } from "@/lib/chains/privacy-pools";

export interface RecoveredNote {
  /** The commitment, a decimal string. */
  readonly id: string;
  readonly valueBase: bigint;
}

/** The unspent notes of a pool that the protocol's own SDK finds by mnemonic and chain alone. */
export const recoverWithSdk = async (own: {
  readonly mnemonic: string;
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly pool: Address;
}): Promise<RecoveredNote[]> => {
  const { mnemonic, chainId, rpcUrl, pool } = own;
  const client = createPublicClient({ transport: http(rpcUrl) });
  const scope = await client.readContract({ address: pool, abi: privacyPoolAbi, functionName: "SCOPE" });
  const data = new DataService([{ chainId, privacyPoolAddress: pool, startBlock: 0n, rpcUrl }]);
  const pools = [{ chainId, address: pool, scope: scope as Hash, deploymentBlock: 0n }];
  const options = { includeEmptyNodes: false };
  // With the mnemonic alone the SDK also derives keys as its versions before 1.2.0 did, which the installed viem refuses.
  const service = new AccountService(data, { mnemonic, ...options });
  const { account, errors } = await AccountService.initializeWithEvents(data, { service }, pools, options);
  if (errors.length > 0) throw new Error("The SDK could not read the pool's events.");
  const found = account.getSpendableCommitments().get(scope) ?? [];
  return found.map(({ hash, value }) => ({ id: hash.toString(), valueBase: value }));
};
