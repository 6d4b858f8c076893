import { createTokenFreezes } from "@/lib/chain/token-freezes";
import { privateKeyToAddress } from "viem/accounts";
import { createRpcBundler } from "@/lib/adapters/erc4337-rpc/rpc-bundler";
import { createExecutorBundler } from "@/lib/adapters/executor/executor-bundler";
import { createBundlerRouter } from "@/lib/adapters/executor/router";
import { createLocalSigner } from "@/lib/adapters/local-signer/signer";
import { createSafeAccounts } from "@/lib/adapters/safe-account/safe-accounts";
import { createMarkerCheck } from "@/lib/chain/erc4337/marked-paymaster";
import { createEnvelopes } from "@/lib/platform/encryption/service";
import { createChainTransactionsService } from "@/lib/chain/transactions/service";
import { createManagedKeyRepository } from "@/lib/trust/wallets/repository";
import { createSenderQueue } from "@/lib/chain/smart-accounts/repository";
import { createWalletsService } from "@/lib/trust/wallets/service";
import type { EvmAddress } from "@/lib/core/evm";
import { observedBundler } from "@/lib/composition/metrics/metrics";
import { measuredSigner } from "@/lib/composition/metrics/call-metrics";
import type { Platform } from "./platform";
import { gatedBundler, gatedSigner, gatedTransactions } from "./signing";

/** `executor`, then `executor-2`, `executor-3` and so on. */
const executorKeyId = (index: number): string =>
  index === 0 ? "executor" : `executor-${String(index + 1)}`;

export const buildChainAccess = ({
  config,
  overrides,
  database,
  signing,
  registry,
  keyring,
  clock,
  log,
}: Platform) => {
  const localSigner = createLocalSigner({
    store: createManagedKeyRepository(database),
    envelopes: createEnvelopes(keyring),
    staticKeys: Object.fromEntries(
      config.executorPrivateKeys.map((key, index) => [executorKeyId(index), key]),
    ),
    clock,
  });
  const signer = gatedSigner(measuredSigner(localSigner), signing);
  const safeAccounts = createSafeAccounts({ registry, signer });
  const ownTransactions = createChainTransactionsService({
    ...{ database, registry, signer, clock, log },
    executorKeyIds: config.executorPrivateKeys.map((_, index) => executorKeyId(index)),
    mayCall: createMarkerCheck(registry),
  });
  const transactions = gatedTransactions(ownTransactions, signing);
  const executorAddress =
    config.executorPrivateKey === null ? null : privateKeyToAddress(config.executorPrivateKey);
  const marker = executorAddress === null ? null : { transactions, executorAddress };
  const queue = createSenderQueue(database);
  const rpc = createRpcBundler({ registry, urls: config.bundlerUrls, marker, queue });
  const executor =
    executorAddress === null
      ? null
      : createExecutorBundler({ registry, transactions, executorAddress });
  const rpcChainIds = new Set(config.bundlerUrls.keys());
  const bundlers =
    executor === null ? rpc : createBundlerRouter({ executor, rpc, rpcChainIds });
  const bundler = gatedBundler(observedBundler(overrides.bundler ?? bundlers, log), signing);
  const wallets = createWalletsService({
    database,
    signer,
    registry,
    clock,
    smartAccounts: deploymentsOf(safeAccounts),
  });
  return {
    safeAccounts,
    transactions,
    bundler,
    wallets,
    freezes: createTokenFreezes(registry),
  };
};

export type ChainAccess = ReturnType<typeof buildChainAccess>;

/**
 * Adapts the smart accounts to the wallets module. The accounts return a list in the order of the
 * addresses, and the wallets module looks up single addresses.
 */
const deploymentsOf = (smartAccounts: ReturnType<typeof createSafeAccounts>) => ({
  addressOf: ({ ownerAddress }: { readonly ownerAddress: EvmAddress }) =>
    smartAccounts.addressOf(ownerAddress),
  originOf: async ({ ownerAddress }: { readonly ownerAddress: EvmAddress }) => ({
    factory: (await smartAccounts.deployment(ownerAddress)).to,
    salt: smartAccounts.saltNonce.toString(),
  }),
  isDeployed: async (
    chainId: number,
    addresses: readonly EvmAddress[],
  ): Promise<ReadonlyMap<EvmAddress, boolean>> => {
    const deployed = await smartAccounts.isDeployed(chainId, addresses);
    return new Map(addresses.map((address, index) => [address, deployed[index] === true]));
  },
});
