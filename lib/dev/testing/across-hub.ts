import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  encodeAbiParameters,
  encodeFunctionData,
  http,
  keccak256,
  parseAbiParameters,
  parseEventLogs,
  stringToHex,
  toHex,
  zeroHash,
  type Address,
  type Hex,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { devAddress } from "@/lib/dev/devnet/accounts";
import { spokePoolAbi } from "@/lib/dev/devnet/across/spoke-pool";
import { compileContract } from "./solidity";

const SOURCE = `
// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;
contract AcrossHub {
  event ProposeRootBundle(uint32 challengePeriodEndTimestamp, uint8 poolRebalanceLeafCount, uint256[] bundleEvaluationBlockNumbers, bytes32 indexed poolRebalanceRoot, bytes32 indexed relayerRefundRoot, bytes32 slowRelayRoot, address indexed proposer);
  event RootBundleDisputed(address indexed disputer, uint256 requestTime);
  mapping(bytes32 => string) public globalConfig;
  function setGlobalConfig(bytes32 key, string calldata value) external { globalConfig[key] = value; }
  function propose(uint256[] calldata ends, bytes32 refundRoot) external {
    emit ProposeRootBundle(uint32(block.timestamp), 1, ends, keccak256(abi.encode(ends)), refundRoot, 0, msg.sender);
  }
  function dispute() external { emit RootBundleDisputed(msg.sender, block.timestamp); }
}`;

const leafParameters = parseAbiParameters([
  "RefundLeaf leaf",
  "struct RefundLeaf { uint256 amountToReturn; uint256 chainId; uint256[] refundAmounts; uint32 leafId; address l2TokenAddress; address[] refundAddresses; }",
]);

/** A leaf of a refund root: a token, and the recipients with their amounts. */
export interface TestLeaf {
  readonly token: Address;
  readonly refunds: readonly (readonly [Address, bigint])[];
  readonly leafId?: number;
}

const leafOf = (chainId: number, { token, refunds, leafId = 0 }: TestLeaf) => ({
  amountToReturn: 0n,
  chainId: BigInt(chainId),
  refundAmounts: refunds.map(([, amount]) => amount),
  leafId,
  l2TokenAddress: token,
  refundAddresses: refunds.map(([to]) => to),
});

/** The root of a tree with only this leaf. */
export const refundRootOf = (chainId: number, leaf: TestLeaf): Hex =>
  keccak256(encodeAbiParameters(leafParameters, [leafOf(chainId, leaf)]));

/**
 * Relays a root with this one leaf to the SpokePool of a local chain and executes it, as the bridge
 * does.
 * @returns the transaction
 */
export const payLeaf = async (
  rpcUrl: string,
  spokePool: Address,
  chainId: number,
  leaf: TestLeaf,
): Promise<Hex> => {
  const [reader, wallet] = [
    createPublicClient({ transport: http(rpcUrl), pollingInterval: 50 }),
    createWalletClient({ transport: http(rpcUrl) }),
  ];
  await createTestClient({ mode: "anvil", transport: http(rpcUrl) }).impersonateAccount({
    address: devAddress("relayer"),
  });
  const send = async (data: Hex) => {
    const hash = await wallet.sendTransaction({
      account: devAddress("relayer"),
      to: spokePool,
      data,
      chain: null,
    });
    const receipt = await reader.waitForTransactionReceipt({ hash, timeout: 20_000 });
    if (receipt.status !== "success") throw new Error("The SpokePool refused the leaf.");
    return receipt;
  };
  const root = refundRootOf(chainId, leaf);
  const relayed = await send(
    encodeFunctionData({
      abi: spokePoolAbi,
      functionName: "relayRootBundle",
      args: [root, zeroHash],
    }),
  );
  const [event] = parseEventLogs({
    abi: spokePoolAbi,
    logs: relayed.logs,
    eventName: "RelayedRootBundle",
  });
  if (event === undefined) throw new Error("The root has no number.");
  const args = [event.args.rootBundleId, leafOf(chainId, leaf), []] as const;
  const executed = await send(
    encodeFunctionData({ abi: spokePoolAbi, functionName: "executeRelayerRefundLeaf", args }),
  );
  return executed.transactionHash;
};

/**
 * A contract that emits the events of Across' HubPool, and has the list of chains of its
 * AcrossConfigStore. It checks nothing.
 * @param chainIds the chains in the order of a bundle's block numbers
 */
export const deployAcrossHub = async (rpcUrl: string, chainIds: readonly number[]) => {
  const account = privateKeyToAccount(generatePrivateKey());
  const transport = http(rpcUrl);
  await createTestClient({ mode: "anvil", transport }).request({
    method: "anvil_setBalance",
    params: [account.address, toHex(10n ** 20n)],
  });
  const writer = createWalletClient({ transport, account });
  const reader = createPublicClient({ transport, pollingInterval: 50 });
  const { abi, bytecode } = compileContract("AcrossHub", SOURCE);
  const mined = async (hash: Hex) =>
    reader.waitForTransactionReceipt({ hash, timeout: 20_000 });
  const { contractAddress: address } = await mined(
    await writer.deployContract({ abi, bytecode, args: [], chain: null }),
  );
  if (!address) throw new Error("Nothing was deployed.");
  const call = async (functionName: string, args: readonly unknown[]): Promise<void> => {
    await mined(await writer.writeContract({ address, abi, functionName, args, chain: null }));
  };
  await call("setGlobalConfig", [
    stringToHex("CHAIN_ID_INDICES", { size: 32 }),
    JSON.stringify(chainIds),
  ]);
  return {
    address,
    /** Proposes a bundle. `ends` has the last block of each chain, in the order of `chainIds`. */
    propose: (ends: readonly bigint[], refundRoot: Hex) => call("propose", [ends, refundRoot]),
    /** Retracts the last proposal. */
    dispute: () => call("dispute", []),
  };
};
