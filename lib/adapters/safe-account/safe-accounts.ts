import { keccak256, encodePacked, parseAbi, type Hex } from "viem";
import { entryPoint07Abi } from "viem/account-abstraction";
import { LRUCache } from "lru-cache";
import { CANONICAL_SAFE, type SafeContracts } from "@/lib/chain/chain-contracts";
import { createDeployments } from "@/lib/chain/deployments";
import { distributorFault } from "@/lib/chain/distributor";
import {
  firstNonceOf,
  hashUserOperation,
  sequenceOf,
} from "@/lib/chain/erc4337/user-operation";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import { DomainError } from "@/lib/core/errors";
import type { UserOperation } from "@/lib/chain/ports/bundler";
import type { EvmAddress } from "@/lib/core/evm";
import type { Signer } from "@/lib/chain/ports/signer";
import type {
  DraftRequest,
  PreparedUserOperation,
  PrepareRequest,
  SmartAccounts,
} from "@/lib/chain/ports/smart-accounts";
import {
  addressOf,
  CANONICAL_INIT_CODE_HASH,
  deploymentOf,
  DUMMY_SIGNATURE,
  encodeCalls,
  encodePayout,
  isSignedBy,
  packSignature,
  safeOperationTypedData,
  SALT_NONCE,
} from "./encoding";

interface SafeAccountDeps {
  readonly registry: ChainRegistry;
  readonly signer: Signer;
}

const ADDRESSES_CACHED_MAX = 10_000;
const factoryAbi = parseAbi(["function proxyCreationCode() view returns (bytes)"]);

/**
 * The Safe contracts. They must be the same on all chains; otherwise an account would have a
 * different address on each.
 */
const commonContracts = (registry: ChainRegistry): SafeContracts => {
  const sets = registry
    .list()
    .map((chain) => ({ ...CANONICAL_SAFE, ...withoutUndefined(chain.contracts.safe) }));
  const [first = CANONICAL_SAFE, ...others] = sets;
  if (others.some((other) => JSON.stringify(other) !== JSON.stringify(first))) {
    throw new Error(
      "The Safe contracts must have the same addresses on every chain of the configuration.",
    );
  }
  return first;
};

const withoutUndefined = <T extends object>(value: T): Required<T> =>
  Object.fromEntries(
    Object.entries(value).filter(([, field]) => field !== undefined),
  ) as Required<T>;

/**
 * Returns a reader of the proxies' init code hash: a constant for the canonical contracts,
 * otherwise computed once from the factory.
 */
const initCodeHashReader = (
  registry: ChainRegistry,
  contracts: SafeContracts,
): (() => Promise<Hex>) => {
  const isCanonical =
    contracts.singleton === CANONICAL_SAFE.singleton &&
    contracts.proxyFactory === CANONICAL_SAFE.proxyFactory;
  let hash: Hex | null = isCanonical ? CANONICAL_INIT_CODE_HASH : null;
  return async () => {
    if (hash !== null) return hash;
    const [chain] = registry.list();
    if (chain === undefined) throw new Error("The configuration names no chain.");
    const code = await chainCall(chain.id, () =>
      registry.client(chain.id).readContract({
        address: contracts.proxyFactory,
        abi: factoryAbi,
        functionName: "proxyCreationCode",
      }),
    );
    hash = keccak256(encodePacked(["bytes", "uint256"], [code, BigInt(contracts.singleton)]));
    return hash;
  };
};

/**
 * Returns a reader of a chain's distributor contract, which verifies the contract's code once.
 * @throws DomainError `provider_error` when the code differs
 */
const distributorReader = (
  registry: ChainRegistry,
): ((chainId: number) => Promise<EvmAddress | undefined>) => {
  const verified = new Set<number>();
  return async (chainId) => {
    const chain = registry.get(chainId);
    const { distributor } = chain.contracts;
    // Verified code is not read again, because it cannot be destroyed.
    if (distributor === undefined || verified.has(chainId)) return distributor;
    const fault = await chainCall(chainId, () =>
      distributorFault(registry.client(chainId), distributor),
    );
    if (fault !== null) throw new DomainError("provider_error", `${chain.name}: ${fault}`);
    verified.add(chainId);
    return distributor;
  };
};

const withGas = (draft: UserOperation, gas: PrepareRequest["gas"]): UserOperation => ({
  ...draft,
  callGasLimit: gas.callGasLimit,
  verificationGasLimit: gas.verificationGasLimit,
  preVerificationGas: gas.preVerificationGas,
  ...(draft.paymaster === undefined
    ? {}
    : {
        paymasterVerificationGasLimit: gas.paymasterVerificationGasLimit,
        paymasterPostOpGasLimit: gas.paymasterPostOpGasLimit,
      }),
});

const prepare = (
  {
    registry,
    contracts,
  }: { readonly registry: ChainRegistry; readonly contracts: SafeContracts },
  { chainId, draft, gas, validUntil }: PrepareRequest,
): PreparedUserOperation => {
  const { entryPoint } = registry.get(chainId).contracts;
  const operation = withGas(draft, gas);
  return {
    chainId,
    operation,
    validUntil,
    typedData: safeOperationTypedData({
      chainId,
      entryPoint,
      module4337: contracts.module4337,
      operation,
      validUntil,
    }),
    userOpHash: hashUserOperation(operation, chainId, entryPoint),
  };
};

const isSignedFor =
  (registry: ChainRegistry, module4337: EvmAddress): SmartAccounts["isSigned"] =>
  (owner, { chainId, ...signed }) => {
    const { entryPoint } = registry.get(chainId).contracts;
    return isSignedBy(owner, { chainId, entryPoint, module4337, ...signed });
  };

const noPaymaster = (): DomainError =>
  new DomainError(
    "invalid_state",
    "The chain has no paymaster that could bear the fees. Nothing was sent; fund the wallet with the coin of the chain.",
  );

/** Treasury accounts: Safe 1.4.1 with its 4337 module, one owner, threshold 1, salt nonce 0. */
export const createSafeAccounts = ({ registry, signer }: SafeAccountDeps): SmartAccounts => {
  const contracts = commonContracts(registry);
  const distributorOf = distributorReader(registry);
  const initCodeHash = initCodeHashReader(registry, contracts);
  const addresses = new LRUCache<EvmAddress, EvmAddress>({ max: ADDRESSES_CACHED_MAX });

  const accountAddress = async (owner: EvmAddress): Promise<EvmAddress> => {
    const known = addresses.get(owner);
    if (known !== undefined) return known;
    const address = addressOf(owner, contracts, await initCodeHash());
    addresses.set(owner, address);
    return address;
  };

  const deployments = createDeployments(registry);

  const isDeployed = (chainId: number, asked: readonly EvmAddress[]): Promise<boolean[]> =>
    Promise.all(asked.map((address) => deployments.isDeployed(chainId, address)));

  const callDataOf = async (request: DraftRequest): Promise<Hex> =>
    "payout" in request
      ? encodePayout(request.payout, contracts, await distributorOf(request.chainId))
      : encodeCalls(request.calls, contracts);

  const draft = async (request: DraftRequest): Promise<UserOperation> => {
    const sender = await accountAddress(request.ownerAddress);
    const [[deployed = false], callData] = await Promise.all([
      isDeployed(request.chainId, [sender]),
      callDataOf(request),
    ]);
    const deployment = deployed ? null : deploymentOf(request.ownerAddress, contracts);
    const paymaster = registry.get(request.chainId).contracts.paymaster;
    const isSponsored = request.sponsored ?? paymaster !== undefined;
    if (isSponsored && paymaster === undefined) throw noPaymaster();
    return {
      sender,
      nonce: firstNonceOf(request.nonceKey),
      ...(deployment === null ? {} : { factory: deployment.to, factoryData: deployment.data }),
      callData,
      callGasLimit: 0n,
      verificationGasLimit: 0n,
      preVerificationGas: 0n,
      maxFeePerGas: request.fees.maxFeePerGas,
      maxPriorityFeePerGas: request.fees.maxPriorityFeePerGas,
      // The fields name the payer, but do not prove its consent: the paymaster pays only for
      // operations that the executor marks at submission.
      ...(isSponsored && paymaster !== undefined
        ? { paymaster, paymasterVerificationGasLimit: 0n, paymasterPostOpGasLimit: 0n }
        : {}),
      signature: DUMMY_SIGNATURE,
    };
  };

  const withSignature: SmartAccounts["withSignature"] = (prepared, signature) => ({
    ...prepared.operation,
    signature: packSignature(prepared.validUntil, signature),
  });

  return {
    saltNonce: SALT_NONCE,
    addressOf: accountAddress,
    isDeployed,
    deployment: (owner) => Promise.resolve(deploymentOf(owner, contracts)),
    draft,
    prepare: (request) => prepare({ registry, contracts }, request),
    withSignature,
    sign: async (scope, prepared) =>
      withSignature(prepared, await signer.signTypedData(scope, prepared.typedData)),
    isSigned: isSignedFor(registry, contracts.module4337),
    nonceUsed: async (chainId, sender, nonceKey, at) => {
      const nonce = await chainCall(chainId, () =>
        registry.client(chainId).readContract({
          address: registry.get(chainId).contracts.entryPoint,
          abi: entryPoint07Abi,
          functionName: "getNonce",
          args: [sender, nonceKey],
          ...at,
        }),
      );
      return sequenceOf(nonce) > 0n;
    },
  };
};
